package settings

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-search/parley/host/internal/apierr"
)

// The sources that are known APIs: of each all is known that one of [Rest] has
// to say. They are what [Embedder.API] makes of them, and nothing else asks
// which one it is.
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

// API returns the embedder of the source [Rest] that e stands for: e itself
// where it is none of a known API. It still has e's source.
func (e *Embedder) API() *Embedder {
	api := *e
	switch e.Source {
	case OpenAI:
		api.Model = cmp.Or(e.Model, defaultOpenAIModel)
		api.URL = cmp.Or(e.URL, defaultOpenAIURL)
		known, ok := openAIModels[api.Model]
		body := map[string]any{"model": api.Model, "input": []string{TextPlace, MorePlace}}
		if e.Dimensions != 0 && !known.fixed {
			body["dimensions"] = e.Dimensions
		}
		api.Request = describe(body)
		api.Response = describe(map[string]any{"data": []any{map[string]string{"embedding": EmbeddingPlace}, MorePlace}})
		api.Dimensions = cmp.Or(e.Dimensions, known.dimensions)
		if e.Distribution == nil && ok {
			api.Distribution = &known.distribution
		}
	case Ollama:
		api.Model = cmp.Or(e.Model, defaultOllamaModel)
		api.URL = cmp.Or(e.URL, defaultOllamaURL)
		if strings.HasSuffix(api.URL, ollamaOne) {
			api.Request = describe(map[string]any{"model": api.Model, "prompt": TextPlace})
			api.Response = describe(map[string]any{"embedding": EmbeddingPlace})
		} else {
			api.Request = describe(map[string]any{"model": api.Model, "input": []string{TextPlace, MorePlace}})
			api.Response = describe(map[string]any{"embeddings": []string{EmbeddingPlace, MorePlace}})
		}
	default:
		return e
	}
	return &api
}

// describe encodes the form of a body; keys are in order, so that equal forms
// are equal texts.
func describe(body any) json.RawMessage {
	b, err := json.Marshal(body)
	if err != nil {
		panic(fmt.Sprintf("encode the form of a body: %v", err)) // texts and numbers
	}
	return b
}

// preset reports whether e is of a known API.
func (e *Embedder) preset() bool { return e.Source == OpenAI || e.Source == Ollama }

// checkPreset checks what an embedder of a known API has.
func (e *Embedder) checkPreset(path string) error {
	err := e.checkOnly(path, "whose requests and answers are known", "url", "apiKey", "model", "dimensions", "documentTemplate", "documentTemplateMaxBytes")
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

// wirePreset is what clients see of an embedder of a known API: what was set.
func (e *Embedder) wirePreset() map[string]any {
	m := map[string]any{"source": e.Source, "model": e.API().Model}
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
	if isNull(embedder) || json.Unmarshal(embedder, &e) != nil {
		return false
	}
	var source string
	_ = json.Unmarshal(e.Source, &source)
	return source == huggingFace || len(e.SearchEmbedder) > 0 && needsModelHere(e.SearchEmbedder) || len(e.IndexingEmbedder) > 0 && needsModelHere(e.IndexingEmbedder)
}

// unoffered is why embedders of the source huggingFace are refused.
func unoffered(names []string) *apierr.Error {
	slices.Sort(names)
	return apierr.Newf(apierr.InvalidSettingsEmbedders, "`embedders.%.300s`: the source %q is not offered, for this host runs no models of its own: serve the model by Ollama and use the source %q, or by any HTTP API and use %q. The other settings that were sent with it are applied.",
		strings.Join(names, "`, `embedders."), huggingFace, Ollama, Rest)
}
