// Package jsonbody reads JSON bodies of clients whose members are kept byte for
// byte, and words what is wrong with one.
package jsonbody

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
)

// An Object is a JSON object whose values are kept as they stand.
type Object map[string]json.RawMessage

// Parse reads a request's body, which must be an object. Its values are parts
// of the body.
func Parse(body []byte) (Object, error) {
	if err := apierr.CheckJSON(body); err != nil {
		return nil, err
	}
	o, ok := ObjectIn(body)
	if !ok {
		return nil, apierr.Newf(apierr.BadRequest, "The body must be a JSON object, not %s.", rawjson.KindOf(body))
	}
	return o, nil
}

// Append appends o to b, its keys in order and its values byte for byte.
func (o Object) Append(b []byte) []byte {
	b = append(b, '{')
	for i, name := range SortedKeys(o) {
		if i > 0 {
			b = append(b, ',')
		}
		b = rawjson.AppendString(b, name)
		b = append(b, ':')
		b = append(b, o[name]...)
	}
	return append(b, '}')
}

// Only is o without members of other names.
func (o Object) Only(names ...string) Object {
	for name := range o {
		if !slices.Contains(names, name) {
			delete(o, name)
		}
	}
	return o
}

// Text returns the string called name, empty where there is none.
func (o Object) Text(name string) string {
	s, _ := rawjson.String(o[name])
	return s
}

// ObjectIn is [ObjectOf] for a value of a document that was checked.
func ObjectIn(v []byte) (o Object, ok bool) {
	m, ok := rawjson.MembersOf(v)
	if !ok {
		return nil, false
	}
	o = Object{}
	for m.Next() {
		key, _ := rawjson.String(m.Key)
		o[key] = m.Value
	}
	return o, true
}

// Pick is [ObjectIn] for the members called names alone, which it puts into into.
func Pick(v []byte, into []json.RawMessage, names ...string) (ok bool) {
	m, ok := rawjson.MembersOf(v)
	if !ok {
		return false
	}
	clear(into)
	for m.Next() {
		for i, name := range names {
			if m.Called(name) {
				into[i] = m.Value // of two the last one counts, as in a map
			}
		}
	}
	return true
}

// CheckNames returns [apierr.BadRequest] where v, an object of a document that was checked
// and stands at path, has one of the members called names twice, or one that differs from
// it by case alone. Some providers take that one for it, and rules looked at another.
func CheckNames(path string, v []byte, names ...string) error {
	m, _ := rawjson.MembersOf(v)
	var seen uint64
	for m.Next() {
		plain := bytes.IndexFunc(m.Key, func(r rune) bool { return r == '\\' || r > '~' }) < 0
		for i, name := range names {
			if plain && !bytes.EqualFold(m.Key[1:len(m.Key)-1], []byte(name)) || !plain && !strings.EqualFold(rawjson.Unquote(m.Key), name) {
				continue
			}
			if m.Called(name) && seen&(1<<i) == 0 {
				seen |= 1 << i
				continue
			}
			at := strings.TrimPrefix(path+"."+Cut(rawjson.Unquote(m.Key), 64), ".")
			if !m.Called(name) {
				return UnknownField(at, name)
			}
			return &apierr.Error{Code: apierr.BadRequest, Param: at, Message: fmt.Sprintf("`%s` comes twice: send it once.", at)}
		}
	}
	return nil
}

// UnknownField is the error for a field that only differs by case from a known one.
func UnknownField(at, known string) error {
	return &apierr.Error{Code: apierr.BadRequest, Param: at, Message: fmt.Sprintf("Unknown field `%s`: did you mean `%s`?", at, known)}
}

// ObjectOf reads a JSON object. Its values are parts of v.
func ObjectOf(v json.RawMessage) (o Object, ok bool) {
	if !rawjson.Valid(v) {
		return nil, false
	}
	return ObjectIn(v)
}

// ArrayOf reads a JSON array. Its items are parts of v.
func ArrayOf(v json.RawMessage) (a []json.RawMessage, ok bool) {
	if !rawjson.Valid(v) {
		return nil, false
	}
	return rawjson.Items(v)
}

// Quote returns s as JSON. It leaves <, > and & alone, unlike package json:
// prompts are read by models.
func Quote(s string) json.RawMessage { return rawjson.AppendString(nil, s) }

// Cut shortens a text of the client's to at most n bytes for a message, on a
// character boundary.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// WrongType is the error for a field of another type than wanted.
func WrongType(code apierr.Code, path, want string, got json.RawMessage) error {
	return &apierr.Error{Code: code, Param: path, Message: fmt.Sprintf("`%s` must be %s, not %s.", path, want, rawjson.KindOf(got))}
}

// SortedKeys returns the keys of o in order, so that which error comes first
// does not change from one request to the next.
func SortedKeys(o Object) []string {
	keys := make([]string, 0, len(o))
	for k := range o {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
