package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/search/text"
)

// A value is what a client sent for a setting, or a part of it. Its readers'
// errors are whole sentences that say where, what was found and what is
// allowed.
type value struct {
	path string
	raw  []byte // JSON that [json.Valid] accepted
	// kept: it comes out of our own record or task, not from a client.
	kept bool
}

func (v value) null() bool { return v.raw[0] == 'n' }

// maxShown bounds the bytes of a client's value that an error repeats.
const maxShown = 100

// wrong is the error for a value that is not what it must be.
func (v value) wrong(must string) error {
	found := rawjson.KindOf(v.raw)
	if c := v.raw[0]; c != '{' && c != '[' {
		found = text.Clip(string(v.raw), maxShown)
		if len(found) < len(v.raw) {
			found += "…"
		}
	}
	return fmt.Errorf("`%s` must be %s, but is %s", v.path, must, found)
}

func (v value) boolean(dst *bool) error {
	if c := v.raw[0]; c != 't' && c != 'f' {
		return v.wrong("true or false")
	}
	*dst = v.raw[0] == 't'
	return nil
}

// integer reads a whole number. One that is written with a fraction or an
// exponent is none.
func (v value) integer(dst *int, low, high int) error {
	var n int
	if err := json.Unmarshal(v.raw, &n); err != nil || v.null() || n < low || n > high {
		return v.wrong(fmt.Sprintf("a whole number from %d to %d", low, high))
	}
	*dst = n
	return nil
}

func (v value) number(dst *float64, low, high float64) error {
	f, ok := rawjson.Number(v.raw)
	if !ok || f < low || f > high {
		return v.wrong(fmt.Sprintf("a number from %v to %v", low, high))
	}
	*dst = f
	return nil
}

// text reads a string of at most limit bytes.
func (v value) text(dst *string, limit int) error {
	if v.raw[0] != '"' {
		return v.wrong("a string")
	}
	s := rawjson.Unquote(v.raw)
	if len(s) > limit {
		return fmt.Errorf("`%s` has %d bytes: it may have at most %d", v.path, len(s), limit)
	}
	*dst = s
	return nil
}

// name reads a string that is not empty, at most MaxName bytes long.
func (v value) name(dst *string, what string) error {
	if v.raw[0] != '"' || len(v.raw) == len(`""`) {
		return v.wrong(what)
	}
	return v.text(dst, MaxName)
}

// MaxName bounds the bytes of an attribute, a word, a token.
const MaxName = 1000

// choice reads one of a few words.
func choice[T ~string](v value, dst *T, allowed ...T) error {
	if v.raw[0] == '"' {
		if s := T(rawjson.Unquote(v.raw)); slices.Contains(allowed, s) {
			*dst = s
			return nil
		}
	}
	quoted := make([]string, len(allowed))
	for i, a := range allowed {
		quoted[i] = fmt.Sprintf("%q", a)
	}
	return v.wrong(strings.Join(quoted, " or "))
}

// each calls f for each element of an array of what.
func (v value) each(what string, f func(value) error) error {
	if v.raw[0] != '[' {
		return v.wrong("an array of " + what)
	}
	var err error
	i := 0
	rawjson.EachElement(v.raw, func(e []byte) bool {
		err = f(value{fmt.Sprintf("%s[%d]", v.path, i), e, v.kept})
		i++
		return err == nil
	})
	return err
}

// members calls f for each member of an object. One that comes twice is an
// error.
func (v value) members(f func(key string, v value) error) error {
	if v.raw[0] != '{' {
		return v.wrong("an object")
	}
	var err error
	seen := map[string]bool{}
	rawjson.EachMember(v.raw, func(rawKey, m []byte) bool {
		key := rawjson.Unquote(rawKey)
		at := value{v.path + "." + text.Clip(key, maxShown), m, v.kept}
		if v.path == "" {
			at.path = at.path[1:]
		}
		if seen[key] {
			err = fmt.Errorf("`%s` comes twice: send it once", at.path)
		} else {
			err = f(key, at)
		}
		seen[key] = true
		return err == nil
	})
	return err
}

// A fieldReader reads a field of an object, of which null resets.
type fieldReader struct {
	read  func(value) error
	reset func()
}

// fields reads an object of known fields; what is absent stays.
func (v value) fields(known map[string]fieldReader) error {
	return v.members(func(key string, m value) error {
		f, ok := known[key]
		switch {
		case !ok:
			return unknownField(m.path, key, slices.Sorted(maps.Keys(known)))
		case m.null():
			f.reset()
			return nil
		}
		return f.read(m)
	})
}

func unknownField(path, name string, known []string) error {
	return errors.New(strings.TrimRight(apierr.Unknown("field", path, name, known).Message, "."))
}

// orDefault is the reader of a field that null sets to reset.
func orDefault[T any](dst *T, reset T, read func(v value, dst *T) error) fieldReader {
	return fieldReader{func(v value) error { return read(v, dst) }, func() { *dst = reset }}
}

// names reads an array of names, each kept once, in their order. check may be
// nil.
func (v value) names(dst *[]string, what string, check func(v value, name string) error) error {
	list, seen := []string{}, map[string]bool{}
	err := v.each(what, func(e value) error {
		var s string
		if err := e.name(&s, "a string that is not empty"); err != nil {
			return err
		}
		if check != nil {
			if err := check(e, s); err != nil {
				return err
			}
		}
		if !seen[s] {
			seen[s] = true
			list = append(list, s)
		}
		return nil
	})
	if err == nil {
		*dst = list
	}
	return err
}

// set reads names of which the order does not count.
func (v value) set(dst *[]string, what string) error {
	err := v.names(dst, what, nil)
	slices.Sort(*dst)
	return err
}
