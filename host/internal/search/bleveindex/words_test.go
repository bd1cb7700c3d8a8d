package bleveindex

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/search/storage"
	"github.com/parley-search/parley/host/internal/search/text"
)

// TestEachWords wants the words of a segment from "a" on, in order, whether they are kept or read in parts, without those
// of two lines, as settings may have them.
func TestEachWords(t *testing.T) {
	f, err := Create(t.TempDir(), &Schema{Analyzer: text.AnalyzerVersion, Layout: LayoutVersion, Dictionary: []string{"z\na"}})
	if err != nil {
		t.Fatal(err)
	}
	b := newDocBuilder(f.Schema, []string{"a"})
	batch := f.idx.NewBatch()
	doc, err := b.build(storage.Document{ID: "1", Seq: 1, Body: []byte(`{"a":"42 über b aa Ab 7 a c z\na"}`)})
	if err != nil {
		t.Fatal(err)
	}
	if err := batch.IndexAdvanced(doc); err != nil {
		t.Fatal(err)
	}
	if err := f.idx.Batch(batch); err != nil {
		t.Fatal(err)
	}
	for _, room := range []int{1 << 20, 1} {
		v, err := f.View(NewColumnCache(room))
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			var got []string
			if err := v.EachWords(&v.Segs[0], func(words string) error {
				got = append(got, words)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			const want = "[\na\naa\nab\nb\nc\nuber\n]"
			if fmt.Sprint(got) != want {
				t.Errorf("with room for %d bytes the words are %q, want %q", room, got, want)
			}
		}
		dict, err := v.Segs[0].Dict(FieldWords)
		if err != nil {
			t.Fatal(err)
		}
		all := ""
		for low := []byte("a"); ; {
			words, err := readWords(dict, low, 4)
			if err != nil {
				t.Fatal(err)
			}
			if words == "\n" {
				break
			}
			all += words
			fields := strings.Fields(words)
			low = append([]byte(fields[len(fields)-1]), 0)
		}
		if got := strings.Join(strings.Fields(all), " "); got != "a aa ab b c uber" {
			t.Errorf("in parts the words are %q", got)
		}
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	}
}
