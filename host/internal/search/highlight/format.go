// Package highlight shows the texts of hits: cropped around what was found, with
// marks on it, or with its places. A [Marker] is told the words and phrases of a
// query, by [Marker.AddWord] and [Marker.AddPhrase]; a [Formatter] shows documents
// as a [Format] asks.
package highlight

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/search/attribute"
)

const (
	defaultCropLength = 10
	defaultCropMarker = "…"
	defaultPreTag     = "<em>"
	defaultPostTag    = "</em>"
)

// A Formatter shows the texts of hits.
type Formatter struct {
	marker            *Marker
	displayed, wanted *attribute.Selection // nil: all
	highlight         *attribute.Selection // nil with all: every attribute
	crops             []Crop
	all               bool // highlight everything
	format            bool // something is to be highlighted or cropped
	positions         bool
	cropMarker        string
	pre, post         string

	take    func(n int) error // is asked for what is about to be made, in bytes
	pending int               // bytes of which it was not asked yet
	err     error             // it refused
}

// A Crop cuts texts of an attribute to so many words.
type Crop struct {
	attribute string // "*": any
	words     int
}

// NewFormatter returns what shows hits as q says, of which displayed and wanted
// are shown; matches are told of all that is displayed. crops are those of q.
// known says whether the index has an attribute: without one to highlight or to
// crop nothing is formatted. newMarker is called where texts are looked at. take is
// asked for the bytes of what is shown before they are made: marks on each word may
// come to more than the text.
func NewFormatter(q *Format, crops []Crop, displayed, wanted *attribute.Selection, known func(attribute string) bool, newMarker func() *Marker, take func(n int) error) *Formatter {
	asked := slices.Clone(q.Highlight)
	for _, c := range crops {
		asked = append(asked, c.attribute)
	}
	f := &Formatter{
		crops: crops, positions: q.Positions, take: take,
		format: slices.ContainsFunc(asked, func(a string) bool {
			return a == "*" || known(a) && (displayed == nil || displayed.ShowsAll(a))
		}),
		all: slices.Contains(q.Highlight, "*"), highlight: &attribute.Selection{Paths: q.Highlight},
		cropMarker: orText(q.CropMarker, defaultCropMarker), pre: orText(q.PreTag, defaultPreTag), post: orText(q.PostTag, defaultPostTag),
	}
	if !f.format && !f.positions {
		return f
	}
	if wanted != nil {
		wanted = attribute.NewSelection(append(slices.Clone(wanted.Paths), asked...))
	}
	f.displayed, f.wanted = displayed, wanted
	f.marker = newMarker()
	return f
}

func orText(s *string, missing string) string {
	if s == nil {
		return missing
	}
	return *s
}

// Crops reads the attributes to crop, with their lengths.
func (q *Format) Crops() ([]Crop, error) {
	length := defaultCropLength
	if q.CropLength != nil {
		length = *q.CropLength
	}
	var out []Crop
	for i, text := range q.Crop {
		c := Crop{text, length}
		if name, n, ok := attribute.CutLast(text, ":"); ok {
			words, err := strconv.ParseUint(n, 10, 31)
			if err != nil || name == "" {
				return nil, apierr.Newf(searcherr.InvalidSearchAttributesCrop, "attributesToCrop[%d] is `%.100s`; expected an attribute, maybe with a number of words behind it, as in `text:20`.", i, text)
			}
			c = Crop{name, int(words)}
		}
		out = append(out, c)
	}
	return out, nil
}

// cropOf returns the length that texts at a path are cropped to, 0 where they
// are not. Of several that name it the last one counts.
func (f *Formatter) cropOf(path string) int {
	words := 0
	for _, c := range f.crops {
		if c.attribute == "*" || attribute.Covers(c.attribute, path) {
			words = c.words
		}
	}
	return words
}

// Show returns a document formatted, and the places of the words found; each nil
// where it was not asked for. The error is that of what was asked for its bytes.
func (f *Formatter) Show(doc []byte) (formatted, matches json.RawMessage, err error) {
	if !f.format && !f.positions {
		return nil, nil, nil
	}
	doc = attribute.Project(doc, f.displayed)
	if f.format {
		if shown := attribute.Project(doc, f.wanted); !rawjson.IsEmpty(shown) {
			formatted = f.value(nil, "", shown)
		}
	}
	if f.positions {
		matches = f.places(doc)
	}
	f.spend(0, 0)
	return formatted, matches, f.err
}

// spend asks for n more bytes, at once where most or more are to be asked for, and
// reports whether they may be made.
func (f *Formatter) spend(n, most int) bool {
	if f.pending += n; f.err == nil && f.pending >= most {
		f.err = f.take(f.pending)
		f.pending = 0
	}
	return f.err == nil
}

// part is up to which size bytes are asked for together.
const part = 64 << 10

// value appends v, which stands at path, formatted.
func (f *Formatter) value(dst []byte, path string, v []byte) []byte {
	switch v[0] {
	case '{':
		dst = append(dst, '{')
		empty := true
		rawjson.EachMember(v, func(key, value []byte) bool {
			if !empty {
				dst = append(dst, ',')
			}
			empty = false
			dst = f.value(append(append(dst, key...), ':'), below(path, key), value)
			return f.err == nil
		})
		return append(dst, '}')
	case '[':
		dst = append(dst, '[')
		empty := true
		rawjson.EachElement(v, func(value []byte) bool {
			if !empty {
				dst = append(dst, ',')
			}
			empty = false
			dst = f.value(dst, path, value)
			return f.err == nil
		})
		return append(dst, ']')
	case 't', 'f', 'n':
		f.spend(len(v), part)
		return append(dst, v...)
	case '"':
		text := rawjson.Unquote(v)
		shown := f.text(path, text)
		if shown == text {
			return append(dst, v...)
		}
		return AppendString(dst, shown)
	}
	return AppendString(dst, f.text(path, string(v))) // a number
}

// below is the path of a member, given by its key in quotes, of an object.
func below(path string, key []byte) string {
	if path == "" {
		return rawjson.Unquote(key)
	}
	return path + "." + rawjson.Unquote(key)
}

// text returns a text cropped and highlighted.
func (f *Formatter) text(path, text string) string {
	length := f.cropOf(path)
	if !f.spend(len(path)+len(text), part) {
		return ""
	}
	highlight := f.all || f.highlight.ShowsAll(path)
	if length == 0 && !highlight {
		return text
	}
	ws := f.marker.analyzer.Split(text)
	marks := f.marker.marks(path, text, ws)
	from, to := 0, len(text)
	if length > 0 {
		from, to = window(text, ws, marks, length)
	}
	if from == 0 && to == len(text) && (!highlight || len(marks) == 0) {
		return text
	}
	if highlight && !f.spend(len(marks)*(len(f.pre)+len(f.post)), part) {
		return ""
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

// AppendString appends s as JSON that leaves the signs of HTML as they are.
func AppendString(dst []byte, s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic("search: encode a text: " + err.Error()) // texts always can be
	}
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}

// Format says how texts of hits are shown.
type Format struct {
	Highlight []string // attributes; with "*" all
	Crop      []string // attributes, each maybe with a length: `text:20`; with "*" all
	// CropLength is in words; nil: 10. 0 crops nothing.
	CropLength      *int
	CropMarker      *string // nil: "…"
	PreTag, PostTag *string // nil: "<em>" and "</em>"
	Positions       bool    // give the places of the words found
}
