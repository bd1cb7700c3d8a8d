package search_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime/pprof"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/highlight"
	"github.com/parley-search/parley/host/internal/search/write"
)

// synthetic makes n documents of words that are spread as words of a language
// are.
func synthetic(n int) string {
	rng := rand.New(rand.NewPCG(9, 10))
	zipf := rand.NewZipf(rng, 1.1, 4, 30_000)
	text := func(n int) string {
		ws := make([]string, n)
		for i := range ws {
			ws[i] = spell(zipf.Uint64())
		}
		return strings.Join(ws, " ")
	}
	return docsJSON(0, n, func(i int) string {
		return fmt.Sprintf(`"title":%q,"text":%q,"kind":"kind%d","year":%d,"_geo":{"lat":%.4f,"lng":%.4f}`,
			text(4), text(25), rng.IntN(30), 1900+rng.IntN(120), 180*rng.Float64()-90, 360*rng.Float64()-180)
	})
}

// spell returns the word of rank k.
func spell(k uint64) string {
	var b strings.Builder
	for i := 0; i < 3 || k > 0; i++ {
		b.WriteByte("bcdfghklmnprst"[k%14])
		k /= 14
		b.WriteByte("aeiou"[k%5])
		k /= 5
	}
	return b.String()
}

// awaitMerges waits until no segments are merged behind what was written.
func (r *rig) awaitMerges() {
	r.tb.Helper()
	waittest.For(r.tb, "segments are merged", func() bool {
		var all bytes.Buffer
		if err := pprof.Lookup("goroutine").WriteTo(&all, 1); err != nil {
			r.tb.Fatal(err)
		}
		return !strings.Contains(all.String(), "uniteBehind")
	})
}

// BenchmarkSearch searches 60,000 documents of about 200 bytes.
func BenchmarkSearch(b *testing.B) {
	r := newRig(b)
	r.settings("a", `{"searchableAttributes":["title","text"],"filterableAttributes":["kind","year"],"sortableAttributes":["year","_geo"],"synonyms":{"zzz":["yyy"]}}`)
	body := synthetic(60_000)
	r.add("a", body)
	r.awaitMerges()
	var docs []struct{ Title string }
	if err := json.Unmarshal([]byte(body), &docs); err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(11, 12))
	words := func() []string { return strings.Fields(docs[rng.IntN(len(docs))].Title) }
	benches := []struct {
		name string
		q    func() search.Query
	}{
		{"words", func() search.Query { w := words(); return search.Query{Q: w[0] + " " + w[1] + " "} }},
		{"prefix", func() search.Query { w := words(); return search.Query{Q: w[0] + " " + w[1][:4]} }},
		{"short-prefix", func() search.Query { w := words(); return search.Query{Q: w[0][:2]} }},
		{"typo", func() search.Query {
			w := words()
			return search.Query{Q: w[0] + " " + w[1][:2] + "x" + w[1][3:] + " "}
		}},
		{"filter", func() search.Query {
			w := words()
			return search.Query{Q: w[0] + " " + w[1], Filter: filter("kind = kind3 AND year 1950 TO 1990")}
		}},
		{"facets", func() search.Query {
			w := words()
			return search.Query{Q: w[0], Facets: []string{"kind", "year"}}
		}},
		{"sort", func() search.Query { w := words(); return search.Query{Q: w[0], Sort: []string{"year:desc"}} }},
		{"distinct", func() search.Query { w := words(); return search.Query{Q: w[0], Distinct: "kind"} }},
		{"format", func() search.Query {
			w := words()
			return search.Query{Q: w[0] + " " + w[1], Format: highlight.Format{Highlight: []string{"*"}, Crop: []string{"text"}, Positions: true}}
		}},
		{"attributes", func() search.Query {
			w := words()
			return search.Query{Q: w[0] + " " + w[1], AttributesToSearchOn: []string{"title"}}
		}},
		{"placeholder", func() search.Query { return search.Query{} }},
		{"placeholder-facets", func() search.Query { return search.Query{Facets: []string{"*"}} }},
		{"placeholder-sort", func() search.Query { return search.Query{Sort: []string{"year:asc"}} }},
		{"placeholder-geo", func() search.Query { return search.Query{Sort: []string{"_geoPoint(48.85, 2.35):asc"}} }},
	}
	for _, bb := range benches {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.svc.Search(context.Background(), auth.Everyone(), "a", bb.q()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("chat-indexes", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := r.svc.ChatIndexes(context.Background(), auth.Everyone(), nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkFacets counts the values of 100,000 documents, each with a name of its own and
// one of 30 kinds.
func BenchmarkFacets(b *testing.B) {
	r := newRig(b)
	r.settings("a", `{"searchableAttributes":["title"],"filterableAttributes":["name","kind","year"],"faceting":{"sortFacetValuesBy":{"kind":"count"}}}`)
	rng := rand.New(rand.NewPCG(13, 14))
	for from := 0; from < 100_000; from += 10_000 {
		r.add("a", docsJSON(from, 10_000, func(i int) string {
			return fmt.Sprintf(`"title":"t%d","name":"Name %x of many","kind":"kind%d","year":%d`, i%100, i*7919%100_003, rng.IntN(30), 1900+rng.IntN(120))
		}))
	}
	r.awaitMerges()
	facet := func(q search.FacetQuery) func() error {
		return func() error {
			_, err := r.svc.SearchFacet(context.Background(), auth.Everyone(), "a", q)
			return err
		}
	}
	whole := func(q search.Query) func() error {
		return func() error {
			_, err := r.svc.Search(context.Background(), auth.Everyone(), "a", q)
			return err
		}
	}
	for _, bb := range []struct {
		name string
		run  func() error
	}{
		{"search-empty", facet(search.FacetQuery{Facet: "name"})},
		{"search-begin", facet(search.FacetQuery{Facet: "name", Text: "name 12"})},
		{"all-names", whole(search.Query{Facets: []string{"name"}})},
		{"all-kinds", whole(search.Query{Facets: []string{"kind", "year"}})},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := bb.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkIndex adds documents in tasks of 1,000; an operation is a task.
func BenchmarkIndex(b *testing.B) {
	r := newRig(b)
	r.settings("a", `{"filterableAttributes":["kind","year"]}`)
	body := []byte(synthetic(1000))
	b.ReportAllocs()
	for b.Loop() {
		r.ok(write.AddDocuments("a", "", false, body))
	}
	b.ReportMetric(1000*float64(b.N)/b.Elapsed().Seconds(), "docs/s")
}
