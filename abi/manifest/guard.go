package manifest

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parley-search/parley/abi"
)

// checkGuard returns what is wrong with the part of m that is a guard's.
func checkGuard(m *abi.Manifest) (problems []string) {
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }

	if m.Kind != abi.KindGuard {
		if m.Stages != nil || m.HoldBack != 0 || m.Triggers != nil || m.Notes != nil {
			wrong("stages, holdBack, triggers and notes belong to guards")
		}
		return problems
	}
	if m.ABI < 2 {
		wrong("a guard follows ABI 2")
	}
	if m.Source != "" || len(m.Settings) > 0 || len(m.Grants.HTTP) > 0 || len(m.Grants.Secrets) > 0 {
		wrong("source, settings and grants belong to providers: a guard reaches nothing")
	}
	for name, o := range m.Options {
		if o.Secret {
			wrong("options.%s is secret, and a guard gets no secrets", name)
		}
	}
	if len(m.Stages) == 0 {
		wrong("stages is empty: name where the guard may stand: %s", strings.Join(abi.Stages, ", "))
	}
	for i, stage := range m.Stages {
		switch {
		case !slices.Contains(abi.Stages, stage):
			wrong("stages has %s, and may have: %s", quoteName(stage), strings.Join(abi.Stages, ", "))
		case slices.Contains(m.Stages[:i], stage):
			wrong("stages has %s twice", quoteName(stage))
		}
	}
	if m.HoldBack < 0 || m.HoldBack > abi.MaxHoldBack {
		wrong("holdBack is %d and must be 0 to %d", m.HoldBack, abi.MaxHoldBack)
	}
	if (m.HoldBack > 0 || m.Triggers != nil) && !slices.Contains(m.Stages, abi.StageAnswer) && !slices.Contains(m.Stages, abi.StageReasoning) {
		wrong("holdBack and triggers are for the stages answer and reasoning")
	}
	if n := len(m.Triggers); n > abi.MaxTriggers {
		wrong("triggers has %d entries and may have %d", n, abi.MaxTriggers)
	}
	for i, t := range m.Triggers {
		if err := checkTrigger(m, &t); err != nil {
			wrong("triggers[%d] %v", i, err)
		}
	}
	if n := len(m.Notes); n > abi.MaxNotes {
		wrong("notes has %d labels and may have %d", n, abi.MaxNotes)
	}
	for i, note := range m.Notes {
		switch {
		case !labelForm.MatchString(note):
			wrong("notes has %s, which is not a label: 1 to 64 letters, digits, spaces and ._/+-", quoteName(note))
		case slices.Contains(m.Notes[:i], note):
			wrong("notes has %s twice", quoteName(note))
		}
	}
	slices.Sort(problems)
	return problems
}

func checkTrigger(m *abi.Manifest, t *abi.Trigger) error {
	set := 0
	for _, s := range []string{t.Bytes, t.Text, t.Option} {
		if s != "" {
			set++
		}
	}
	_, known := m.Options[t.Option]
	switch {
	case set != 1:
		return fmt.Errorf("must have one of bytes, text and option")
	case t.Option != "" && !known:
		return fmt.Errorf("names the option %s, which the manifest does not have", quoteName(t.Option))
	case len(t.Text) > abi.MaxTrigger || !utf8.ValidString(t.Text):
		return fmt.Errorf("has a text that is not 1 to %d bytes of UTF-8", abi.MaxTrigger)
	}
	_, err := ByteClass(t.Bytes)
	return err
}

// ByteClass returns the ASCII characters that s names: single ones, and ranges such
// as 0-9. A - at the beginning or the end is itself.
func ByteClass(s string) (class [256]bool, err error) {
	for i := 0; i < len(s); i++ {
		from, to := s[i], s[i]
		if i+2 < len(s) && s[i+1] == '-' {
			to = s[i+2]
			i += 2
		}
		if from >= utf8.RuneSelf || to >= utf8.RuneSelf {
			return class, fmt.Errorf("has bytes that are not ASCII: name such a text by text")
		}
		if from > to {
			return class, fmt.Errorf("has the range %q, which ends before it begins", s[i-2:i+1])
		}
		for b := int(from); b <= int(to); b++ {
			class[b] = true
		}
	}
	return class, nil
}
