package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/search/embed"
	"github.com/parley-search/parley/host/internal/search/template"
)

// An Embedder says where the vectors of an index's documents and queries come
// from.
type Embedder struct {
	Source          EmbedderSource
	URL             string
	Key             SealedText
	Dimensions      int    // 0: as many as the first answer has
	Model           string // of a known API; "": its default one
	BinaryQuantized bool
	saysBinary      bool // BinaryQuantized was set, which shows it
	// DocumentTemplate is Liquid; "": the searchable attributes.
	DocumentTemplate string
	MaxBytes         int // of a rendered document
	// Request and Response are the bodies with the places of text and vector;
	// see [TextPlace].
	Request, Response json.RawMessage
	Headers           map[string]Header
	Options           map[string]Option // of the plugin that makes the vectors
	// IndexingFragments and SearchFragments are JSON templates by name, in place
	// of texts: of a document each gives one vector, of a query one must fit.
	IndexingFragments, SearchFragments map[string]json.RawMessage
	Distribution                       *Distribution
	// Searching makes the vectors of queries and Indexing those of documents,
	// of the source [Composite]; neither is ever changed in place.
	Searching, Indexing *Embedder
}

// An EmbedderSource is a way to get vectors.
type EmbedderSource string

// The sources, by their names on the wire.
const (
	UserProvided EmbedderSource = "userProvided" // the documents bring them, in _vectors
	Rest         EmbedderSource = "rest"         // an HTTP API makes them that is described by example
	Composite    EmbedderSource = "composite"    // two embedders make them, one those of documents, one those of queries
)

// Where text, or fragment, and vector stand in Embedder.Request and
// Embedder.Response. In an array, MorePlace behind one of them says that several may stand there.
const (
	TextPlace      = "{{text}}"
	FragmentPlace  = "{{fragment}}"
	EmbeddingPlace = "{{embedding}}"
	MorePlace      = "{{..}}"
)

// A Distribution is what scores of an embedder are like, to make those of
// several comparable.
type Distribution struct {
	Mean, Sigma float64
}

const (
	maxEmbedders  = 32
	maxDimensions = 8192
	maxURL        = 4 << 10
	maxModel      = 1 << 10
	maxHeaders    = 50
	maxHeaderText = 8 << 10
)

func newEmbedder() Embedder { return Embedder{MaxBytes: defaultMaxBytes} }

// embeddersSetting is the one setting that holds secrets.
func embeddersSetting() setting {
	st := of("embedders", "embedders", indexerr.InvalidSettingsEmbedders,
		func(s *Settings) *map[string]Embedder { return &s.Embedders }, readEmbedders).patched()
	st.shown = func(s *Settings) any { return wireEmbedders(s.Embedders, false) }
	st.kept = func(s *Settings) any { return wireEmbedders(s.Embedders, true) }
	st.check = func(s *Settings) error { return checkEmbedders(s.Embedders) }
	return st
}

// readEmbedders reads an object over what dst has: null takes an embedder out.
func readEmbedders(v value, dst *map[string]Embedder) error {
	all := maps.Clone(*dst)
	err := v.members(func(name string, v value) error {
		if name == "" || len(name) > MaxName || strings.ContainsAny(name, ".*") {
			return fmt.Errorf("`embedders` has the key %.100q, which must be a name of at most %d bytes without \".\" and \"*\"", name, MaxName)
		}
		if v.null() {
			delete(all, name)
			return nil
		}
		e, ok := all[name]
		if !ok {
			e = newEmbedder()
		}
		err := e.patch(v)
		all[name] = e
		return err
	})
	if err == nil {
		*dst = all
	}
	return err
}

// patch reads an object over e.
func (e *Embedder) patch(v value) error {
	known := e.restReaders()
	known["source"] = orDefault(&e.Source, "", func(v value, s *EmbedderSource) error {
		return readSource(v, s, UserProvided, OpenAI, Ollama, Rest, Composite)
	})
	known["binaryQuantized"] = fieldReader{
		func(v value) error { e.saysBinary = true; return v.boolean(&e.BinaryQuantized) },
		func() { e.BinaryQuantized, e.saysBinary = false, false },
	}
	known["distribution"] = orDefault(&e.Distribution, nil, readDistribution)
	known[searchingPart] = partReader(&e.Searching, "documentTemplate", "documentTemplateMaxBytes", "indexingFragments")
	known[indexingPart] = partReader(&e.Indexing, "searchFragments")
	return e.patchBy(v, known)
}

// restReaders are the readers of what an embedder that asks an API has, by
// itself or within another one; those of its secrets are [Embedder.patchBy]'s.
func (e *Embedder) restReaders() map[string]fieldReader {
	d := newEmbedder()
	return map[string]fieldReader{
		"source":     orDefault(&e.Source, "", func(v value, s *EmbedderSource) error { return readSource(v, s, OpenAI, Ollama, Rest) }),
		"model":      orDefault(&e.Model, "", func(v value, m *string) error { return v.text(m, maxModel) }),
		"url":        orDefault(&e.URL, "", readURL),
		"dimensions": orDefault(&e.Dimensions, 0, func(v value, n *int) error { return v.integer(n, 1, maxDimensions) }),
		"documentTemplate": orDefault(&e.DocumentTemplate, "", func(v value, t *string) error {
			err := v.text(t, template.MaxSource)
			if err == nil && *t != "" {
				if _, err = template.Parse(*t); err != nil {
					err = fmt.Errorf("`%s`: %w", v.path, err)
				}
			}
			return err
		}),
		"documentTemplateMaxBytes": orDefault(&e.MaxBytes, d.MaxBytes, func(v value, n *int) error { return v.integer(n, 1, MaxRenderedBytes) }),
		"request":                  orDefault(&e.Request, nil, readPlace(TextPlace, FragmentPlace)),
		"response":                 orDefault(&e.Response, nil, readPlace(EmbeddingPlace)),
		"indexingFragments":        orDefault(&e.IndexingFragments, nil, readFragments),
		"searchFragments":          orDefault(&e.SearchFragments, nil, readFragments),
	}
}

// patchBy reads an object of known fields over e. A secret stays with the place
// it was given for: another source or another host does not get it.
func (e *Embedder) patchBy(v value, known map[string]fieldReader) error {
	before, keyed, headed := *e, false, false
	e.Key, e.Headers = SealedText{}, nil
	options := e.Options
	known["options"] = fieldReader{func(v value) error { return readOptions(v, &options) }, func() { options = nil }}
	known["apiKey"] = fieldReader{func(v value) error { keyed = true; return e.Key.read(v) }, func() { keyed = true }}
	known["headers"] = fieldReader{func(v value) error { headed = true; return readHeaders(v, &e.Headers) }, func() { headed = true }}
	err := v.fields(known)
	same := e.Source == before.Source && outbound.SameHost(e.API().URL, before.API().URL)
	if !keyed && same {
		e.Key = before.Key
	}
	if e.Options = options; !same {
		// Those that were sent now stay.
		e.Options = maps.Clone(options)
		maps.DeleteFunc(e.Options, func(name string, o Option) bool {
			old, had := before.Options[name]
			return o.Secret() && had && old.Secret() && bytes.Equal(old.Sealed.sealed, o.Sealed.sealed)
		})
	}
	if len(e.Options) == 0 {
		e.Options = nil
	}
	switch {
	case headed && v.kept:
		e.Headers = settleHeaders(e.Headers, before.Headers, same)
	case !headed && same:
		e.Headers = before.Headers
	case !headed:
		e.Headers = withoutSecretHeaders(before.Headers)
	}
	return err
}

// checkEmbedders checks what no single patch shows: that each has what its
// source needs, and nothing that it does not know.
func checkEmbedders(all map[string]Embedder) error {
	if len(all) > maxEmbedders {
		return fmt.Errorf("`embedders` has %d embedders: at most %d are taken", len(all), maxEmbedders)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		e := all[name]
		if err := e.check("embedders." + name); err != nil {
			return err
		}
	}
	return nil
}

func (e *Embedder) check(path string) error {
	switch e.Source {
	case UserProvided:
		if e.Dimensions == 0 {
			return missing(path, "dimensions", "send how many numbers the documents' vectors have")
		}
		return e.checkOnly(path, "whose vectors the documents bring", "dimensions", "documentTemplateMaxBytes")
	case Rest:
		if err := e.checkOnly(path, "which has one embedder for all vectors", restFields()...); err != nil {
			return err
		}
		return e.checkRest(path)
	case Composite:
		return e.checkComposite(path)
	case "":
		return missing(path, "source", `send "userProvided", "openAi", "ollama", "rest", "composite", or another source whose plugin makes vectors`)
	}
	return e.checkPlugged(path)
}

func missing(path, field, send string) error {
	return fmt.Errorf("`%s.%s` is missing: %s", path, field, send)
}

// checkRest checks what an embedder of the source rest has.
func (e *Embedder) checkRest(path string) error {
	switch {
	case e.URL == "":
		return missing(path, "url", "send the URL that makes vectors of texts")
	case e.Request == nil:
		return missing(path, "request", `send the body with the place of the text, such as {"model": "m", "input": ["{{text}}", "{{..}}"]}`)
	case e.Response == nil:
		return missing(path, "response", `send the answer's shape with the place of the vector, such as {"data": [{"embedding": "{{embedding}}"}, "{{..}}"]}`)
	}
	shape, err := embed.ParseShape(e.Request, e.Response)
	switch {
	case err != nil:
		return fmt.Errorf("`%s`: %w", path, err)
	case shape.Fragments() && !e.Fragmented():
		return fmt.Errorf("`%s.request` has \"%s\", but the embedder has no fragments: send `indexingFragments` and `searchFragments`, or \"%s\" in its place", path, FragmentPlace, TextPlace)
	case !shape.Fragments() && e.Fragmented():
		return fmt.Errorf("`%s.request` has \"%s\", but the embedder has fragments: send \"%s\" in its place", path, TextPlace, FragmentPlace)
	case e.Fragmented() && e.DocumentTemplate != "":
		return fmt.Errorf("`%s.documentTemplate` is not for an embedder with fragments, which are templates of their own: leave it out, or send null", path)
	}
	return nil
}

// restFields are the fields that are sent to an API, or say what is.
func restFields() []string {
	return []string{"url", "apiKey", "dimensions", "documentTemplate", "documentTemplateMaxBytes", "request", "response", "headers", "indexingFragments", "searchFragments"}
}

// checkOnly finds a field that is set and not among those that e's source has.
func (e *Embedder) checkOnly(path, why string, has ...string) error {
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"url", e.URL != ""},
		{"apiKey", !e.Key.IsZero()},
		{"model", e.Model != ""},
		{"dimensions", e.Dimensions != 0},
		{"documentTemplate", e.DocumentTemplate != ""},
		{"documentTemplateMaxBytes", e.MaxBytes != defaultMaxBytes},
		{"request", e.Request != nil},
		{"response", e.Response != nil},
		{"headers", e.Headers != nil},
		{"options", e.Options != nil},
		{"indexingFragments", len(e.IndexingFragments) > 0},
		{"searchFragments", len(e.SearchFragments) > 0},
		{searchingPart, e.Searching != nil},
		{indexingPart, e.Indexing != nil},
	} {
		if f.set && !slices.Contains(has, f.name) {
			return fmt.Errorf("`%s.%s` is not for the source \"%s\", %s: leave it out, or send null", path, f.name, e.Source, why)
		}
	}
	return nil
}
