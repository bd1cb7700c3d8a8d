package settings

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
)

// The sources of plugins that Meilisearch has, too: what it makes of fields that are
// left out is what [Embedder.API] makes of them.
const (
	OpenAI EmbedderSource = "openAi"
	Ollama EmbedderSource = "ollama"
)

// huggingFace is a source of Meilisearch that runs a model within the process.
const huggingFace = "huggingFace"

// An openAIModel is what is known of one of OpenAI's models.
type openAIModel struct {
	dimensions   int
	fixed        bool // it has no other number of dimensions
	distribution Distribution
}

const defaultOpenAIModel = "text-embedding-3-small"

var openAIModels = map[string]openAIModel{
	"text-embedding-ada-002": {1536, true, Distribution{0.9, 0.08}},
	defaultOpenAIModel:       {1536, false, Distribution{0.75, 0.1}},
	"text-embedding-3-large": {3072, false, Distribution{0.7, 0.1}},
}

const (
	defaultOpenAIURL   = "https://api.openai.com/v1/embeddings"
	defaultOllamaURL   = "http://localhost:11434/api/embed"
	defaultOllamaModel = "nomic-embed-text"
)

// The two routes of Ollama that make vectors: of many texts, and of one.
const (
	ollamaMany = "/api/embed"
	ollamaOne  = "/api/embeddings"
)

// API returns e with what Meilisearch puts in where nothing is said: e itself where
// that is nothing.
func (e *Embedder) API() *Embedder {
	api := *e
	switch e.Source {
	case OpenAI:
		api.Model = cmp.Or(e.Model, defaultOpenAIModel)
		api.URL = cmp.Or(e.URL, defaultOpenAIURL)
		known, ok := openAIModels[api.Model]
		api.Dimensions = cmp.Or(e.Dimensions, known.dimensions)
		if e.Distribution == nil && ok {
			api.Distribution = &known.distribution
		}
	case Ollama:
		api.Model = cmp.Or(e.Model, defaultOllamaModel)
		api.URL = cmp.Or(e.URL, defaultOllamaURL)
	default:
		return e
	}
	return &api
}

// Plugged reports whether a plugin makes the vectors of e.
func (e *Embedder) Plugged() bool {
	switch e.Source {
	case "", UserProvided, Rest, Composite:
		return false
	}
	return true
}

var sourceName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

// readSource reads a source: one of known, or one that a plugin may be for, which
// [Settings.Sources] lists for callers that know the plugins.
func readSource(v value, dst *EmbedderSource, known ...EmbedderSource) error {
	var name string
	if v.raw[0] == '"' {
		name = rawjson.Unquote(v.raw)
	}
	own := name == string(UserProvided) || name == string(Composite) || name == huggingFace
	if slices.Contains(known, EmbedderSource(name)) || sourceName.MatchString(name) && !own {
		*dst = EmbedderSource(name)
		return nil
	}
	return choice(v, dst, known...)
}

// checkPlugged checks what an embedder of a plugin has.
func (e *Embedder) checkPlugged(path string) error {
	err := e.checkOnly(path, "whose requests and answers its plugin knows", "url", "apiKey", "model", "dimensions", "documentTemplate", "documentTemplateMaxBytes", "options")
	if err != nil {
		return err
	}
	api := e.API()
	if known := openAIModels[api.Model]; e.Source == OpenAI && known.fixed && api.Dimensions != known.dimensions {
		return fmt.Errorf("`%s.dimensions` is %d, but vectors of %q always have %d numbers: leave it out, or choose another `model`", path, e.Dimensions, api.Model, known.dimensions)
	}
	if e.Source == Ollama && !strings.HasSuffix(api.URL, ollamaMany) && !strings.HasSuffix(api.URL, ollamaOne) {
		return fmt.Errorf("`%s.url` must end with %q or %q, the routes of Ollama that make vectors, such as %q", path, ollamaMany, ollamaOne, defaultOllamaURL)
	}
	return nil
}

// wirePlugged is what clients see of an embedder of a plugin: what was set, and the
// model.
func (e *Embedder) wirePlugged() map[string]any {
	m := map[string]any{"source": e.Source}
	if model := e.API().Model; model != "" {
		m["model"] = model
	}
	if len(e.Options) > 0 {
		m["options"] = wireOptions(e.Options, false)
	}
	if e.URL != "" {
		m["url"] = e.URL
	}
	if !e.Key.IsZero() {
		m["apiKey"] = e.Key.Shown
	}
	if e.Dimensions != 0 {
		m["dimensions"] = e.Dimensions
	}
	return m
}

// WithoutUnoffered takes the embedders out of settings that a client sent whose
// source this host has not but Meilisearch has, and says why of them; body is
// as it was where there is none.
func WithoutUnoffered(body []byte) (rest []byte, refused *apierr.Error, err error) {
	var top, all map[string]json.RawMessage
	if json.Unmarshal(body, &top) != nil || json.Unmarshal(top["embedders"], &all) != nil {
		return body, nil, nil // whoever reads it says what is wrong
	}
	var names []string
	for name, e := range all {
		if needsModelHere(e) {
			names = append(names, name)
			delete(all, name)
		}
	}
	if names == nil {
		return body, nil, nil
	}
	if top["embedders"], err = json.Marshal(all); err != nil {
		return nil, nil, fmt.Errorf("encode embedders: %w", err)
	}
	if rest, err = json.Marshal(top); err != nil {
		return nil, nil, fmt.Errorf("encode settings: %w", err)
	}
	return rest, unoffered(names), nil
}

// needsModelHere reports whether an embedder, or a part of it, is of the source
// huggingFace.
func needsModelHere(embedder json.RawMessage) bool {
	var e struct {
		Source                           json.RawMessage
		SearchEmbedder, IndexingEmbedder json.RawMessage
	}
	if rawjson.IsAbsent(embedder) || json.Unmarshal(embedder, &e) != nil {
		return false
	}
	var source string
	_ = json.Unmarshal(e.Source, &source)
	return source == huggingFace || len(e.SearchEmbedder) > 0 && needsModelHere(e.SearchEmbedder) || len(e.IndexingEmbedder) > 0 && needsModelHere(e.IndexingEmbedder)
}

// unoffered is why embedders of the source huggingFace are refused.
func unoffered(names []string) *apierr.Error {
	slices.Sort(names)
	return apierr.Newf(indexerr.InvalidSettingsEmbedders, "`embedders.%.300s`: the source %q is not offered, for this host runs no models of its own: serve the model by Ollama and use the source %q, or by any HTTP API and use %q. The other settings that were sent with it are applied.",
		strings.Join(names, "`, `embedders."), huggingFace, Ollama, Rest)
}
