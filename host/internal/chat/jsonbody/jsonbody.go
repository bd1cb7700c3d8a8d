// Package jsonbody reads JSON bodies of clients whose members are kept byte for
// byte, and words what is wrong with one.
package jsonbody

import (
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/rawjson"
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
