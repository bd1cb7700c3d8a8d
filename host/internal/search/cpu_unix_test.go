//go:build unix

package search_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/highlight"
)

// cpu is the processor time that the process has taken so far.
func cpu(tb testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkTexts searches half of WordNet, 58,895 meanings, and reports the
// processor time of a query, collecting garbage included: the median and what
// one of a hundred takes more than.
func BenchmarkTexts(b *testing.B) {
	r := newRig(b)
	body := wordNet(b, 2)
	r.settings("words", `{"searchableAttributes":["title","definition"],"filterableAttributes":["kind","words"],"sortableAttributes":["words"]}`)
	before := cpu(b)
	r.add("words", string(body))
	n := r.search("words", search.Query{}).EstimatedTotalHits
	b.Logf("%d documents, %.0f a second of processor time", n, float64(n)/(cpu(b)-before).Seconds())
	queries := knownItems(b, body, 300)
	rng := rand.New(rand.NewPCG(5, 6))
	pick := func(kind string) func() search.Query {
		var of []string
		for _, k := range queries {
			if k.kind == kind {
				of = append(of, k.q)
			}
		}
		return func() search.Query { return search.Query{Q: of[rng.IntN(len(of))]} }
	}
	with := func(q func() search.Query, more func(*search.Query)) func() search.Query {
		return func() search.Query {
			out := q()
			more(&out)
			return out
		}
	}
	exact, typo := pick(exact), pick(typo)
	for _, bb := range []struct {
		name string
		q    func() search.Query
	}{
		{"exact", exact},
		{"typo", typo},
		{"prefix", pick(prefix)},
		{"cut to 60 %", pick(cut)},
		{"typo and prefix", pick(typoPrefix)},
		{"extra word", pick(extra)},
		{"phrase", with(exact, func(q *search.Query) { q.Q = `"` + q.Q + `"` })},
		{"filter", with(typo, func(q *search.Query) { q.Filter = filter("kind = noun AND words > 1") })},
		{"facets", with(typo, func(q *search.Query) { q.Facets = []string{"kind", "words"} })},
		{"sort", with(typo, func(q *search.Query) { q.Sort = []string{"words:desc"} })},
		{"distinct", with(typo, func(q *search.Query) { q.Distinct = "words" })},
		{"one attribute", with(typo, func(q *search.Query) { q.AttributesToSearchOn = []string{"title"} })},
		{"highlight and crop", with(typo, func(q *search.Query) {
			q.Format = highlight.Format{Highlight: []string{"*"}, Crop: []string{"definition"}}
		})},
		{"common words", func() search.Query {
			return search.Query{Q: strings.Join([]string{"of", "the", "or", "by"}[:1+rng.IntN(4)], " ") + " "}
		}},
		{"all", func() search.Query { return search.Query{} }},
		{"all, sorted, with facets", func() search.Query {
			return search.Query{Sort: []string{"words:desc"}, Facets: []string{"*"}}
		}},
	} {
		b.Run(strings.ReplaceAll(bb.name, " ", "-"), func(b *testing.B) {
			b.ReportAllocs()
			var took []time.Duration
			for b.Loop() {
				q := bb.q()
				start := cpu(b)
				if _, err := r.svc.Search(context.Background(), auth.Everyone(), "words", q); err != nil {
					b.Fatal(err)
				}
				took = append(took, cpu(b)-start)
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2].Seconds()*1000, "p50-ms")
			b.ReportMetric(took[len(took)*99/100].Seconds()*1000, "p99-ms")
		})
	}
}

// BenchmarkLarge searches 200,000 documents of about 200 bytes, and reports the processor
// time of a query, collecting garbage included: the median and what one of a hundred takes
// more than.
func BenchmarkLarge(b *testing.B) {
	r := newRig(b)
	r.settings("a", `{"searchableAttributes":["title","text"],"filterableAttributes":["kind","year"],"sortableAttributes":["year"]}`)
	r.add("a", synthetic(200_000))
	r.awaitMerges()
	rng := rand.New(rand.NewPCG(23, 24))
	some := func(n int) string { // of the 2000 most frequent words
		words := make([]string, n)
		for i := range words {
			words[i] = spell(uint64(rng.IntN(2000)))
		}
		return strings.Join(words, " ")
	}
	var common []string
	for k := range uint64(10) {
		common = append(common, spell(k))
	}
	for _, bb := range []struct {
		name string
		q    func() search.Query
	}{
		{"common-words", func() search.Query { return search.Query{Q: strings.Join(common, " ")} }},
		{"words", func() search.Query { return search.Query{Q: some(2)} }},
		{"sort", func() search.Query { return search.Query{Q: some(1), Sort: []string{"year:desc"}} }},
		{"placeholder-sort", func() search.Query { return search.Query{Sort: []string{"year:asc"}} }},
		{"facets", func() search.Query { return search.Query{Facets: []string{"kind", "year"}} }},
	} {
		b.Run(bb.name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				q, start := bb.q(), cpu(b)
				if _, err := r.svc.Search(context.Background(), auth.Everyone(), "a", q); err != nil {
					b.Fatal(err)
				}
				took = append(took, cpu(b)-start)
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2].Seconds()*1000, "p50-ms")
			b.ReportMetric(took[len(took)*99/100].Seconds()*1000, "p99-ms")
		})
	}
}
