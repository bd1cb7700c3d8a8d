package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/rawjson"
)

// object is a JSON object whose values are kept as they stand.
type object map[string]json.RawMessage

// parseBody reads a request's body, which must be an object. Its values are parts
// of the body.
func parseBody(body []byte) (object, error) {
	if err := apierr.CheckJSON(body); err != nil {
		return nil, err
	}
	o, ok := objectIn(body)
	if !ok {
		return nil, apierr.Newf(apierr.BadRequest, "The body must be a JSON object, not %s.", rawjson.KindOf(body))
	}
	return o, nil
}

// append appends o to b, its keys in order and its values byte for byte.
func (o object) append(b []byte) []byte {
	b = append(b, '{')
	for i, name := range sortedKeys(o) {
		if i > 0 {
			b = append(b, ',')
		}
		b = rawjson.AppendString(b, name)
		b = append(b, ':')
		b = append(b, o[name]...)
	}
	return append(b, '}')
}

// objectIn is asObject for a value of a document that was checked.
func objectIn(v []byte) (o object, ok bool) {
	m, ok := rawjson.MembersOf(v)
	if !ok {
		return nil, false
	}
	o = object{}
	for m.Next() {
		key, _ := rawjson.String(m.Key)
		o[key] = m.Value
	}
	return o, true
}

// pick is objectIn for the members called names alone, which it puts into into.
func pick(v []byte, into []json.RawMessage, names ...string) (ok bool) {
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

// isNull reports whether a field's value is null; an absent one is not.
func isNull(v json.RawMessage) bool { return string(bytes.TrimSpace(v)) == "null" }

// asObject reads a JSON object. Its values are parts of v.
func asObject(v json.RawMessage) (o object, ok bool) {
	if !rawjson.Valid(v) {
		return nil, false
	}
	return objectIn(v)
}

// asArray reads a JSON array. Its items are parts of v.
func asArray(v json.RawMessage) (a []json.RawMessage, ok bool) {
	if !rawjson.Valid(v) {
		return nil, false
	}
	return rawjson.Items(v)
}

// quote returns s as JSON. It leaves <, > and & alone, unlike package json:
// prompts are read by models.
func quote(s string) json.RawMessage { return rawjson.AppendString(nil, s) }

// cut shortens a text of the client's to at most n bytes for a message, on a
// character boundary.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// wrongType is the error for a field of another type than wanted.
func wrongType(code apierr.Code, path, want string, got json.RawMessage) error {
	return &apierr.Error{Code: code, Param: path, Message: fmt.Sprintf("`%s` must be %s, not %s.", path, want, rawjson.KindOf(got))}
}
