package main

import (
	"strings"

	"github.com/parley-search/parley/sdk/openai"
	"github.com/parley-search/parley/sdk/pattern"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

const defaultBase = "https://generativelanguage.googleapis.com"

// gemini speaks the native API, and the OpenAI-compatible one where baseUrl
// says so. It holds scratch memory.
type gemini struct {
	compat struct {
		openai.Encoder
		openai.Decoder
	}
	scratch []byte // unescaped text
	memo    []byte
	found   pattern.Match
	draft   pattern.Draft
}

func (g *gemini) Encode(r *provider.Request) (provider.HTTPRequest, error) {
	base := strings.TrimRight(r.Settings.BaseURL, "/")
	if base == "" {
		base = defaultBase
	}
	if isCompat(base) {
		return g.encodeCompat(r, base), nil
	}
	if !openai.HasPath(base) {
		base += "/v1beta"
	}
	chat := rawjson.EditOf(r.Chat) // once: each look-up in the chat itself would cross all messages
	model, err := modelPath(chat.Get("model").String())
	if err != nil {
		return provider.HTTPRequest{}, err
	}
	body, err := encode(r, chat)
	if err != nil {
		return provider.HTTPRequest{}, err
	}
	h := provider.HTTPRequest{
		URL:     base + "/" + model + ":streamGenerateContent?alt=sse",
		Headers: []provider.Header{{Name: "Content-Type", Value: "application/json"}},
		Body:    body,
	}
	if r.Settings.APIKey != "" {
		h.Headers = append(h.Headers, provider.Header{Name: "x-goog-api-key", Value: r.Settings.APIKey})
	}
	return h, nil
}

// isCompat reports whether base is one of the OpenAI-compatible form, which
// has openai in its path.
func isCompat(base string) bool {
	_, rest, _ := strings.Cut(base, "://")
	_, path, _ := strings.Cut(rest, "/")
	return strings.Contains("/"+path, "/openai")
}

// modelPath returns where a model lives under the base: gemini-x and
// models/gemini-x are the same one. A name that would lead elsewhere is
// refused.
func modelPath(model string) (string, error) {
	if model == "" {
		return "", provider.Refuse("`model` is not set: name one, for instance gemini-2.5-flash")
	}
	for _, c := range []byte(model) {
		word := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !word && c != '-' && c != '_' && c != '.' && c != '/' || strings.Contains(model, "..") {
			return "", provider.Refuse("`model` is not the name of a Gemini model: use letters, digits, dots and hyphens, for instance gemini-2.5-flash")
		}
	}
	if strings.Contains(model, "/") {
		return strings.Trim(model, "/"), nil
	}
	return "models/" + model, nil
}

// generation returns the number in a model's name, gemini-2.5-flash: 2. Names
// without one, such as gemini-flash-latest, mean the newest; names that are not
// Gemini's are 0.
func generation(model string) int {
	rest, ok := strings.CutPrefix(model[strings.LastIndexByte(model, '/')+1:], "gemini-")
	switch {
	case !ok:
		return 0
	case rest != "" && rest[0] >= '0' && rest[0] <= '9':
		return int(rest[0] - '0')
	}
	return 9
}

// skipValidator is Google's word for calls whose signature is not known, such
// as those of another provider. Gemini refuses calls without one from the
// third generation on.
const skipValidator = "skip_thought_signature_validator"

// signature returns the thought signature that the client kept with a tool
// call, as Google's own OpenAI-compatible API has it.
func signature(call rawjson.Value) string {
	return call.Path("extra_content", "google", "thought_signature").String()
}

// extraContent is the member that signature reads.
func extraContent(signature rawjson.Value) rawjson.Value {
	b := append([]byte(`{"google":{"thought_signature":`), signature...)
	return append(b, "}}"...)
}
