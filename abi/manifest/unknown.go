package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/parley-search/parley/abi"
)

// An Unknown is a member of a manifest that this version of the contract does
// not have. Hosts skip it, since a later version may; most often it is a known
// one misspelled.
type Unknown struct {
	Member string `json:"member"`
	In     string `json:"in,omitempty"` // the object that has it, such as metrics[3]; empty: the manifest
	Line   int    `json:"line"`         // of the member's name, from 1
	Column int    `json:"column"`       // in characters, from 1
	// Known are the members that the object may have.
	Known []string `json:"-"`
}

// Path is the member with the object that has it, such as metrics[3].lables.
func (u Unknown) Path() string {
	if u.In == "" {
		return u.Member
	}
	return u.In + "." + u.Member
}

// FindUnknown returns the unknown members of b in their order. Names are
// compared letter by letter, as the contract writes them. It stops where b is
// not JSON; [Parse] says so.
func FindUnknown(b []byte) []Unknown { return scanMembers(b).found }

// scanMembers goes through b as far as it is JSON.
func scanMembers(b []byte) *scan {
	s := &scan{text: b, d: json.NewDecoder(bytes.NewReader(b))}
	var said struct{ ABI int }
	s.first = json.Unmarshal(b, &said) == nil && said.ABI == 1
	s.value("", reflect.TypeFor[abi.Manifest]())
	return s
}

// A scan goes through a document beside the type that it is read into.
type scan struct {
	text  []byte
	d     *json.Decoder
	found []Unknown
	first bool // the manifest is of ABI 1
	// wrong says which members package json would take for another one, or of two
	// the last one, where a reader takes the first.
	wrong []string
}

// laterMembers are those of the manifest that came with ABI 2.
var laterMembers = []string{"auth", "does", "embed", "options", "timeouts"}

// value reads one value, which t takes; nil takes any. It returns false at an
// error, which ends the scan.
func (s *scan) value(at string, t reflect.Type) bool {
	token, err := s.d.Token()
	if err != nil {
		return false
	}
	switch token {
	case json.Delim('{'):
		seen := map[string]bool{}
		for s.d.More() {
			if !s.member(at, t, seen) {
				return false
			}
		}
	case json.Delim('['):
		if t != nil && (t.Kind() != reflect.Slice || t == reflect.TypeFor[abi.RawJSON]()) {
			t = nil // not what the contract wants: nothing is known of what is in it
		}
		for i := 0; s.d.More(); i++ {
			element := t
			if t != nil {
				element = t.Elem()
			}
			if !s.value(fmt.Sprintf("%s[%d]", at, i), element) {
				return false
			}
		}
	default:
		return true
	}
	_, err = s.d.Token() // the end of it
	return err == nil
}

// member reads a member of an object that t takes, after those seen.
func (s *scan) member(at string, t reflect.Type, seen map[string]bool) bool {
	token, err := s.d.Token()
	if err != nil {
		return false
	}
	name, _ := token.(string)
	path := strings.TrimPrefix(at+"."+name, ".")
	if t != nil && seen[name] {
		line, column := s.position()
		s.wrong = append(s.wrong, fmt.Sprintf("%s comes twice, at %d:%d", quoteName(path), line, column))
	}
	seen[name] = true
	switch {
	case t == nil:
	case t.Kind() == reflect.Map:
		return s.value(path, t.Elem())
	case t.Kind() == reflect.Struct:
		known, types := memberTypes(t)
		later := s.first && at == "" && slices.Contains(laterMembers, name)
		if i := slices.Index(known, name); i >= 0 && !later {
			return s.value(path, types[i])
		}
		line, column := s.position()
		if later {
			known = slices.DeleteFunc(known, func(k string) bool { return slices.Contains(laterMembers, k) })
		}
		for i, k := range known {
			if k != name && strings.EqualFold(k, name) {
				s.wrong = append(s.wrong, fmt.Sprintf("%s at %d:%d must be written %s", quoteName(path), line, column, known[i]))
			}
		}
		s.found = append(s.found, Unknown{name, at, line, column, known})
	}
	return s.value(path, nil)
}

// position is where the name that was read last begins.
func (s *scan) position() (line, column int) {
	before := s.text[:s.d.InputOffset()]
	// The name ends with a quotation mark; those within are escaped.
	begin := len(before) - 2
	for begin > 0 && (before[begin] != '"' || endsEscaped(before[:begin])) {
		begin--
	}
	last := bytes.LastIndexByte(before[:begin], '\n')
	return 1 + bytes.Count(before[:begin], []byte("\n")), 1 + len([]rune(string(before[last+1:begin])))
}

// endsEscaped reports whether what follows b is: an odd number of backslashes ends it.
func endsEscaped(b []byte) bool { return (len(b)-len(bytes.TrimRight(b, `\`)))%2 == 1 }

// memberTypes returns the names that a struct has in JSON, and the types of their values.
func memberTypes(t reflect.Type) (names []string, types []reflect.Type) {
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names, types = append(names, name), append(types, t.Field(i).Type)
	}
	return names, types
}
