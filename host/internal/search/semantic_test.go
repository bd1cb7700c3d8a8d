package search_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/write"
)

// points are documents with a place in the plane.
const points = `[
	{"id":1,"text":"north","kind":"a","_vectors":{"plane":[0,1]}},
	{"id":2,"text":"north east","kind":"b","_vectors":{"plane":[1,1]}},
	{"id":3,"text":"east","kind":"a","_vectors":{"plane":[1,0]}},
	{"id":4,"text":"south","kind":"b","_vectors":{"plane":[0,-1]}},
	{"id":5,"text":"nowhere in the north","kind":"a"}
]`

func newPoints(t *testing.T) *rig {
	r := newRig(t)
	r.settings("p", `{"searchableAttributes":["text"],"filterableAttributes":["kind"],"sortableAttributes":["id"],"embedders":{"plane":{"source":"userProvided","dimensions":2}}}`)
	r.add("p", points)
	return r
}

// plane looks for what is near a vector.
func plane(ratio float64, vector ...float32) search.Query {
	return search.Query{Vector: vector, Hybrid: &settings.Hybrid{Embedder: "plane", SemanticRatio: &ratio}}
}

func TestSemanticSearch(t *testing.T) {
	r := newPoints(t)
	check := func(name string, q search.Query, want string, total, semantic int) {
		t.Helper()
		res := r.search("p", q)
		var got []string
		for _, h := range res.Hits {
			got = append(got, h.ID)
		}
		n := -1
		if res.SemanticHits != nil {
			n = *res.SemanticHits
		}
		if s := strings.Join(got, " "); s != want || res.EstimatedTotalHits != total || n != semantic {
			t.Errorf("%s: %s of %d, %d by meaning; want %s of %d, %d", name, s, res.EstimatedTotalHits, n, want, total, semantic)
		}
	}
	q := plane(1, 0, 5)
	check("nearest, and one without a vector behind", q, "1 2 3 4 5", 5, 5)
	q.Limit, q.Offset = limit(2), 1
	check("a page of them", q, "2 3", 5, 2)
	q = plane(1, 0, 5)
	q.Filter = filter("kind = b")
	check("filtered", q, "2 4", 2, 2)
	q = plane(1, 0, 5)
	q.RankingScoreThreshold = 0.6
	check("above a threshold", q, "1 2", 2, 2)
	q = plane(1, 0, 5)
	q.Distinct = "kind"
	check("distinct", q, "1 2", 2, 2)
	q = plane(1, 0, 5)
	q.Q = "-east"
	check("without a word", q, "1 4 5", 3, 3)
	q = plane(0.5, 0, 5)
	check("no words: by meaning alone", q, "1 2 3 4 5", 5, 5)
	q = plane(0.5, -1, -0.2)
	q.Q = "east"
	check("words and meaning", q, "3 2 4 1 5", 5, 3)
	q = plane(0.9, 0, -1)
	q.Q = "east"
	check("meaning and few words", q, "4 3 2 1 5", 5, 5)
	q = plane(0, 0, 1)
	q.Q = "east"
	check("by words alone", q, "3 2", 2, -1)
	q = plane(0.5)
	check("neither words nor vector", q, "1 2 3 4 5", 5, -1)
	q = plane(0.5)
	q.Q = "east"
	check("words, and no vector for them", q, "3 2", 2, 0)
	q = plane(1, 0, 5)
	q.Facets = []string{"kind"}
	if f := r.search("p", q).Facets[0]; len(f.Values) != 2 || f.Values[0].Count != 3 || f.Values[1].Count != 2 {
		t.Errorf("facets = %+v, want all, those without vectors, too", f)
	}
	q = plane(1, 0, 5)
	q.ShowRankingScoreDetails = true
	h := r.search("p", q).Hits[1]
	if want := (1 + math.Sqrt2/2) / 2; math.Abs(h.Score-want) > 1e-6 || !strings.Contains(string(h.Details), `{"vectorSort":{"order":0,"similarity":0.85`) {
		t.Errorf("score %v, details %s; want %v", h.Score, h.Details, want)
	}
	// A rule that stands before those about texts stands before the meaning.
	r.settings("p", `{"rankingRules":["sort","words"]}`)
	q = plane(1, 0, 5)
	q.Sort = []string{"id:desc"}
	check("sort first", q, "5 4 3 2 1", 5, 5)
	// Scores are brought to where the embedder's are said to be.
	r.settings("p", `{"embedders":{"plane":{"distribution":{"mean":1,"sigma":0.1}}}}`)
	if got := r.search("p", plane(1, 0, 5)).Hits[0].Score; math.Abs(got-0.5) > 1e-6 {
		t.Errorf("score %v, want the mean, 0.5", got)
	}
}

func TestSemanticMistakes(t *testing.T) {
	r := newPoints(t)
	for name, tt := range map[string]struct {
		q    search.Query
		code apierr.Code
	}{
		"vector alone":      {search.Query{Vector: []float32{1, 2}}, searcherr.MissingSearchHybrid},
		"unknown embedder":  {search.Query{Q: "x", Hybrid: &settings.Hybrid{Embedder: "plain"}}, searcherr.InvalidSearchEmbedder},
		"no embedder":       {search.Query{Hybrid: &settings.Hybrid{}}, searcherr.InvalidSearchHybrid},
		"ratio":             {plane(1.1, 1, 2), searcherr.InvalidSearchSemanticRatio},
		"not a ratio":       {plane(math.NaN(), 1, 2), searcherr.InvalidSearchSemanticRatio},
		"dimensions":        {plane(1, 1, 2, 3), indexerr.InvalidVectorDimensions},
		"empty vector":      {search.Query{Vector: []float32{}, Hybrid: &settings.Hybrid{Embedder: "plane"}}, indexerr.InvalidVectorDimensions},
		"no vector for a q": {search.Query{Q: "x", Hybrid: &settings.Hybrid{Embedder: "plane", SemanticRatio: new(1.0)}}, indexerr.VectorEmbeddingError},
	} {
		_, err := r.svc.Search(context.Background(), auth.Everyone(), "p", tt.q)
		wantCode(t, name, err, tt.code)
	}
}

func TestHybridWithRestEmbedder(t *testing.T) {
	r := newRig(t)
	e := newEmbedder(t)
	r.settings("a", e.settings(""))
	r.add("a", `[{"id":1,"text":"sea"},{"id":2,"text":"war"},{"id":3,"text":"sea war"},{"id":4,"text":"peace"}]`)
	e.texts()
	half := 0.5
	q := search.Query{Q: "sea", Hybrid: &settings.Hybrid{Embedder: "api", SemanticRatio: &half}}
	res := r.search("a", q)
	if e.texts() != "sea" || *res.SemanticHits == 0 || res.Hits[0].ID != "1" {
		t.Errorf("hits = %+v, %d by meaning", res.Hits, *res.SemanticHits)
	}
	// While the embedder is down, words are better than nothing.
	e.fail(503)
	r.damaged = true // the log is told
	if res := r.search("a", q); res.SemanticHits == nil || *res.SemanticHits != 0 || len(res.Hits) == 0 {
		t.Errorf("while the embedder is down: %+v", res)
	}
	one := 1.0
	q.Hybrid.SemanticRatio = &one
	_, err := r.svc.Search(context.Background(), auth.Everyone(), "a", q)
	wantCode(t, "by meaning alone while the embedder is down", err, indexerr.VectorEmbeddingError)
}

// TestQueryVectors asks an embedder once for a query that comes again, as long
// as there is room and the embedder is set alike.
//
//parley:option experimental-embedding-cache-entries
func TestQueryVectors(t *testing.T) {
	for _, tt := range []struct {
		entries int
		queries string // in their order
		asked   string // of the embedder
	}{
		{0, "sea sea", "sea sea"},
		{1, "sea sea war sea", "sea war sea"},
		{2, "sea war sea peace war", "sea war peace war"}, // sea was used later than war
		{2, "sea | sea", "sea sea"},                       // | sets the embedder otherwise
	} {
		r := newRig(t)
		r.close()
		r.queryVectors = tt.entries
		r.open()
		e := newEmbedder(t)
		r.settings("a", e.settings(""))
		r.add("a", `[{"id":1,"text":"sea"}]`)
		e.texts()
		var asked []string
		for q := range strings.FieldsSeq(tt.queries) {
			if q == "|" {
				r.settings("a", `{"embedders":{"api":{"headers":{"X-Other":"1"}}}}`)
				e.texts()
				continue
			}
			r.search("a", search.Query{Q: q, Hybrid: &settings.Hybrid{Embedder: "api"}})
			asked = append(asked, strings.Fields(e.texts())...)
		}
		if got := strings.Join(asked, " "); got != tt.asked {
			t.Errorf("with room for %d the queries %q asked the embedder for %q, want %q", tt.entries, tt.queries, got, tt.asked)
		}
	}
}

// What was written is found at once, whatever is in memory, and what does not
// fit there is found all the same.
//
//parley:option max-vector-memory
func TestSemanticSearchFollowsWrites(t *testing.T) {
	for _, memory := range []int64{0, 1} {
		for _, binary := range []bool{false, true} {
			r := newRig(t)
			r.vectorMemory = memory
			r.reopen()
			const dims = 64
			r.settings("a", fmt.Sprintf(`{"filterableAttributes":["odd"],"embedders":{"e":{"source":"userProvided","dimensions":%d,"binaryQuantized":%v}}}`, dims, binary))
			rng := rand.New(rand.NewPCG(5, 5))
			live := map[string][]float32{}
			vec := func() []float32 {
				v := make([]float32, dims)
				for i := range v {
					v[i] = float32(rng.NormFloat64())
				}
				return v
			}
			likeness := func(a, b []float32) float64 {
				var dot, la, lb float64
				for i := range a {
					x, y := float64(a[i]), float64(b[i])
					if binary {
						x, y = math.Copysign(1, x), math.Copysign(1, y)
					}
					dot, la, lb = dot+x*y, la+x*x, lb+y*y
				}
				return dot / math.Sqrt(la*lb)
			}
			for round := range 6 {
				var docs []string
				for range 20 {
					id := rng.IntN(60)
					v := vec()
					live[fmt.Sprint(id)] = v
					docs = append(docs, fmt.Sprintf(`{"id":%d,"odd":%v,"_vectors":{"e":%s}}`, id, id%2 == 1, strings.ReplaceAll(fmt.Sprint(v), " ", ",")))
				}
				r.add("a", "["+strings.Join(docs, ",")+"]")
				gone := fmt.Sprint(rng.IntN(60))
				r.ok(write.DeleteDocuments("a", []string{gone}))
				delete(live, gone)
				if round == 3 {
					r.reopen()
				}
				for _, f := range []string{"", "odd = true"} {
					want := []string{}
					q := search.Query{Vector: vec(), Hybrid: &settings.Hybrid{Embedder: "e"}, Limit: limit(8)}
					if f != "" {
						q.Filter = filter(f)
					}
					for id := range live {
						if n := 0; f == "" || func() bool { fmt.Sscan(id, &n); return n%2 == 1 }() {
							want = append(want, id)
						}
					}
					slices.SortFunc(want, func(a, b string) int {
						if d := likeness(live[b], q.Vector) - likeness(live[a], q.Vector); d != 0 {
							return int(math.Copysign(1, d))
						}
						return 0
					})
					res := r.search("a", q)
					if res.EstimatedTotalHits != len(want) {
						t.Fatalf("memory %d, binary %v, round %d: %d hits in all, want %d", memory, binary, round, res.EstimatedTotalHits, len(want))
					}
					for i, h := range res.Hits {
						// Equal scores, which single bits often have, come in any order here.
						if d := likeness(live[h.ID], q.Vector) - likeness(live[want[i]], q.Vector); math.Abs(d) > 1e-5 {
							t.Fatalf("memory %d, binary %v, round %d: hit %d is %s, want %s", memory, binary, round, i, h.ID, want[i])
						}
					}
				}
				if bytes, most := r.svc.VectorMemory(); bytes > most || bytes == 0 && memory == 0 {
					t.Fatalf("memory %d, binary %v, round %d: vectors take %d bytes of %d", memory, binary, round, bytes, most)
				}
			}
			r.close()
		}
	}
}

func TestSemanticRights(t *testing.T) {
	r := newPoints(t)
	c := tenant(t, `{"p":{"filter":"kind = a"}}`)
	q := plane(1, 0, 5)
	q.RetrieveVectors = true
	res, err := r.svc.Search(context.Background(), c, "p", q)
	if err != nil || len(res.Hits) != 3 || res.EstimatedTotalHits != 3 {
		t.Fatalf("Search = %+v, %v; want the three of kind a", res, err)
	}
	if got := string(res.Hits[0].Document); got != `{"id":1,"text":"north","kind":"a","_vectors":{"plane":{"embeddings":[[0,1]],"regenerate":false}}}` {
		t.Errorf("hit = %s", got)
	}
	_, err = r.svc.Similar(context.Background(), c, "p", search.SimilarQuery{ID: "2", Embedder: "plane"})
	wantCode(t, "like a hidden document", err, searcherr.NotFoundSimilarID)
	res, err = r.svc.Similar(context.Background(), c, "p", search.SimilarQuery{ID: "1", Embedder: "plane"})
	if err != nil || len(res.Hits) != 1 || res.Hits[0].ID != "3" {
		t.Errorf("Similar = %+v, %v; want the other one of kind a", res, err)
	}
	res, err = r.svc.Similar(context.Background(), auth.Everyone(), "p", search.SimilarQuery{ID: "5", Embedder: "plane"})
	if err != nil || len(res.Hits) != 0 || res.EstimatedTotalHits != 4 {
		t.Errorf("like one without a vector: %+v, %v; want none of the four others", res, err)
	}
	r.settings("p", `{"displayedAttributes":["text"]}`)
	res, err = r.svc.Search(context.Background(), c, "p", q)
	if err != nil || string(res.Hits[0].Document) != `{"text":"north"}` {
		t.Errorf("hit = %+v, %v; want no vectors, which are not displayed", res, err)
	}
}
