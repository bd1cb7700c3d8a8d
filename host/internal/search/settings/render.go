package settings

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/search/attribute"
	"github.com/parley-search/parley/host/internal/search/template"
	"github.com/parley-search/parley/host/internal/search/text"
)

// defaultTemplate is what an index without a template of its own shows. It is
// rendered by renderDefault, which gives the same text faster.
const defaultTemplate = "{% for field in fields %}{% if field.is_searchable and field.value != nil %}{{ field.name }}: {{ field.value }}\n{% endif %}{% endfor %}"

// A Renderer turns documents into the text that a model reads.
type Renderer struct {
	template *template.Template // nil: the default one
	settings *Settings
}

// NewRenderer returns the renderer of s. A template that an earlier version
// took, and that is none any more, counts as the default one: what is wrong with
// it is said where it is set again.
func NewRenderer(s *Settings) *Renderer {
	r := &Renderer{settings: s}
	if source := s.Chat.DocumentTemplate; source != "" {
		if t, err := template.Parse(source); err == nil {
			r.template = t
		}
	}
	return r
}

// Render returns the text of a document, given as its displayed attributes, cut
// to the settings' bytes where a character ends. Its only error is that ctx
// ended.
func (r *Renderer) Render(ctx context.Context, doc json.RawMessage) (string, error) {
	shown, err := r.Preview(ctx, doc)
	switch {
	case err == nil:
		return shown, nil
	case ctx.Err() != nil:
		return "", fmt.Errorf("render a document: %w", ctx.Err())
	}
	// What can't be rendered is shown as if no template were set, rather
	// than hiding from the model a document that was found.
	limit := r.settings.Chat.MaxBytes
	return text.Clip(r.renderDefault(doc, limit), limit), nil
}

// Preview is Render for the author of the template: where that cannot be rendered, it
// returns the reason.
func (r *Renderer) Preview(ctx context.Context, doc json.RawMessage) (string, error) {
	limit := r.settings.Chat.MaxBytes
	if r.template == nil {
		return text.Clip(r.renderDefault(doc, limit), limit), nil
	}
	rendered, err := r.fromTemplate(ctx, doc, limit)
	if err != nil && len(rendered) <= limit {
		return "", err
	}
	return text.Clip(strings.ToValidUTF8(rendered, "\uFFFD"), limit), nil
}

// fromTemplate renders the template; with an error for a text that is longer
// than limit, it is that long at least.
func (r *Renderer) fromTemplate(ctx context.Context, doc json.RawMessage, limit int) (rendered string, err error) {
	var v map[string]any
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber() // a year of 1961 is to be shown so, not as 1.961e+03
	if err := dec.Decode(&v); err != nil {
		return "", err
	}
	var fields []any
	rawjson.EachMember(doc, func(rawKey, value []byte) bool {
		name := rawjson.Unquote(rawKey)
		v[name] = template.Plain(v[name])
		fields = append(fields, map[string]any{"name": name, "value": v[name], "is_searchable": r.settings.SearchableTop(name)})
		return true
	})
	data := map[string]any{"doc": v, "fields": fields[:min(len(fields), template.MaxElements)]}
	return r.template.Render(template.NewBudget(ctx), data, template.Output{MaxBytes: limit})
}

// renderDefault is what defaultTemplate gives, at least limit bytes of it.
func (r *Renderer) renderDefault(doc json.RawMessage, limit int) string {
	var b strings.Builder
	rawjson.EachMember(doc, func(rawKey, value []byte) bool {
		name := rawjson.Unquote(rawKey)
		if value[0] != 'n' && r.settings.SearchableTop(name) {
			WriteLine(&b, name, value)
		}
		return b.Len() <= limit
	})
	return b.String()
}

// WriteLine writes a value, which is valid JSON, as "name: value" and the end of the line.
func WriteLine(b *strings.Builder, name string, value []byte) {
	b.WriteString(name)
	b.WriteString(": ")
	if text, ok := rawjson.ScalarText(value); ok {
		b.WriteString(text)
	} else {
		var c bytes.Buffer
		_ = json.Compact(&c, value) // value is valid
		b.Write(c.Bytes())
	}
	b.WriteByte('\n')
}

// SearchableTop reports whether a top-level field, or something in it, is
// searched.
func (s *Settings) SearchableTop(name string) bool {
	return s.searchable(name) || slices.ContainsFunc(s.SearchableAttributes, func(a string) bool { return attribute.Covers(name, a) })
}
