package search

import (
	"encoding/binary"
	"strings"

	"github.com/blevesearch/bleve/v2/document"
	bleveapi "github.com/blevesearch/bleve_index_api"
)

// The fields of a bleve document. A change to what they hold raises
// layoutVersion.
const (
	// fieldWords holds the words of all searchable attributes. Attribute and
	// place travel in the position (see position): one dictionary to look
	// through for a word, whatever the number of attributes.
	fieldWords = "_w"
	// fieldWhole holds short values whole, as wholeTerm writes them, for hits
	// that are exactly what was asked.
	fieldWhole = "_x"
	// fieldSeq holds [Document.Seq] as appendNumber writes it.
	fieldSeq = "_s"
	// The paths, of attributes with a column, that a document has, that are null
	// there, and that are "", [] or {} there.
	fieldExists = "_e"
	fieldNull   = "_z"
	fieldEmpty  = "_0"
	// fieldText and a path hold the scalars there, of such an attribute, as facetTerm
	// writes them; fieldNumber and a path hold the numbers among them.
	fieldText   = "f:"
	fieldNumber = "n:"
)

const (
	optWords   = bleveapi.IndexField | bleveapi.IncludeTermVectors
	optTerms   = bleveapi.IndexField | bleveapi.SkipFreqNorm
	optColumns = bleveapi.IndexField | bleveapi.SkipFreqNorm | bleveapi.DocValues
)

const (
	maxPosition  = 1<<16 - 1
	maxWhole     = 100 // bytes of a value in fieldWhole
	maxFacetTerm = 400 // bytes of each half of a facet term
)

// position packs an attribute's number and a word's place in it.
func position(field, pos int) int { return field<<16 | min(pos, maxPosition) }

// A wordsField is fieldWords of one document. It implements [bleveapi.Field].
type wordsField struct {
	analyzer *analyzer
	texts    []fieldTextOf
	freqs    bleveapi.TokenFrequencies
	n        int
	bytes    uint64
}

// A fieldTextOf is one searchable value.
type fieldTextOf struct {
	field   int // number
	text    string
	tongues tongueSet
}

func (f *wordsField) Name() string                                        { return fieldWords }
func (f *wordsField) Value() []byte                                       { return nil }
func (f *wordsField) ArrayPositions() []uint64                            { return nil }
func (f *wordsField) EncodedFieldType() byte                              { return 't' }
func (f *wordsField) Options() bleveapi.FieldIndexingOptions              { return optWords }
func (f *wordsField) AnalyzedLength() int                                 { return f.n }
func (f *wordsField) AnalyzedTokenFrequencies() bleveapi.TokenFrequencies { return f.freqs }
func (f *wordsField) NumPlainTextBytes() uint64                           { return f.bytes }
func (f *wordsField) Size() int                                           { return int(f.bytes) }

// Analyze implements [bleveapi.Field]. The second call, by bleve, does nothing:
// see [folderWriter.build].
func (f *wordsField) Analyze() {
	if f.freqs != nil {
		return
	}
	f.freqs = make(bleveapi.TokenFrequencies)
	last := map[int]int{} // field -> the last position in it
	for _, t := range f.texts {
		base := last[t.field]
		if base > 0 {
			base += sentenceGap - 1
		}
		for _, w := range f.analyzer.words(t.text) {
			for _, form := range w.spelled() {
				if form.in&t.tongues != 0 {
					f.place(form.term, &bleveapi.TokenLocation{Start: w.start, End: w.end, Position: position(t.field, base+w.pos)})
				}
			}
			last[t.field] = base + w.pos
		}
	}
}

// place adds a place of a term.
func (f *wordsField) place(term string, at *bleveapi.TokenLocation) {
	tf := f.freqs[term]
	if tf == nil {
		tf = &bleveapi.TokenFreq{Term: []byte(term)}
		f.freqs[term] = tf
	}
	tf.Locations = append(tf.Locations, at)
	tf.SetFrequency(tf.Frequency() + 1)
	f.n++
}

// A termsField is a field of ready terms. It implements [bleveapi.Field].
type termsField struct {
	name    string
	options bleveapi.FieldIndexingOptions
	terms   map[string]struct{}
	freqs   bleveapi.TokenFrequencies
	bytes   uint64
}

func (f *termsField) Name() string                                        { return f.name }
func (f *termsField) Value() []byte                                       { return nil }
func (f *termsField) ArrayPositions() []uint64                            { return nil }
func (f *termsField) EncodedFieldType() byte                              { return 't' }
func (f *termsField) Options() bleveapi.FieldIndexingOptions              { return f.options }
func (f *termsField) AnalyzedLength() int                                 { return len(f.freqs) }
func (f *termsField) AnalyzedTokenFrequencies() bleveapi.TokenFrequencies { return f.freqs }
func (f *termsField) NumPlainTextBytes() uint64                           { return f.bytes }
func (f *termsField) Size() int                                           { return int(f.bytes) }

// Analyze implements [bleveapi.Field], as that of wordsField does.
func (f *termsField) Analyze() {
	if f.freqs != nil {
		return
	}
	f.freqs = make(bleveapi.TokenFrequencies, len(f.terms))
	for t := range f.terms {
		tf := &bleveapi.TokenFreq{Term: []byte(t)}
		tf.SetFrequency(1)
		f.freqs[t] = tf
	}
}

func (f *termsField) add(term string) {
	f.terms[term] = struct{}{}
	f.bytes += uint64(len(term))
}

// A docBuilder makes bleve documents of one schema.
type docBuilder struct {
	schema   *schema
	analyzer *analyzer
	number   map[string]int // of each field
}

func newDocBuilder(sc *schema, fields []string) *docBuilder {
	b := &docBuilder{sc, sc.analyzer(), make(map[string]int, len(fields))}
	for i, f := range fields {
		b.number[f] = i
	}
	return b
}

// build returns the bleve document of d.
func (b *docBuilder) build(d Document) *document.Document {
	out := document.NewDocument(d.ID)
	w := &wordsField{analyzer: b.analyzer}
	fields := map[string]*termsField{}
	field := func(name string, o bleveapi.FieldIndexingOptions) *termsField {
		f := fields[name]
		if f == nil {
			f = &termsField{name: name, options: o, terms: map[string]struct{}{}}
			fields[name] = f
		}
		return f
	}
	field(fieldSeq, optColumns).add(string(appendNumber(nil, float64(d.Seq))))
	walk("", d.Body, func(path string, v []byte) {
		text, scalar := scalarText(v)
		if scalar && text != "" && b.schema.searchable(path) {
			in := b.schema.Localized.of(path)
			w.texts = append(w.texts, fieldTextOf{b.number[path], text, in})
			w.bytes += uint64(len(text))
			for _, whole := range b.analyzer.whole(text) {
				if whole.in&in != 0 {
					field(fieldWhole, optTerms).add(wholeTerm(whole.term, b.number[path]))
				}
			}
		}
		if !b.schema.column(path) {
			return
		}
		field(fieldExists, optTerms).add(path)
		switch {
		case v[0] == 'n':
			field(fieldNull, optTerms).add(path)
		case empty(v):
			field(fieldEmpty, optTerms).add(path)
		}
		if scalar {
			field(fieldText+path, optTerms).add(facetTerm(text))
		}
		num := number
		if path == geoLat || path == geoLng {
			num = placePart
		}
		if f, ok := num(v); ok {
			field(fieldNumber+path, optColumns).add(string(appendNumber(nil, f)))
		}
	})
	out.AddField(w)
	for _, f := range fields {
		out.AddField(f)
	}
	return out
}

// scalarText returns a string, number or boolean as text.
func scalarText(v []byte) (string, bool) {
	switch v[0] {
	case '"':
		return unquote(v), true
	case '{', '[', 'n':
		return "", false
	case 't', 'f':
		return string(v), true
	}
	if f, ok := number(v); ok {
		return numberText(f), true
	}
	return string(v), true
}

// empty reports whether v is "", [] or {}.
func empty(v []byte) bool {
	switch v[0] {
	case '"':
		return len(v) == 2
	case '[', '{':
		return skipSpace(v, 1) == len(v)-1
	}
	return false
}

// whole is a text as words with spaces between; none where it is too long.
func (a *analyzer) whole(text string) []form {
	if len(text) > maxWhole {
		return nil
	}
	ws := a.words(text)
	if len(ws) == 0 {
		return nil
	}
	return joined(ws, " ")
}

// wholeTerm is a whole text of a field as fieldWhole has it: the text, a zero
// byte, and the field's number in two bytes.
func wholeTerm(text string, field int) string {
	return text + string([]byte{0, byte(field >> 8), byte(field)})
}

// wholeField returns the number of the field of a wholeTerm.
func wholeField(term string) uint16 {
	n := len(term)
	return uint16(term[n-2])<<8 | uint16(term[n-1])
}

func joinWords(ws []word) string {
	terms := make([]string, len(ws))
	for i, w := range ws {
		terms[i] = w.term
	}
	return strings.Join(terms, " ")
}

// facetTerm is a value as fieldText has it: what it is compared by, a zero
// byte, and the value as it was written, for showing.
func facetTerm(text string) string {
	return facetKey(text) + "\x00" + clip(text, maxFacetTerm)
}

// facetKey is what a value is compared by.
func facetKey(text string) string {
	return clip(strings.ReplaceAll(fold(strings.TrimSpace(text)), "\x00", " "), maxFacetTerm)
}

// internal keys of a folder.
var (
	keySchema = []byte("schema")
	keyNext   = []byte("next")
)

func encodeNext(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }
