package search

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-search/parley/host/internal/apierr"
)

const (
	defaultCropLength = 10
	defaultCropMarker = "…"
	defaultPreTag     = "<em>"
	defaultPostTag    = "</em>"
)

// A formatter shows the texts of hits.
type formatter struct {
	marker     *marker
	selections []*selection
	highlight  *selection // nil with all: every attribute
	crops      []crop
	all        bool // highlight everything
	format     bool // something is to be highlighted or cropped
	positions  bool
	cropMarker string
	pre, post  string
}

// A crop cuts texts of an attribute to so many words.
type crop struct {
	attribute string // "*": any
	words     int
}

// newFormatter returns what shows the hits of s, of which displayed and wanted
// are shown.
func (s *searcher) newFormatter(displayed, wanted *selection) (*formatter, error) {
	q := &s.plan.query.Format
	f := &formatter{
		crops: s.plan.crops, positions: q.Positions, format: q.Highlight != nil || q.Crop != nil,
		all: slices.Contains(q.Highlight, "*"), highlight: &selection{q.Highlight},
		cropMarker: orText(q.CropMarker, defaultCropMarker), pre: orText(q.PreTag, defaultPreTag), post: orText(q.PostTag, defaultPostTag),
	}
	if !f.format && !f.positions {
		return f, nil
	}
	if wanted != nil {
		paths := append(slices.Clone(wanted.paths), q.Highlight...)
		for _, c := range f.crops {
			paths = append(paths, c.attribute)
		}
		wanted = newSelection(paths)
	}
	f.selections = []*selection{displayed, wanted}
	var err error
	f.marker, err = s.newMarker()
	return f, err
}

func orText(s *string, missing string) string {
	if s == nil {
		return missing
	}
	return *s
}

// crops reads the attributes to crop, with their lengths.
func (q *Format) crops() ([]crop, error) {
	length := defaultCropLength
	if q.CropLength != nil {
		length = *q.CropLength
	}
	var out []crop
	for i, text := range q.Crop {
		c := crop{text, length}
		if name, n, ok := cutLast(text, ":"); ok {
			words, err := strconv.ParseUint(n, 10, 31)
			if err != nil || name == "" {
				return nil, apierr.Newf(apierr.InvalidSearchAttributesCrop, "attributesToCrop[%d] is `%.100s`; expected an attribute, maybe with a number of words behind it, as in `text:20`.", i, text)
			}
			c = crop{name, int(words)}
		}
		out = append(out, c)
	}
	return out, nil
}

// cropOf returns the length that texts at a path are cropped to, 0 where they
// are not. The attribute's own length goes before that of "*".
func (f *formatter) cropOf(path string) int {
	words := 0
	for _, c := range f.crops {
		if c.attribute != "*" && covers(c.attribute, path) {
			return c.words
		}
		if c.attribute == "*" {
			words = c.words
		}
	}
	return words
}

// hit returns a document formatted, and the places of the words found; each nil
// where it was not asked for.
func (f *formatter) hit(doc []byte) (formatted, matches json.RawMessage) {
	if !f.format && !f.positions {
		return nil, nil
	}
	doc = project(doc, f.selections...)
	if f.format {
		formatted = f.value(nil, "", doc)
	}
	if f.positions {
		matches = f.places(doc)
	}
	return formatted, matches
}

// value appends v, which stands at path, formatted.
func (f *formatter) value(dst []byte, path string, v []byte) []byte {
	switch v[0] {
	case '{':
		dst = append(dst, '{')
		empty := true
		eachMember(v, func(key, value []byte) bool {
			if !empty {
				dst = append(dst, ',')
			}
			empty = false
			dst = f.value(append(append(dst, key...), ':'), below(path, key), value)
			return true
		})
		return append(dst, '}')
	case '[':
		dst = append(dst, '[')
		empty := true
		eachElement(v, func(_ int, value []byte) bool {
			if !empty {
				dst = append(dst, ',')
			}
			empty = false
			dst = f.value(dst, path, value)
			return true
		})
		return append(dst, ']')
	case 't', 'f', 'n':
		return append(dst, v...)
	case '"':
		text := unquote(v)
		shown := f.text(path, text)
		if shown == text {
			return append(dst, v...)
		}
		return appendString(dst, shown)
	}
	return appendString(dst, f.text(path, string(v))) // a number
}

// below is the path of a member, given by its key in quotes, of an object.
func below(path string, key []byte) string {
	if path == "" {
		return unquote(key)
	}
	return path + "." + unquote(key)
}

// text returns a text cropped and highlighted.
func (f *formatter) text(path, text string) string {
	length := f.cropOf(path)
	highlight := f.all || f.highlight.whole(path)
	if length == 0 && !highlight {
		return text
	}
	ws := f.marker.analyzer.words(text)
	marks := f.marker.marks(path, text, ws)
	from, to := 0, len(text)
	if length > 0 && len(ws) > length {
		first, last := window(ws, marks, length)
		if first > 0 {
			from = ws[first].start
		}
		if last < len(ws)-1 {
			to = ws[last].end
		}
	}
	if from == 0 && to == len(text) && (!highlight || len(marks) == 0) {
		return text
	}
	var b strings.Builder
	if from > 0 {
		b.WriteString(f.cropMarker)
	}
	at := from
	if highlight {
		for _, m := range marks {
			if m.start < from || m.end > to {
				continue
			}
			b.WriteString(text[at:m.start])
			b.WriteString(f.pre)
			b.WriteString(text[m.start:m.end])
			b.WriteString(f.post)
			at = m.end
		}
	}
	b.WriteString(text[at:to])
	if to < len(text) {
		b.WriteString(f.cropMarker)
	}
	return b.String()
}

// window returns the first and the last of length words that have the most
// units of the query, the earliest such, with the words found in the middle.
func window(ws []word, marks []mark, length int) (first, last int) {
	best, from, to := 0, 0, 0
	for i := range marks {
		seen := map[int]bool{}
		end := marks[i].word
		for _, m := range marks[i:] {
			if m.last-marks[i].word >= length {
				break
			}
			seen[m.unit] = true
			end = max(end, m.last)
		}
		if len(seen) > best {
			best, from, to = len(seen), marks[i].word, end
		}
	}
	if best == 0 {
		return 0, length - 1
	}
	spare := max(length-(to-from+1), 0)
	first = max(from-spare/2, 0)
	last = min(first+length-1, len(ws)-1)
	return max(last-length+1, 0), last
}

// appendString appends s as JSON that leaves the signs of HTML as they are.
func appendString(dst []byte, s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic("search: encode a text: " + err.Error()) // texts always can be
	}
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}
