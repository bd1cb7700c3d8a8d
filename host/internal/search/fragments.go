package search

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/osteele/liquid"

	"github.com/parley-search/parley/host/internal/apierr"
)

// maxFragmentBytes bounds a fragment as it is sent: images come as texts.
const maxFragmentBytes = 4 << 20

// A fragment is JSON whose texts are templates. It is used by one goroutine at
// a time.
type fragment struct {
	name  string
	value any // in which each text is a *[liquid.Template]
}

// parseFragment checks a fragment and makes it ready.
func parseFragment(name string, raw json.RawMessage) (*fragment, error) {
	var value any
	if err := decodeNumbers(raw, &value); err != nil {
		return nil, err
	}
	value, err := eachText(value, func(v any) (any, error) {
		text, ok := v.(string)
		if !ok {
			return v, nil
		}
		return parseDemanding(text)
	})
	return &fragment{name, value}, err
}

// parseFragments does so for several, and returns them in the order of their
// names.
func parseFragments(all map[string]json.RawMessage) ([]*fragment, error) {
	var out []*fragment
	for _, name := range sortedKeys(all) {
		f, err := parseFragment(name, all[name])
		if err != nil {
			return nil, fmt.Errorf("fragment %q: %w", name, err)
		}
		out = append(out, f)
	}
	return out, nil
}

// decodeNumbers decodes JSON with its numbers as they are written.
func decodeNumbers(raw []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return dec.Decode(v)
}

// eachText returns v with what f makes of each value in it that is no object
// and no array.
func eachText(v any, f func(any) (any, error)) (any, error) {
	var err error
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, member := range v {
			if out[key], err = eachText(member, f); err != nil {
				return nil, err
			}
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i, element := range v {
			if out[i], err = eachText(element, f); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return f(v)
}

// render returns the fragment as JSON. ok is false where it does not fit: a
// value that it shows is absent or null, or what comes of it is too long.
func (f *fragment) render(with liquid.Bindings) (text string, ok bool) {
	l := newLimitedText(maxFragmentBytes)
	value, err := eachText(f.value, func(v any) (_ any, err error) {
		t, ok := v.(*liquid.Template)
		if !ok {
			return v, nil
		}
		defer recovered(&err)
		l.limit -= len(l.text)
		l.text = nil
		if failed := t.FRender(l, with); failed != nil {
			return nil, failed
		}
		return strings.ToValidUTF8(string(l.text), "\uFFFD"), nil
	})
	if err != nil {
		return "", false
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(value) != nil || b.Len() > 2*maxFragmentBytes {
		return "", false
	}
	return strings.TrimSpace(b.String()), true
}

// outputPattern finds what a template shows.
var outputPattern = regexp.MustCompile(`(?s)\{\{-?.*?-?\}\}`)

// errNotGiven ends the rendering of a fragment that does not fit.
var errNotGiven = errors.New("a value of the fragment is absent")

// parseDemanding is parseTemplate for a template that renders only where each
// value that it shows is there, but for those with a default.
func parseDemanding(text string) (t *liquid.Template, err error) {
	defer recovered(&err)
	if _, err := parseTemplate(text); err != nil {
		return nil, err
	}
	for _, m := range tagPattern.FindAllStringSubmatch(text, -1) {
		if m[1] == "raw" {
			return nil, errors.New("tag `raw` is not offered in a fragment")
		}
	}
	e := liquid.NewEngine()
	boundFilters(e)
	e.RegisterFilter("given", func(v any) (any, error) {
		if v == nil {
			return nil, errNotGiven
		}
		return v, nil
	})
	t, failed := e.ParseString(outputPattern.ReplaceAllStringFunc(text, demand))
	if failed != nil {
		return nil, fmt.Errorf("not a Liquid template: %.300s", failed.Error())
	}
	return t, nil
}

// demand puts the filter given first in an output.
func demand(output string) string {
	end := len(output) - len("}}")
	if output[end-1] == '-' {
		end--
	}
	quote := byte(0)
	for i := len("{{"); i < end; i++ {
		switch c := output[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '|':
			if strings.HasPrefix(strings.TrimSpace(output[i+1:]), "default") {
				return output
			}
			return output[:i] + "| given " + output[i:]
		}
	}
	return output[:end] + " | given " + output[end:]
}

// queryText returns what e, which is called name, is asked about for a query:
// its words or, where e has fragments, the one of them that fits. A mistake is
// an [apierr.Error].
func (e *Embedder) queryText(name, q string, media map[string]json.RawMessage) (string, error) {
	wrong := func(format string, args ...any) (string, error) {
		return "", apierr.Newf(apierr.VectorEmbeddingError, "Embedder `%.150s` "+format, append([]any{name}, args...)...)
	}
	switch {
	case !e.fragmented() && media != nil:
		return wrong("makes vectors of texts alone: it has no `searchFragments` for the `media` of a query.")
	case !e.fragmented():
		return q, nil
	case len(e.SearchFragments) == 0:
		return wrong("has no `searchFragments`: set them, or send the query's own vector in `vector`.")
	}
	all, err := parseFragments(e.SearchFragments)
	if err != nil {
		return "", fmt.Errorf("read search fragments of embedder %q: %w", name, err)
	}
	with := liquid.Bindings{}
	if strings.TrimSpace(q) != "" {
		with["q"] = q
	}
	if media != nil {
		raw, err := json.Marshal(media)
		if err != nil {
			return "", fmt.Errorf("encode media: %w", err)
		}
		var v map[string]any
		if err := decodeNumbers(raw, &v); err != nil {
			return "", fmt.Errorf("decode media: %w", err)
		}
		with["media"] = plain(v)
	}
	found, text := "", ""
	for _, f := range all {
		rendered, ok := f.render(with)
		switch {
		case !ok:
		case text != "":
			return wrong("has several search fragments that fit the query, `%.100s` and `%.100s` among them: send `media` that only one of them has all values of.", found, f.name)
		default:
			found, text = f.name, rendered
		}
	}
	if text == "" {
		return wrong("has no search fragment that fits the query: send all values, in `q` and `media`, that one of them shows; they are `%.300s`.", strings.Join(sortedKeys(e.SearchFragments), "`, `"))
	}
	return text, nil
}
