package gemini

import (
	"bytes"
	"strings"

	"github.com/parley-search/parley/sdk/openai"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

const defaultBase = "https://generativelanguage.googleapis.com"

// A target is where a request goes. That of the last one is kept, as most go to
// the same place.
type target struct {
	base, key string // as the settings have them
	root      string // the base with its version
	compat    bool
	headers   []provider.Header

	named []byte // the model as the chat has it
	model string
	url   string // empty before the first model
}

// settle takes the settings.
func (t *target) settle(s *provider.Settings) {
	if t.headers != nil && s.BaseURL == t.base && s.APIKey == t.key {
		return
	}
	*t = target{base: s.BaseURL, key: s.APIKey, root: strings.TrimRight(s.BaseURL, "/")}
	if t.root == "" {
		t.root = defaultBase
	}
	if t.compat = isCompat(t.root); !t.compat && !openai.HasPath(t.root) {
		t.root += "/v1beta"
	}
	t.headers = []provider.Header{{Name: "Content-Type", Value: "application/json"}}
	if s.APIKey != "" {
		t.headers = append(t.headers, provider.Header{Name: "x-goog-api-key", Value: s.APIKey})
	}
}

// choose takes the model.
func (t *target) choose(named rawjson.Value) error {
	if t.url != "" && bytes.Equal(named, t.named) {
		return nil
	}
	model := named.String()
	path, err := modelPath(model)
	if err != nil {
		return err
	}
	t.named, t.model = append(t.named[:0], named...), model
	t.url = t.root + "/" + path + ":streamGenerateContent?alt=sse"
	return nil
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
