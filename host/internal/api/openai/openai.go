// Package openai is OpenAI's API as clients of /chats and /v1 speak it: it reads
// their requests, and its sinks write the answers of package chat as chunks, whole
// completions and responses. It sends nothing and keeps nothing.
package openai

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/parley-search/parley/host/internal/base/rawjson"
)

// newID returns an id that no other object has.
func newID(prefix string) string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return prefix + hex.EncodeToString(b[:])
}

// newCompletionID returns the id of a chat completion.
func newCompletionID() string { return newID("chatcmpl-")[:len("chatcmpl-")+24] }

// newCallID returns the id of a tool call.
func newCallID() string { return newID("call_")[:len("call_")+24] }

// An object is a JSON object whose values are kept as they are.
type object map[string]json.RawMessage

// objectIn reads a value of a checked document as an object. Its values are
// parts of v.
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

// append appends o to b, its names in order.
func (o object) append(b []byte) []byte {
	b = append(b, '{')
	for i, name := range o.names() {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(rawjson.AppendString(b, name), ':')
		b = append(b, o[name]...)
	}
	return append(b, '}')
}

func (o object) names() []string {
	names := make([]string, 0, len(o))
	for name := range o {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// text returns the string called name, empty where there is none.
func (o object) text(name string) string {
	s, _ := rawjson.String(o[name])
	return s
}

func quote(s string) json.RawMessage { return rawjson.AppendString(nil, s) }

// encode returns v as JSON, without escaping what only HTML minds.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // only types of this package get here
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
