// Package render shows what a template makes of a document or a query, so that its
// author sees it before documents are indexed or a model reads it.
package render

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/base/feature"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/search/attribute"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/template"
)

// Indexes is where templates and documents are. See search.Service.
type Indexes interface {
	Settings(caller *auth.Caller, uid string) (settings.Settings, error)
	Document(ctx context.Context, caller *auth.Caller, uid, id string, fields []string, vectors bool) (json.RawMessage, error)
}

// A Query names a template, and what it is to be rendered with.
type Query struct {
	Template Template `json:"template"`
	Input    *Input   `json:"input"` // nil: the template alone is asked for
}

// The kinds of templates, as Meilisearch names them.
const (
	DocumentTemplate       = "documentTemplate"       // of an embedder
	ChatDocumentTemplate   = "chatDocumentTemplate"   // of an index
	IndexingFragment       = "indexingFragment"       // of an embedder
	SearchFragment         = "searchFragment"         // of an embedder
	InlineDocumentTemplate = "inlineDocumentTemplate" // a text
	InlineFragment         = "inlineFragment"         // JSON whose texts are templates
)

// A Template is one of the settings or, inline, the request's own. Which fields there
// must be depends on the kind; any other one is a mistake.
type Template struct {
	Kind     string          `json:"kind"`
	IndexUID *string         `json:"indexUid"`
	Embedder *string         `json:"embedder"`
	Fragment *string         `json:"fragment"` // name
	Inline   json.RawMessage `json:"inline"`
	MaxBytes *int            `json:"documentTemplateMaxBytes"` // nil: as the settings say
}

// The kinds of inputs.
const (
	IndexDocument  = "indexDocument"
	InlineDocument = "inlineDocument"
	InlineSearch   = "inlineSearch" // an object with q, media or both
)

// An Input is what a template is rendered with.
type Input struct {
	Kind     string          `json:"kind"`
	IndexUID *string         `json:"indexUid"`
	ID       *string         `json:"id"`
	Inline   json.RawMessage `json:"inline"`
}

// A Result is a template, and what came of it.
type Result struct {
	Template json.RawMessage // a string, or the JSON of a fragment
	Rendered json.RawMessage // the same; nil where there was no input
}

// Render answers a query of caller, whose rights to settings and documents the
// caller of this function has checked. A mistake is an [apierr.Error].
func (q *Query) Render(ctx context.Context, indexes Indexes, caller *auth.Caller, on *feature.Service) (*Result, error) {
	r, err := q.Template.find(indexes, caller, on)
	if err != nil {
		return nil, err
	}
	res := &Result{Template: r.source}
	if q.Input == nil {
		return res, nil
	}
	with, err := q.Input.find(ctx, indexes, caller, on, r)
	if err != nil {
		return nil, err
	}
	res.Rendered, err = r.render(ctx, with, q.Input.Kind == InlineSearch)
	return res, err
}

// A rendering is a template that is ready.
type rendering struct {
	source   json.RawMessage
	settings settings.Settings  // with the template as that of the chat
	fragment *template.Fragment // in place of it
	// displayed: the template sees displayed attributes alone, as that of the chat does.
	displayed bool
}

// needs are the fields that each kind of template must have; it may have no others,
// but for documentTemplateMaxBytes of those that are no fragments.
var needs = map[string][]string{
	DocumentTemplate:       {"indexUid", "embedder"},
	ChatDocumentTemplate:   {"indexUid"},
	IndexingFragment:       {"indexUid", "embedder", "fragment"},
	SearchFragment:         {"indexUid", "embedder", "fragment"},
	InlineDocumentTemplate: {"inline"},
	InlineFragment:         {"inline"},
}

func (t *Template) check() error {
	needed, ok := needs[t.Kind]
	if !ok {
		return apierr.Newf(indexerr.InvalidRenderTemplate, "`template.kind` is `%.100s`; it must be `documentTemplate`, `chatDocumentTemplate`, `indexingFragment`, `searchFragment`, `inlineDocumentTemplate` or `inlineFragment`.", t.Kind)
	}
	fragment := t.Kind == IndexingFragment || t.Kind == SearchFragment || t.Kind == InlineFragment
	if fragment && t.MaxBytes != nil {
		return apierr.Newf(indexerr.InvalidRenderTemplate, "`template.documentTemplateMaxBytes` does not go with the kind `%s`.", t.Kind)
	}
	return checkFields(indexerr.InvalidRenderTemplate, "template", t.Kind, needed, map[string]bool{
		"indexUid": t.IndexUID != nil, "embedder": t.Embedder != nil, "fragment": t.Fragment != nil, "inline": !absent(t.Inline),
	})
}

func absent(v json.RawMessage) bool { return len(v) == 0 || rawjson.IsNull(v) }

// checkFields wants there to be the fields that are needed and no others.
func checkFields(code apierr.Code, of, kind string, needed []string, there map[string]bool) error {
	for _, name := range needed {
		if !there[name] {
			return apierr.Newf(code, "`%s.%s` is missing: the kind `%s` needs it.", of, name, kind)
		}
	}
	for _, name := range []string{"indexUid", "embedder", "fragment", "id", "inline"} {
		if there[name] && !slices.Contains(needed, name) {
			return apierr.Newf(code, "`%s.%s` does not go with the kind `%s`.", of, name, kind)
		}
	}
	return nil
}

// find reads the template.
func (t *Template) find(indexes Indexes, caller *auth.Caller, on *feature.Service) (*rendering, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	r := &rendering{settings: settings.DefaultSettings()}
	var err error
	if t.IndexUID != nil {
		if r.settings, err = indexes.Settings(caller, *t.IndexUID); err != nil {
			return nil, err
		}
	}
	chat := &r.settings.Chat
	switch t.Kind {
	case IndexingFragment, SearchFragment, InlineFragment:
		if err := on.Require(feature.Multimodal, ""); err != nil {
			return nil, err
		}
		name := "inline"
		if r.source = t.Inline; t.Fragment != nil {
			name = *t.Fragment
			if r.source, err = t.findFragment(&r.settings); err != nil {
				return nil, err
			}
		}
		if r.fragment, err = template.ParseFragment(name, r.source); err != nil {
			return nil, parsing(err)
		}
		return r, nil
	case DocumentTemplate:
		e, err := t.findEmbedder(&r.settings)
		if err != nil {
			return nil, err
		}
		if e, _ = e.ForDocuments(*t.Embedder); !e.Makes() || e.Fragmented() {
			return nil, apierr.Newf(indexerr.InvalidRenderTemplate, "Embedder `%.100s` of index `%s` has no document template.", *t.Embedder, *t.IndexUID)
		}
		chat.DocumentTemplate, chat.MaxBytes = e.DocumentTemplate, e.MaxBytes
	case ChatDocumentTemplate:
		if err := on.Require(feature.ChatCompletions, ""); err != nil {
			return nil, err
		}
		r.displayed = true
	case InlineDocumentTemplate:
		if json.Unmarshal(t.Inline, &chat.DocumentTemplate) != nil {
			return nil, apierr.Newf(indexerr.InvalidRenderTemplate, "`template.inline` must be a string with the template.")
		}
		if len(chat.DocumentTemplate) > template.MaxSource {
			return nil, apierr.Newf(indexerr.InvalidRenderTemplate, "`template.inline` has %d bytes; a template has at most %d.", len(chat.DocumentTemplate), template.MaxSource)
		}
		if _, err := template.Parse(chat.DocumentTemplate); err != nil {
			return nil, parsing(err)
		}
		r.displayed = true
	}
	if t.MaxBytes != nil {
		if *t.MaxBytes < 1 || *t.MaxBytes > settings.MaxRenderedBytes {
			return nil, apierr.Newf(indexerr.InvalidRenderTemplate, "`template.documentTemplateMaxBytes` is %d; it must be 1 to %d.", *t.MaxBytes, settings.MaxRenderedBytes)
		}
		chat.MaxBytes = *t.MaxBytes
	}
	r.source = encode(settings.ShownTemplate(chat.DocumentTemplate))
	return r, nil
}

func parsing(err error) error {
	return apierr.Newf(indexerr.TemplateParsingError, "The template cannot be read: %s", settings.EndSentence(err.Error()))
}

func (t *Template) findEmbedder(s *settings.Settings) (*settings.Embedder, error) {
	e, ok := s.Embedders[*t.Embedder]
	if !ok {
		return nil, apierr.Newf(indexerr.InvalidRenderTemplate, "Index `%s` has no embedder `%.100s`.", *t.IndexUID, *t.Embedder)
	}
	return &e, nil
}

func (t *Template) findFragment(s *settings.Settings) (json.RawMessage, error) {
	e, err := t.findEmbedder(s)
	if err != nil {
		return nil, err
	}
	var fragments map[string]json.RawMessage
	if t.Kind == SearchFragment {
		e, _ = e.ForQueries(*t.Embedder)
		fragments = e.SearchFragments
	} else {
		e, _ = e.ForDocuments(*t.Embedder)
		fragments = e.IndexingFragments
	}
	f, ok := fragments[*t.Fragment]
	if !ok {
		return nil, apierr.Newf(indexerr.InvalidRenderTemplate, "Embedder `%.100s` of index `%s` has no %s `%.100s`.", *t.Embedder, *t.IndexUID, t.Kind, *t.Fragment)
	}
	return f, nil
}

// find returns what the template is rendered with, an object: a document, or q and
// media of a search.
func (in *Input) find(ctx context.Context, indexes Indexes, caller *auth.Caller, on *feature.Service, r *rendering) (json.RawMessage, error) {
	needed := map[string][]string{IndexDocument: {"indexUid", "id"}, InlineDocument: {"inline"}, InlineSearch: {"inline"}}[in.Kind]
	if needed == nil {
		return nil, apierr.Newf(indexerr.InvalidRenderInput, "`input.kind` is `%.100s`; it must be `indexDocument`, `inlineDocument` or `inlineSearch`.", in.Kind)
	}
	err := checkFields(indexerr.InvalidRenderInput, "input", in.Kind, needed, map[string]bool{"indexUid": in.IndexUID != nil, "id": in.ID != nil, "inline": !absent(in.Inline)})
	if err != nil {
		return nil, err
	}
	if in.Kind == IndexDocument {
		doc, err := indexes.Document(ctx, caller, *in.IndexUID, *in.ID, nil, false)
		if apierr.Is(err, indexerr.DocumentNotFound) {
			return nil, apierr.Newf(indexerr.RenderDocumentNotFound, "Document `%.511s` not found in index `%s`.", *in.ID, *in.IndexUID)
		}
		if err != nil || !r.displayed {
			return doc, err
		}
		s, err := indexes.Settings(caller, *in.IndexUID)
		if err != nil {
			return nil, err
		}
		return attribute.Project(doc, s.Displayed()), nil
	}
	if in.Inline[0] != '{' {
		return nil, apierr.Newf(indexerr.InvalidRenderInput, "`input.inline` must be an object.")
	}
	if in.Kind == InlineDocument {
		return in.Inline, nil
	}
	if err := on.Require(feature.Multimodal, ""); err != nil {
		return nil, err
	}
	if r.fragment == nil {
		return nil, apierr.Newf(indexerr.InvalidRenderInput, "`input.kind` is `inlineSearch`; a template of documents is rendered with a document.")
	}
	var search struct {
		Q     *string                    `json:"q"`
		Media map[string]json.RawMessage `json:"media"`
	}
	if json.Unmarshal(in.Inline, &search) != nil {
		return nil, apierr.Newf(indexerr.InvalidRenderInput, "`input.inline` must have `q`, a string, `media`, an object, or both.")
	}
	return in.Inline, nil
}

// render renders the template with an object. Its mistakes are of the template.
func (r *rendering) render(ctx context.Context, with json.RawMessage, search bool) (json.RawMessage, error) {
	failed := func(err error) error {
		if ctx.Err() != nil {
			return fmt.Errorf("render a template: %w", ctx.Err())
		}
		return apierr.Newf(indexerr.TemplateRenderingError, "The template cannot be rendered: %s", settings.EndSentence(err.Error()))
	}
	if r.fragment == nil {
		text, err := settings.NewRenderer(&r.settings).Preview(ctx, with)
		if err != nil {
			return nil, failed(err)
		}
		return encode(text), nil
	}
	var v map[string]any
	if err := template.DecodeNumbers(with, &v); err != nil {
		return nil, failed(err)
	}
	template.Plain(v) // in place
	if !search {
		v = map[string]any{"doc": v}
	}
	text, ok := r.fragment.Render(template.NewBudget(ctx), v)
	if !ok {
		return nil, failed(errors.New("a value that it shows is absent or null, or it takes too much"))
	}
	return json.RawMessage(text), nil
}

// encode is a text as JSON, in which <, > and & stand for themselves.
func encode(text string) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // of a string it never fails
	return bytes.TrimSpace(b.Bytes())
}
