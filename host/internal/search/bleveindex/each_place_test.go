package bleveindex

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	bleveapi "github.com/blevesearch/bleve_index_api"

	"github.com/parley-search/parley/host/internal/search/storage"
	"github.com/parley-search/parley/host/internal/search/text"
)

// A locatedField is FieldWords as layouts before firstPacked have it: with a
// location for each place, and how many they are as the frequency.
type locatedField struct{ *wordsField }

func (f *locatedField) AnalyzedTokenFrequencies() bleveapi.TokenFrequencies {
	out := bleveapi.TokenFrequencies{}
	for term, tf := range f.freqs {
		old := &bleveapi.TokenFreq{Term: tf.Term, Locations: tf.Locations}
		if len(tf.Locations) == 0 {
			unpackPlaces(uint64(tf.Frequency()), func(field, pos uint16) {
				old.Locations = append(old.Locations, &bleveapi.TokenLocation{Position: int(position(int(field), int(pos)))})
			})
		}
		old.SetFrequency(len(old.Locations))
		out[term] = old
	}
	return out
}

// TestEachPlace wants the places of words in documents of today's layout, and in
// those that a folder of an older one has and takes; read from the file, and kept.
func TestEachPlace(t *testing.T) {
	for _, layout := range []int{LayoutVersion, firstPacked - 1} {
		f, err := Create(t.TempDir(), &Schema{Analyzer: text.AnalyzerVersion, Layout: layout})
		if err != nil {
			t.Fatal(err)
		}
		const n = 300
		b := newDocBuilder(f.Schema, []string{"a", "b"})
		batch := f.idx.NewBatch()
		for i := range n {
			// The word stands i%20 times more in b, so often that some do not fit.
			body := fmt.Sprintf(`{"a":"one w","b":"%s"}`, strings.Repeat("w x y ", i%20))
			doc, err := b.build(storage.Document{ID: fmt.Sprint(i), Seq: uint64(i + 1), Body: []byte(body)})
			if err != nil {
				t.Fatal(err)
			}
			doc.VisitFields(func(f bleveapi.Field) { f.Analyze() })
			if layout < firstPacked && i%3 > 0 {
				for k, field := range doc.Fields {
					if w, ok := field.(*wordsField); ok {
						doc.Fields[k] = &locatedField{w}
					}
				}
			}
			if err := batch.IndexAdvanced(doc); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.idx.Batch(batch); err != nil {
			t.Fatal(err)
		}
		v, err := f.View(NewColumnCache(1 << 20))
		if err != nil {
			t.Fatal(err)
		}
		for _, docs := range [][]uint32{{0}, {17}, {3, 4, 5, 250, 299}, all(n), all(n), {3, 4, 5, 250, 299}} {
			got := make([][]uint32, len(docs))
			seg := &v.Segs[0]
			dict, err := seg.Dict(FieldWords)
			if err != nil {
				t.Fatal(err)
			}
			err = v.EachPlace(seg, dict, "w", roaring.BitmapOf(docs...), docs, func(i int, field, pos uint16) {
				got[i] = append(got[i], position(int(field), int(pos)))
			})
			if err != nil {
				t.Fatal(err)
			}
			for i, d := range docs {
				id, err := v.ID(d)
				if err != nil {
					t.Fatal(err)
				}
				var number int
				fmt.Sscan(id, &number)
				want := []uint32{position(0, 2)}
				for k := range number % 20 {
					want = append(want, position(1, 1+3*k))
				}
				if slices.Sort(got[i]); !slices.Equal(got[i], want) {
					t.Fatalf("layout %d, %d documents: document %s has the word at %x; want %x", layout, len(docs), id, got[i], want)
				}
			}
		}
		_, kept := v.columns.words.get(v.segmentKey(&v.Segs[0]), placesOf+"w")
		if want := layout == LayoutVersion; kept != want {
			t.Errorf("layout %d: places are kept: %v; want %v", layout, kept, want)
		}
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func all(n int) []uint32 {
	out := make([]uint32, n)
	for i := range out {
		out[i] = uint32(i)
	}
	return out
}
