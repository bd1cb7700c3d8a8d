// Package openai is OpenAI's API as clients of /chats and /v1 speak it: it reads
// their requests, and its sinks write the answers of package chat as chunks, whole
// completions and responses. It sends nothing and keeps nothing.
package openai

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"

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
