package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parley-search/parley/abi"
)

var optionForm = regexp.MustCompile(`^[a-z][A-Za-z0-9]{0,63}$`)

// maxExact is the largest integer up to which all are numbers of JSON readers.
const maxExact = 1 << 53

// checkOptions finds what is wrong with m's options.
func checkOptions(m *abi.Manifest) (problems []string) {
	if n := len(m.Options); n > abi.MaxOptions {
		return []string{fmt.Sprintf("options has %d entries and may have %d", n, abi.MaxOptions)}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Options)) {
		o := m.Options[name]
		if !optionForm.MatchString(name) {
			problems = append(problems, fmt.Sprintf("options has %s: a name has 1 to 64 of a-z, A-Z and 0-9, a small letter first", quoteName(name)))
		}
		if slices.Contains(settingNames, name) {
			problems = append(problems, fmt.Sprintf("options has %s, which is a setting of every workspace: rule it by settings", quoteName(name)))
		}
		for _, p := range checkOption(&o) {
			problems = append(problems, "options."+name+": "+p)
		}
	}
	return problems
}

func checkOption(o *abi.Option) (problems []string) {
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	text := o.Type == abi.OptionString
	number := o.Type == abi.OptionInteger || o.Type == abi.OptionNumber
	switch {
	case !text && !number && o.Type != abi.OptionBoolean:
		wrong("type is %s and must be string, integer, number or boolean", quoteName(o.Type))
		return problems
	case !text && (o.Enum != nil || o.MinLength != nil || o.MaxLength != nil || o.Pattern != "" || o.Secret):
		wrong("enum, minLength, maxLength, pattern and secret are for strings")
	case !number && (o.Minimum != nil || o.Maximum != nil):
		wrong("minimum and maximum are for numbers")
	case o.Minimum != nil && o.Maximum != nil && *o.Minimum > *o.Maximum:
		wrong("minimum is over maximum")
	case o.MinLength != nil && o.MaxLength != nil && *o.MinLength > *o.MaxLength:
		wrong("minLength is over maxLength")
	case o.Secret && (o.Default != nil || o.Enum != nil):
		wrong("a secret has neither default nor enum")
	case o.Required && o.Default != nil:
		wrong("what has a default need not be required")
	}
	if o.Enum != nil && len(o.Enum) == 0 {
		wrong("enum is empty")
	}
	if _, err := regexp.Compile(o.Pattern); err != nil {
		wrong("pattern is not a regular expression of RE2: %v", err)
		return problems
	}
	if len(o.Description) > 1<<10 {
		wrong("description has %d bytes and may have 1024", len(o.Description))
	}
	if o.Default != nil && len(problems) == 0 {
		if err := CheckValue(o, o.Default); err != nil {
			wrong("default %v", err)
		}
	}
	return problems
}

// CheckValue says why value, which is JSON, is none for o; the error goes on
// from the option's name. Of a secret it never repeats anything.
func CheckValue(o *abi.Option, value []byte) error {
	value = bytes.TrimSpace(value)
	most := abi.MaxOptionValue
	if o.Secret {
		most = abi.MaxOptionSecret
	}
	switch o.Type {
	case abi.OptionBoolean:
		if s := string(value); s != "true" && s != "false" {
			return fmt.Errorf("must be true or false")
		}
		return nil
	case abi.OptionInteger, abi.OptionNumber:
		return checkNumber(o, value)
	}
	var text string
	if len(value) == 0 || value[0] != '"' || json.Unmarshal(value, &text) != nil {
		return fmt.Errorf("must be a string")
	}
	n := utf8.RuneCountInString(text)
	switch {
	case len(text) > most:
		return fmt.Errorf("is longer than %d bytes", most)
	case !o.Secret && strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return fmt.Errorf("holds a control character, such as a line end")
	case o.Enum != nil && !slices.Contains(o.Enum, text):
		return fmt.Errorf("must be one of: %s", strings.Join(o.Enum, ", "))
	case o.MinLength != nil && n < *o.MinLength:
		return fmt.Errorf("must have at least %d characters", *o.MinLength)
	case o.MaxLength != nil && n > *o.MaxLength:
		return fmt.Errorf("may have at most %d characters", *o.MaxLength)
	}
	if o.Pattern != "" {
		whole, err := regexp.Compile("^(?:" + o.Pattern + ")$")
		if err != nil || !whole.MatchString(text) {
			return fmt.Errorf("must match the pattern %s", o.Pattern)
		}
	}
	return nil
}

func checkNumber(o *abi.Option, value []byte) error {
	var n float64
	kind := "a number"
	if o.Type == abi.OptionInteger {
		kind = "an integer"
	}
	if len(value) == 0 || value[0] == 'n' || json.Unmarshal(value, &n) != nil ||
		o.Type == abi.OptionInteger && (n != math.Trunc(n) || math.Abs(n) > maxExact || bytes.ContainsAny(value, ".eE")) {
		return fmt.Errorf("must be %s", kind)
	}
	if o.Minimum != nil && n < *o.Minimum {
		return fmt.Errorf("must be at least %v", *o.Minimum)
	}
	if o.Maximum != nil && n > *o.Maximum {
		return fmt.Errorf("must be at most %v", *o.Maximum)
	}
	return nil
}

// checkTimeouts finds what is wrong with m's timeouts.
func checkTimeouts(m *abi.Manifest) (problems []string) {
	for name, n := range map[string]int{"firstByteSeconds": m.Timeouts.FirstByteSeconds, "silenceSeconds": m.Timeouts.SilenceSeconds} {
		if n < 0 || n > abi.MaxTimeoutSeconds {
			problems = append(problems, fmt.Sprintf("timeouts.%s is %d and must be 1 to %d, or left out", name, n, abi.MaxTimeoutSeconds))
		}
	}
	slices.Sort(problems)
	return problems
}
