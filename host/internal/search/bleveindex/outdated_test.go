package bleveindex

import (
	"fmt"
	"strings"
	"testing"

	"github.com/blevesearch/bleve/v2/document"
	"github.com/parley-search/parley/host/internal/search/text"
)

// TestOutdatedFolder reads a folder of layout 3, whose facet keys had neither
// marks nor width, as if it was written today.
func TestOutdatedFolder(t *testing.T) {
	today := &Schema{Analyzer: text.AnalyzerVersion, Layout: LayoutVersion, Columns: []string{"n"}}
	old := *today
	old.Analyzer, old.Layout = oldestAnalyzer, oldestLayout
	if !old.Serves(today) || !old.Outdated(today) {
		t.Fatalf("serves %v, outdated %v; want both", old.Serves(today), old.Outdated(today))
	}
	f, err := Create(t.TempDir(), &old)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Remove() }()
	batch := f.idx.NewBatch()
	for i, value := range []string{"ano", "Año", "anb", "ano ", "ＡＮＯ"} {
		d := document.NewDocument(fmt.Sprint(i))
		field := &termsField{name: FieldText + "n", options: optTerms, terms: map[string]struct{}{}}
		field.add(text.Fold(strings.TrimSpace(value)) + "\x00" + value)
		d.AddField(field)
		if err := batch.IndexAdvanced(d); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.idx.Batch(batch); err != nil {
		t.Fatal(err)
	}
	v, err := f.View(NewColumnCache(ColumnBytes))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = v.Close() }()
	for prefix, want := range map[string]uint64{
		text.FacetKey("ano") + "\x00": 3, text.FacetKey("AÑO") + "\x00": 1, "an": 5, "x": 0,
	} {
		if docs, err := v.TextsFrom("n", prefix); err != nil || docs.GetCardinality() != want {
			t.Errorf("texts from %q: %v, %v; want %d", prefix, docs, err, want)
		}
	}
	if docs, err := v.TextRange("n", "", "", func(key string) bool { return key == text.FacetKey("año") }); err != nil || docs.GetCardinality() != 1 {
		t.Errorf("texts año: %v, %v; want 1", docs, err)
	}
	counts, err := v.CountValues("n", v.Live.ToArray(), nil)
	if err != nil || len(counts) != 3 {
		t.Errorf("counts %+v, %v; want those of anb, ano and año", counts, err)
	}
	c, err := v.TextColumn(&v.Segs[0], FieldText+"n")
	if err != nil || strings.Join(c.Keys, " ") != "anb ano ano ano "+text.FacetKey("año") {
		t.Errorf("keys %q, %v; want them in order", c.Keys, err)
	}
}
