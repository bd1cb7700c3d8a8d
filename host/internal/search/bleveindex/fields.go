package bleveindex

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/blevesearch/bleve/v2/document"
	bleveapi "github.com/blevesearch/bleve_index_api"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/search/attribute"
	"github.com/parley-search/parley/host/internal/search/storage"
	"github.com/parley-search/parley/host/internal/search/text"
)

// The fields of a bleve document. A change to what they hold raises
// LayoutVersion.
const (
	// FieldWords holds the words of all searchable attributes. Attribute and
	// place travel in the position (see position): one dictionary to look
	// through for a word, whatever the number of attributes.
	FieldWords = "_w"
	// FieldWhole holds short values whole, as wholeTerm writes them, of fields that
	// have no other, for hits that are exactly what was asked.
	FieldWhole = "_x"
	// FieldSeq holds [Document.Seq] as AppendNumber writes it.
	FieldSeq = "_s"
	// The paths, of attributes with a column, that a document has, that are null
	// there, and that are "", [] or {} there.
	fieldExists = "_e"
	fieldNull   = "_z"
	fieldEmpty  = "_0"
	// FieldText and a path hold the scalars there, of such an attribute, as text.FacetTerm
	// writes them; fieldNumber and a path hold the numbers among them.
	FieldText   = "f:"
	fieldNumber = "n:"
)

const (
	optWords   = bleveapi.IndexField | bleveapi.IncludeTermVectors
	optTerms   = bleveapi.IndexField | bleveapi.SkipFreqNorm
	optColumns = bleveapi.IndexField | bleveapi.SkipFreqNorm | bleveapi.DocValues
)

const maxPosition = 1<<16 - 1

// position packs an attribute's number and a word's place in it.
func position(field, pos int) uint32 { return uint32(field<<16 | min(pos, maxPosition)) }

// A wordsField is FieldWords of one document. It implements [bleveapi.Field].
type wordsField struct {
	analyzer *text.Analyzer
	texts    []textOf
	freqs    bleveapi.TokenFrequencies
	bytes    uint64
}

// A textOf is one searchable value.
type textOf struct {
	field     int // number
	text      string
	alphabets text.AlphabetSet
}

func (f *wordsField) Name() string                                        { return FieldWords }
func (f *wordsField) Value() []byte                                       { return nil }
func (f *wordsField) ArrayPositions() []uint64                            { return nil }
func (f *wordsField) EncodedFieldType() byte                              { return 't' }
func (f *wordsField) Options() bleveapi.FieldIndexingOptions              { return optWords }
func (f *wordsField) AnalyzedLength() int                                 { return 1 } // kept with each word, and not used
func (f *wordsField) AnalyzedTokenFrequencies() bleveapi.TokenFrequencies { return f.freqs }
func (f *wordsField) NumPlainTextBytes() uint64                           { return f.bytes }
func (f *wordsField) Size() int                                           { return int(f.bytes) }

// Analyze implements [bleveapi.Field]. The second call, by bleve, does nothing:
// see [Writer.build].
func (f *wordsField) Analyze() {
	if f.freqs != nil {
		return
	}
	var words []wordPlaces
	number := map[string]int{} // of a term among words
	last := map[int]int{}      // field -> the last position in it
	for _, t := range f.texts {
		base := last[t.field]
		if base > 0 {
			base += text.SentenceGap - 1
		}
		for _, w := range f.analyzer.Split(t.text) {
			if w.Stop {
				continue
			}
			at := position(t.field, base+w.Pos)
			for _, form := range w.Spellings() {
				if form.In&t.alphabets == 0 {
					continue
				}
				if n, ok := number[form.Term]; ok {
					words[n].more = append(words[n].more, at)
				} else {
					number[form.Term] = len(words)
					words = append(words, wordPlaces{term: form.Term, first: at})
				}
			}
			last[t.field] = base + w.Pos
		}
	}
	f.freqs = make(bleveapi.TokenFrequencies, len(words))
	all := make([]bleveapi.TokenFreq, len(words))
	var scratch []uint32
	for i := range words {
		scratch = words[i].frequency(&all[i], scratch)
		f.freqs[words[i].term] = &all[i]
	}
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
	schema   *Schema
	analyzer *text.Analyzer
	number   map[string]int // of each field
	paths    []string       // by number
}

func newDocBuilder(sc *Schema, fields []string) *docBuilder {
	b := &docBuilder{sc, sc.analyzer(), make(map[string]int, len(fields)), fields}
	for i, f := range fields {
		b.number[f] = i
	}
	return b
}

// ErrUnknownField is in the error of a document with a searchable field that has no number:
// the record that the folder is written for is of an earlier moment than the document.
var ErrUnknownField = errors.New("a field of the document is not in the record of the index")

// build returns the bleve document of d. The error is [ErrUnknownField].
func (b *docBuilder) build(d storage.Document) (_ *document.Document, err error) {
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
	wholes := map[int][]text.Form{} // by the number of the field
	field(FieldSeq, optColumns).add(string(AppendNumber(nil, float64(d.Seq))))
	rawjson.Walk("", d.Body, func(path string, v []byte) {
		value, scalar := rawjson.ScalarText(v)
		if scalar && value != "" && b.schema.searchable(path) {
			n, known := b.number[path]
			if !known {
				err = fmt.Errorf("%w: %.200q of %d fields", ErrUnknownField, path, len(b.paths))
				return
			}
			w.texts = append(w.texts, textOf{n, value, b.schema.Localized.Alphabets(path)})
			w.bytes += uint64(len(value))
			if _, several := wholes[n]; several {
				wholes[n] = nil // the field is none of them as a whole
			} else {
				wholes[n] = b.analyzer.Whole(value)
			}
		}
		if !b.schema.column(path) {
			return
		}
		field(fieldExists, optTerms).add(path)
		switch {
		case v[0] == 'n':
			field(fieldNull, optTerms).add(path)
		case rawjson.IsEmpty(v):
			field(fieldEmpty, optTerms).add(path)
		}
		if scalar {
			field(FieldText+path, optTerms).add(text.FacetTerm(value))
		}
		num := rawjson.Number
		if path == attribute.GeoLat || path == attribute.GeoLng {
			num = attribute.Coordinate
		}
		if f, ok := num(v); ok {
			field(fieldNumber+path, optColumns).add(string(AppendNumber(nil, f)))
		}
	})
	if err != nil {
		return nil, err
	}
	for n, forms := range wholes {
		for _, whole := range forms {
			if whole.In&b.schema.Localized.Alphabets(b.paths[n]) != 0 {
				field(FieldWhole, optTerms).add(wholeTerm(whole.Term, n))
			}
		}
	}
	out.AddField(w)
	for _, f := range fields {
		out.AddField(f)
	}
	return out, nil
}

// wholeTerm is a whole text of a field as FieldWhole has it: the text, a zero
// byte, and the field's number in two bytes.
func wholeTerm(value string, field int) string {
	return value + string([]byte{0, byte(field >> 8), byte(field)})
}

// WholeField returns the number of the field of a wholeTerm.
func WholeField(term string) uint16 {
	n := len(term)
	return uint16(term[n-2])<<8 | uint16(term[n-1])
}

// internal keys of a folder.
var (
	keySchema = []byte("schema")
	keyNext   = []byte("next")
	keyUnited = []byte("united") // written behind a merge, see [Folder.Unite]
)

func encodeNext(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }
