package search_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/federate"
	"github.com/parley-search/parley/host/internal/search/highlight"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/write"
)

// An answerer asks one index of two that differ only in what the caller may not
// see, and says all that the caller is told.
type answerer struct {
	*rig
	caller *worldCaller
	uid    string
}

// say writes what was answered; the two indexes have names of the same length.
func (a *answerer) say(v any, err error) string {
	b, jsonErr := json.Marshal(v)
	if jsonErr != nil {
		a.tb.Fatal(jsonErr)
	}
	return strings.ReplaceAll(fmt.Sprintf("%s %v", b, err), a.uid, "index")
}

func (a *answerer) search(q search.Query) string {
	res, err := a.svc.Search(a.tb.Context(), a.caller.Caller, a.uid, q)
	if res != nil {
		res.ProcessingTime, res.Steps = 0, nil
	}
	return a.say(res, err)
}

func (a *answerer) federated(q search.Query) string {
	facets := map[string][]string{}
	if q.Facets != nil {
		facets[a.uid] = q.Facets
	}
	page, perPage := q.Page, q.HitsPerPage
	q.Facets, q.Limit, q.Page, q.HitsPerPage = nil, nil, nil, nil
	out := ""
	for _, merge := range []bool{false, true} {
		all := federate.Federation{FacetsByIndex: facets, MergeFacets: merge, Page: page, HitsPerPage: perPage}
		res, err := federate.New(federate.Options{Indexes: a.svc}).FederatedSearch(a.tb.Context(), a.caller.Caller, all, []federate.Query{{IndexUID: a.uid, Query: q}, {IndexUID: a.uid}})
		if res != nil {
			res.ProcessingTime, res.Steps = 0, nil
		}
		out += a.say(res, err)
	}
	return out
}

func (a *answerer) facetSearch(q search.FacetQuery) string {
	res, err := a.svc.SearchFacet(a.tb.Context(), a.caller.Caller, a.uid, q)
	if res != nil {
		res.ProcessingTime = 0
	}
	return a.say(res, err)
}

func (a *answerer) similar(q search.SimilarQuery) string {
	res, err := a.svc.Similar(a.tb.Context(), a.caller.Caller, a.uid, q)
	if res != nil {
		res.ProcessingTime, res.Steps = 0, nil
	}
	return a.say(res, err)
}

func (a *answerer) document(id string) string {
	d, err := a.svc.Document(a.tb.Context(), a.caller.Caller, a.uid, id, nil, true)
	return a.say(d, err)
}

func (a *answerer) told() string {
	list, err := a.svc.ChatIndexes(a.tb.Context(), a.caller.Caller, []string{a.uid})
	return a.say(list, err)
}

func (a *answerer) passages(q search.Query) string {
	found, err := a.svc.Passages(a.tb.Context(), a.caller.Caller, a.uid, q, 1000)
	return a.say(found, err)
}

func (a *answerer) chat(q, filter string) string {
	hits, err := a.svc.ChatSearch(a.tb.Context(), a.caller.Caller, a.uid, q, filter)
	return a.say(hits, err)
}

// TestNonInterference: documents that a caller may not see change no answer:
// neither hits, scores, counts and values, nor which fields there are, what a
// model is told, or what an error says.
func TestNonInterference(t *testing.T) {
	rounds := 2
	switch {
	case testing.Short():
		rounds = 1
	case os.Getenv("LONG") != "":
		rounds = 8 // more settings, and other documents
	}
	for round := range rounds {
		interfere(t, rand.New(rand.NewPCG(2026, uint64(round))))
	}
}

func interfere(t *testing.T, rng *rand.Rand) {
	r := newRig(t)
	words := &wordMaker{rng, strings.Fields("common solaris sun flower sea side night fall")}
	text := func() string { return words.text(2 + rng.IntN(6)) }
	vector := func() string { return fmt.Sprintf(`{"e":[%d,%d]}`, rng.IntN(20)-10, 1+rng.IntN(9)) }
	document := func(id, owner int) string {
		kinds := []string{"novel", "Novel", "NOVEL", "poem", "play"}
		return fmt.Sprintf(`{"id":"d%d","owner":%d,"kind":%q,"price":%d,"tags":{"t%d":%q,"t9":%d},"_geo":{"lat":%d,"lng":%d},"title":%q,"text":%q,"_vectors":%s`,
			id, owner, kinds[rng.IntN(len(kinds))], rng.IntN(50), rng.IntN(2), text(), rng.IntN(9), rng.IntN(60), rng.IntN(60), text(), text(), vector())
	}
	var seen, all []string
	for id := range 60 {
		if id%3 == 0 {
			d := document(id, 1) + "}"
			seen, all = append(seen, d), append(all, d)
			continue
		}
		if id == 1 { // more words that are like another than stand for it, and more that begin alike than are told apart
			all = append(all, document(id, 2)+fmt.Sprintf(`,"many":%q}`, words.crowd()+beginners()))
			continue
		}
		all = append(all, document(id, 2)+fmt.Sprintf(`,"hidden%d":"xyzzy %s","deep":{"hidden":%d},"tags2":{"u":"plugh"}}`, id%4, text(), 1000+id))
	}
	searchable := []string{`["*"]`, `["title","text"]`, `["title","text","hidden1"]`}[rng.IntN(3)]
	filterable := []string{
		`["*"]`, `["owner","kind","price","tags.*","hidden*","_geo"]`, `["owner","kind"]`,
		`[{"attributePatterns":["*"],"features":{"facetSearch":true,"filter":{"equality":true,"comparison":true}}}]`,
	}[rng.IntN(4)]
	most := []string{"", `"pagination":{"maxTotalHits":7},"faceting":{"maxValuesPerFacet":2},`, `"faceting":{"sortFacetValuesBy":{"*":"count"}},"distinctAttribute":"kind",`}[rng.IntN(3)]
	most += []string{
		"", `"typoTolerance":{"disableOnAttributes":["title"],"minWordSizeForTypos":{"oneTypo":3,"twoTypos":5}},`,
		`"synonyms":{"sea":["night fall","side"],"sun flower":["common"]},"stopWords":["sun"],`, `"proximityPrecision":"byAttribute","prefixSearch":"disabled",`,
		`"localizedAttributes":[{"attributePatterns":["title"],"locales":["deu"]},{"attributePatterns":["*"],"locales":["eng"]}],`,
		`"rankingRules":["exactness","proximity","attribute","typo","words","sort"],`,
	}[rng.IntN(6)]
	for uid, docs := range map[string][]string{"full1": all, "bare1": seen} {
		r.settings(uid, `{"searchableAttributes":`+searchable+`,"filterableAttributes":`+filterable+`,"sortableAttributes":["price","hidden1","_geo"],`+most+`"embedders":{"e":{"source":"userProvided","dimensions":2}},"chat":{"documentTemplate":"{{ doc.text }}"}}`)
		for some := range slices.Chunk(docs, 1+len(docs)/3) { // a segment each, maybe
			r.add(uid, "["+strings.Join(some, ",")+"]")
		}
		r.add(uid, "["+docs[0]+"]")
	}
	r.ok(write.DeleteDocuments("full1", []string{"d2", "d4"})) // hidden
	rule := `{"*":{"filter":"owner = 1"}}`
	c := &worldCaller{Caller: tenant(t, rule)}
	full, bare := &answerer{r, c, "full1"}, &answerer{r, c, "bare1"}
	compare := func(what string, ask func(a *answerer) string) {
		t.Helper()
		if got, want := ask(full), ask(bare); got != want {
			t.Errorf("searchable %s, filterable %s: %s\nwith hidden documents %.1500s\nwithout they say      %.1500s", searchable, filterable, what, got, want)
		}
	}
	names := []string{"hidden0", "hidden1", "hidden3", "deep", "deep.hidden", "tags", "tags.t0", "tags2", "tags2.u", "title", "kind", "price", "nobody", "*", "owner"}
	name := func() string { return names[rng.IntN(len(names))] }
	texts := []string{"", "xyzzy", "plugh", `"sea tea"`, "-common", "te", "so", "so common", "die Nachtblume im Garten", "which flowers are common"}
	filters := []string{"", "owner = 2", "owner != 1", "hidden1 EXISTS", "nobody EXISTS", "deep.hidden > 3", "NOT kind = novel", "price > 20", "tags.t0 EXISTS", "tags.t9 1 TO 5", "kind IN [novel, play]", "kind >", "_geoRadius(30, 30, 2000000)", "_geoBoundingBox([40, 40], [10, 10])"}
	for range 150 {
		typed := texts[rng.IntN(len(texts))]
		if rng.IntN(4) > 0 {
			typed = words.text(1 + rng.IntN(3))
		}
		q := search.Query{Q: typed, Limit: limit(30), ShowRankingScore: true, ShowRankingScoreDetails: true, RetrieveVectors: true}
		if f := filters[rng.IntN(len(filters))]; f != "" {
			q.Filter = filter(f)
		}
		switch rng.IntN(8) {
		case 0, 1:
			q.AttributesToSearchOn = []string{name(), name()}
		case 2, 3:
			q.Facets = []string{name()}
		case 4:
			q.Distinct = name()
		case 5:
			q.Sort = []string{[]string{name(), "_geoPoint(20, 20)"}[rng.IntN(2)] + ":asc"}
		case 6:
			ratio := float64(rng.IntN(3)) / 2
			q.Vector, q.Hybrid = []float32{1, 1}, &settings.Hybrid{Embedder: "e", SemanticRatio: &ratio}
		case 7:
			q.Format = highlight.Format{Highlight: []string{[]string{"*", name()}[rng.IntN(2)]}, Crop: []string{name()}, Positions: true}
			q.MatchingStrategy = []settings.Strategy{settings.All, settings.Frequency, settings.Last, settings.Any}[rng.IntN(4)]
		}
		if rng.IntN(4) == 0 {
			q.Facets = []string{"*"}
		}
		if rng.IntN(4) == 0 {
			q.RankingScoreThreshold = float64(1+rng.IntN(9)) / 10
		}
		switch rng.IntN(4) {
		case 0:
			q.Page, q.HitsPerPage = limit(1+rng.IntN(3)), limit(rng.IntN(6))
		case 1:
			q.Offset, q.Limit = rng.IntN(9), limit(4)
		}
		compare(fmt.Sprintf("search %+v", q), func(a *answerer) string { return a.search(q) })
		compare(fmt.Sprintf("federated %+v", q), func(a *answerer) string { return a.federated(q) })
		fq := search.FacetQuery{Facet: name(), Text: []string{"", "n", "novl", "xyz", "plugh", "10"}[rng.IntN(6)], Query: search.Query{Q: q.Q, Filter: q.Filter, AttributesToSearchOn: q.AttributesToSearchOn}}
		compare(fmt.Sprintf("facet search %+v", fq), func(a *answerer) string { return a.facetSearch(fq) })
		sq := search.SimilarQuery{ID: fmt.Sprintf("d%d", rng.IntN(63)), Embedder: "e", Filter: q.Filter, ShowRankingScoreDetails: true}
		compare(fmt.Sprintf("similar %+v", sq), func(a *answerer) string { return a.similar(sq) })
		compare("document "+sq.ID, func(a *answerer) string { return a.document(sq.ID) })
		f := filters[rng.IntN(len(filters))]
		compare(fmt.Sprintf("chat %q with %q", q.Q, f), func(a *answerer) string { return a.chat(q.Q, f) })
		compare(fmt.Sprintf("passages %+v", q), func(a *answerer) string { return a.passages(q) })
	}
	compare("what a model is told", func(a *answerer) string { return a.told() })
}

// A wordMaker makes words that are like others: joined, split, misspelt, or only their beginnings.
type wordMaker struct {
	rng   *rand.Rand
	words []string
}

func (m *wordMaker) text(n int) string {
	var out []string
	for range n {
		out = append(out, m.word())
	}
	return strings.Join(out, " ")
}

func (m *wordMaker) word() string {
	w := m.words[m.rng.IntN(len(m.words))]
	at := m.rng.IntN(len(w))
	switch m.rng.IntN(8) {
	case 0, 1:
		return w + m.words[m.rng.IntN(len(m.words))]
	case 6:
		w += m.words[m.rng.IntN(len(m.words))]
		return w[:at+1] + " " + w[at+1:]
	case 2:
		return w[:at] + " " + w[at:]
	case 3:
		return w[:at] + "x" + w[at+1:]
	case 4:
		return w[:at] + w[at+1:] + "s"
	case 5:
		return w[:at+1]
	}
	return w
}

// crowd makes the words that are "solaris" with a letter more or another one.
func (m *wordMaker) crowd() string {
	var out []string
	for at := range len("solaris") {
		for letter := 'a'; letter <= 'z'; letter++ {
			out = append(out, "solaris"[:at]+string(letter)+"solaris"[at:], "solaris"[:at]+string(letter)+"solaris"[at+1:])
		}
	}
	return strings.Join(out, " ")
}

// beginners are many words in front of "flower" that begin as it and its forms do.
func beginners() string {
	var out strings.Builder
	for i := range 5100 {
		fmt.Fprintf(&out, " flowe%04d", i)
	}
	return out.String()
}

// TestNonInterferenceOfWords: how a word is read depends on no document that the caller may
// not see: which two words it is split into, which words stand for it with typos, how many
// begin with it, whether it is known, and whether it is looked for with typos at all.
func TestNonInterferenceOfWords(t *testing.T) {
	crowd := (&wordMaker{}).crowd()
	text := func(texts ...string) (docs []string) {
		for _, t := range texts {
			docs = append(docs, fmt.Sprintf(`"text":%q`, t))
		}
		return docs
	}
	tests := []struct {
		name         string
		seen, hidden []string // members of documents
		q            search.Query
		want         string // ids
	}{
		{
			"split as most documents have it", text("sun flowers", "sunf lowers", "sun flowers"), text("sunf lowers", "sunf lowers", "sunf lowers"),
			search.Query{Q: "sunflowers"},
			"0 2",
		},
		{"the first words with a typo", text("szolaris"), text(crowd), search.Query{Q: "solaris"}, "0"},
		{"joined with a typo where no document has both", text("nightfal", "night"), text("night fall"), search.Query{Q: "night fall", MatchingStrategy: settings.All}, "0"},
		{
			"an attribute that is all words that are known",
			[]string{`"title":"common","text":"sollaris"`},
			text("solaris"),
			search.Query{Q: "common solaris", ShowRankingScoreDetails: true},
			"0",
		},
		{
			"how many words begin so", text("solar common", "solar x common"), text(crowd),
			search.Query{Q: "common so", ShowRankingScoreDetails: true},
			"0 1",
		},
		{
			"an attribute that nobody has", text("common"),
			[]string{`"text":"common","secret":1`},
			search.Query{Q: "common", Format: highlight.Format{Highlight: []string{"secret"}}},
			"0",
		},
		{
			"a stop word that begins with a word", text("the sea"), text("th"),
			search.Query{Q: "sea th", Format: highlight.Format{Highlight: []string{"*"}}},
			"0",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			var docs []string
			for i, members := range tt.seen {
				docs = append(docs, fmt.Sprintf(`{"id":%d,"owner":1,%s}`, i, members))
			}
			r.add("bare1", "["+strings.Join(docs, ",")+"]")
			for i, members := range tt.hidden {
				docs = append(docs, fmt.Sprintf(`{"id":%d,"owner":2,%s}`, 100+i, members))
			}
			r.add("full1", "["+strings.Join(docs, ",")+"]")
			for _, uid := range []string{"full1", "bare1"} {
				r.settings(uid, `{"filterableAttributes":["owner"],"stopWords":["the"]}`)
			}
			c := &worldCaller{Caller: tenant(t, `{"*":{"filter":"owner = 1"}}`)}
			full, bare := &answerer{r, c, "full1"}, &answerer{r, c, "bare1"}
			for _, all := range []bool{true, false} {
				q := tt.q
				if !all { // as far as the caller asks for some attributes
					q.AttributesToSearchOn = []string{"text"}
				}
				got, want := full.search(q), bare.search(q)
				if got != want {
					t.Errorf("with hidden documents %s\nwithout they say      %s", got, want)
				}
			}
			res, err := r.svc.Search(t.Context(), c.Caller, "full1", tt.q)
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, h := range res.Hits {
				ids = append(ids, h.ID)
			}
			if got := strings.Join(ids, " "); got != tt.want {
				t.Errorf("hits %q, want %q", got, tt.want)
			}
		})
	}
}

// TestNonInterferenceOfNearest: hidden vectors, however near, change no score, also where so
// many are kept that only the nearest are looked at closely.
func TestNonInterferenceOfNearest(t *testing.T) {
	r := newRig(t)
	const dims, seen, hidden = 16, 16_400, 1000
	r.settings("full1", fmt.Sprintf(`{"filterableAttributes":["owner"],"embedders":{"e":{"source":"userProvided","dimensions":%d}}}`, dims))
	rng := rand.New(rand.NewPCG(3, 8))
	nearest := 0.0
	r.add("full1", docsJSON(0, seen+hidden, func(i int) string {
		owner, first := 1, -5-i/100
		if i >= seen {
			owner, first = 2, 40
		}
		text, length := fmt.Sprint(first), float64(first*first)
		for range dims - 1 {
			n := rng.IntN(9) - 4
			text += fmt.Sprint(",", n)
			length += float64(n * n)
		}
		if owner == 1 {
			nearest = max(nearest, (1+float64(first)/math.Sqrt(length))/2)
		}
		return fmt.Sprintf(`"owner":%d,"_vectors":{"e":[%s]}`, owner, text)
	}))
	one := 1.0
	res, err := r.svc.Search(t.Context(), tenant(t, `{"*":{"filter":"owner = 1"}}`), "full1", search.Query{
		Vector: append([]float32{1}, make([]float32, dims-1)...), Hybrid: &settings.Hybrid{Embedder: "e", SemanticRatio: &one}, Limit: limit(3),
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Hits) != 3 || math.Abs(res.Hits[0].Score-nearest) > 1e-5 {
		t.Errorf("hits %+v, want the three nearest of those that the caller may see, the first with score %v", res.Hits, nearest)
	}
}

// TestNonInterferenceOfFrequency: which word is dropped first depends on the documents that
// the caller may see, though among all of them it is another.
func TestNonInterferenceOfFrequency(t *testing.T) {
	r := newRig(t)
	for uid, hidden := range map[string]int{"full1": 30, "bare1": 0} {
		var docs []string
		for i := range 15 + hidden {
			owner, word := 1, "sea"
			if i >= 10 {
				word = "tea"
			}
			if i >= 15 {
				owner = 2
			}
			docs = append(docs, fmt.Sprintf(`{"id":%d,"owner":%d,"text":%q}`, i, owner, word))
		}
		r.settings(uid, `{"filterableAttributes":["owner"]}`)
		r.add(uid, "["+strings.Join(docs, ",")+"]")
	}
	c := &worldCaller{Caller: tenant(t, `{"*":{"filter":"owner = 1"}}`)}
	full, bare := &answerer{r, c, "full1"}, &answerer{r, c, "bare1"}
	q := search.Query{Q: "sea tea", MatchingStrategy: settings.Frequency}
	got, want := full.search(q), bare.search(q)
	if got != want || !strings.Contains(got, `"tea"`) || strings.Contains(got, `"sea"`) {
		t.Errorf("with hidden documents %s\nwithout they say      %s\nwant the hits with tea, which is rarer, from both", got, want)
	}
}

// TestDistinctInOrder counts facets of more documents than are shown: of those that share
// a value the first inserted stands for it, however the index numbers them.
func TestDistinctInOrder(t *testing.T) {
	r := newRig(t)
	var docs []string
	for i := range 60 {
		docs = append(docs, fmt.Sprintf(`{"id":"d%02d","kind":"k%d"}`, i, i%5))
	}
	r.settings("a", `{"filterableAttributes":["id","kind"]}`)
	r.add("a", "["+strings.Join(docs, ",")+"]")
	res := r.search("a", search.Query{Distinct: "kind", Page: limit(1), HitsPerPage: limit(0), Facets: []string{"id"}})
	var got []string
	for _, v := range res.Facets[0].Values {
		got = append(got, v.Value)
	}
	if want := "d00 d01 d02 d03 d04"; strings.Join(got, " ") != want {
		t.Errorf("facets of %q, want of %s", got, want)
	}
}
