package search

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/osteele/liquid"
)

// defaultTemplate is what an index without a template of its own shows. It is
// rendered by renderDefault, which gives the same text faster.
const defaultTemplate = "{% for field in fields %}{% if field.is_searchable and field.value != nil %}{{ field.name }}: {{ field.value }}\n{% endif %}{% endfor %}"

// What a template may be and do. Liquid alone bounds neither time nor memory:
// loops over ranges or within each other, and texts that grow in a loop, could
// stop the host.
const (
	maxTemplate     = 8 << 10 // bytes of a template
	maxLoops        = 2       // loops within each other
	maxElements     = 100     // of an array that a template is given
	maxTemplateText = 64 << 10
	maxRenderTime   = 200 * time.Millisecond
	maxRenderPause  = 20 * time.Millisecond // that counts of the time between two outputs
)

// templateTags are the tags a template may use: none that names files, and none
// that grows text without a filter.
var templateTags = []string{
	"assign", "break", "case", "comment", "continue", "else", "elsif", "endcase", "endcomment", "endfor", "endif",
	"endraw", "endunless", "for", "if", "raw", "unless", "when",
}

var (
	tagPattern = regexp.MustCompile(`\{%-?\s*(\w*)`)
	// What stands in a template: outputs and tags; texts in them; filters.
	partPattern   = regexp.MustCompile(`(?s)\{\{.*?\}\}|\{%.*?%\}`)
	textPattern   = regexp.MustCompile(`'[^']*'|"[^"]*"`)
	filterPattern = regexp.MustCompile(`\|\s*(\w+)`)
	rangePattern  = regexp.MustCompile(`\([^()]*\.\.[^()]*\)`)
)

// parseTemplate checks a template and makes it ready.
func parseTemplate(text string) (t *liquid.Template, err error) {
	defer recovered(&err)
	loops := 0
	for _, m := range tagPattern.FindAllStringSubmatch(text, -1) {
		switch tag := m[1]; {
		case !slices.Contains(templateTags, tag):
			return nil, fmt.Errorf("tag `%.50s` is not offered here; these are: %s", tag, strings.Join(templateTags, ", "))
		case tag == "for":
			if loops++; loops > maxLoops {
				return nil, fmt.Errorf("more than %d loops within each other", maxLoops)
			}
		case tag == "endfor":
			loops--
		}
	}
	if rangePattern.MatchString(text) {
		return nil, errors.New("ranges such as (1..3) are not offered here")
	}
	e := liquid.NewEngine()
	boundFilters(e)
	t, failed := e.ParseString(text)
	if failed != nil {
		return nil, fmt.Errorf("not a Liquid template: %.300s", failed.Error())
	}
	return t, checkParts(e, text)
}

// checkParts finds what Liquid itself would only say, or show, in a rendering:
// an output or a tag without an end, and a filter that is not there.
func checkParts(e *liquid.Engine, text string) error {
	if rest := partPattern.ReplaceAllString(text, ""); strings.Contains(rest, "{{") || strings.Contains(rest, "{%") {
		return errors.New("not a Liquid template: a {{ or {% has no end")
	}
	for _, part := range partPattern.FindAllString(text, -1) {
		for _, m := range filterPattern.FindAllStringSubmatch(textPattern.ReplaceAllString(part, "''"), -1) {
			_, err := e.ParseAndRenderString("{{ '' | "+m[1]+" }}", nil)
			if err != nil && strings.Contains(err.Error(), "undefined filter") {
				return fmt.Errorf("unknown filter `%.50s`", m[1])
			}
		}
	}
	return nil
}

// recovered makes an error of a panic: the library has some, among them one for
// a writer that takes no more.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("not a template that can be used: %.300s", fmt.Sprint(p))
	}
}

// errTooLong is what a filter says whose text grew too long.
var errTooLong = errors.New("a text of the template grew too long")

// boundFilters replaces the filters that make texts or arrays longer than what
// they are given.
func boundFilters(e *liquid.Engine) {
	bound := func(s string) (string, error) {
		if len(s) > maxTemplateText {
			return "", errTooLong
		}
		return s, nil
	}
	e.RegisterFilter("append", func(s, t string) (string, error) { return bound(s + t) })
	e.RegisterFilter("prepend", func(s, t string) (string, error) { return bound(t + s) })
	e.RegisterFilter("newline_to_br", func(s string) (string, error) { return bound(strings.ReplaceAll(s, "\n", "<br />")) })
	e.RegisterFilter("replace", func(s, from, to string) (string, error) {
		if n := strings.Count(s, from); len(s)+n*len(to) > maxTemplateText {
			return "", errTooLong
		}
		return strings.ReplaceAll(s, from, to), nil
	})
	e.RegisterFilter("replace_first", func(s, from, to string) (string, error) { return bound(strings.Replace(s, from, to, 1)) })
	e.RegisterFilter("concat", func(a, b []any) ([]any, error) {
		if len(a)+len(b) > maxElements {
			return nil, errTooLong
		}
		return append(slices.Clone(a), b...), nil
	})
}

// errFull ends a rendering whose text is as long as it may be.
var errFull = errors.New("the text is full")

// A limitedText takes a rendering until it is full or late. A long pause counts
// as a short one: it may be the machine's, and what a document's text is, and
// with it its vector, must not hang on how busy that is.
type limitedText struct {
	text   []byte
	limit  int
	left   time.Duration
	looked time.Time
}

func newLimitedText(limit int) *limitedText {
	return &limitedText{limit: limit, left: maxRenderTime, looked: time.Now()}
}

// Write implements [io.Writer].
func (l *limitedText) Write(p []byte) (int, error) {
	l.text = append(l.text, p...)
	now := time.Now()
	l.left -= min(now.Sub(l.looked), maxRenderPause)
	l.looked = now
	if len(l.text) > l.limit || l.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// A renderer turns documents into the text that a model reads.
type renderer struct {
	template *liquid.Template // nil: the default one
	settings *Settings
}

func newRenderer(s *Settings) (*renderer, error) {
	r := &renderer{settings: s}
	if s.Chat.DocumentTemplate == "" {
		return r, nil
	}
	var err error
	r.template, err = parseTemplate(s.Chat.DocumentTemplate)
	return r, err
}

// render returns the text of a document, given as its displayed attributes, cut
// to the settings' bytes where a character ends.
func (r *renderer) render(doc json.RawMessage) string {
	limit := r.settings.Chat.MaxBytes
	if r.template == nil {
		return clip(r.renderDefault(doc, limit), limit)
	}
	text, err := r.fromTemplate(doc, limit)
	if err != nil && len(text) <= limit {
		// What can't be rendered is shown as if no template were set, rather
		// than hiding from the model a document that was found.
		text = r.renderDefault(doc, limit)
	}
	return clip(strings.ToValidUTF8(text, "\uFFFD"), limit)
}

// fromTemplate renders the template; with an error for a text that is longer
// than limit, it is that long at least.
func (r *renderer) fromTemplate(doc json.RawMessage, limit int) (text string, err error) {
	var v map[string]any
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber() // a year of 1961 is to be shown so, not as 1.961e+03
	if err := dec.Decode(&v); err != nil {
		return "", err
	}
	var fields []any
	eachMember(doc, func(rawKey, value []byte) bool {
		name := unquote(rawKey)
		v[name] = plain(v[name])
		fields = append(fields, map[string]any{"name": name, "value": v[name], "is_searchable": r.settings.searchableTop(name)})
		return true
	})
	l := newLimitedText(limit)
	defer func() { text = string(l.text) }()
	defer recovered(&err)
	if failed := r.template.FRender(l, liquid.Bindings{"doc": v, "fields": fields[:min(len(fields), maxElements)]}); failed != nil {
		return "", failed
	}
	return "", nil
}

// renderDefault is what defaultTemplate gives, at least limit bytes of it.
func (r *renderer) renderDefault(doc json.RawMessage, limit int) string {
	var b strings.Builder
	eachMember(doc, func(rawKey, value []byte) bool {
		name := unquote(rawKey)
		if value[0] != 'n' && r.settings.searchableTop(name) {
			b.WriteString(name)
			b.WriteString(": ")
			if text, ok := scalarText(value); ok {
				b.WriteString(text)
			} else {
				var c bytes.Buffer
				_ = json.Compact(&c, value) // value is valid
				b.Write(c.Bytes())
			}
			b.WriteByte('\n')
		}
		return b.Len() <= limit
	})
	return b.String()
}

// searchableTop reports whether a top-level field, or something in it, is
// searched.
func (s *Settings) searchableTop(name string) bool {
	return s.searchable(name) || slices.ContainsFunc(s.SearchableAttributes, func(a string) bool { return covers(name, a) })
}

// plain bounds the arrays in v, and makes whole numbers integers.
func plain(v any) any {
	switch x := v.(type) {
	case []any:
		x = x[:min(len(x), maxElements)]
		for i := range x {
			x[i] = plain(x[i])
		}
		return x
	case map[string]any:
		for k := range x {
			x[k] = plain(x[k])
		}
	case json.Number:
		if n, err := x.Int64(); err == nil {
			return n
		}
		f, _ := x.Float64() // infinite where it is beyond a float
		return f
	}
	return v
}
