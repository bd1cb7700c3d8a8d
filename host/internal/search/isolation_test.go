package search_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/federate"
	"github.com/parley-search/parley/host/internal/search/highlight"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// A world is indexes whose every text, facet value and id tells whose it is.
type world struct {
	*rig
	keys    *auth.Service
	indexes map[string][]worldDoc
}

type worldDoc struct {
	index        string
	id           int
	owner, price int
	secret, kind string // secret stands in no other document; kind in those of one owner
}

const worldSize = 40 // documents of an index

func newWorld(t *testing.T) *world {
	w := &world{rig: newRig(t), indexes: map[string][]worldDoc{}}
	for _, uid := range []string{"shop", "shop-old", "notes", "private"} {
		w.settings(uid, `{"filterableAttributes":["owner","price","kind"],"sortableAttributes":["price"],"embedders":{"e":{"source":"userProvided","dimensions":2}},
			"chat":{"documentTemplate":"{{ doc.text }} {{ doc.kind }}"}}`)
		name := strings.ReplaceAll(uid, "-", "")
		var docs []string
		for id := range worldSize {
			d := worldDoc{index: uid, id: id, owner: id % 4, price: id * 7 % worldSize}
			d.secret = fmt.Sprintf("s%sx%dx", name, id)
			d.kind = fmt.Sprintf("k%so%dn%dk", name, d.owner, id%3)
			w.indexes[uid] = append(w.indexes[uid], d)
			docs = append(docs, fmt.Sprintf(`{"id":"d-%s-%d","owner":%d,"price":%d,"kind":%q,"text":"common words of %s","_vectors":{"e":[%d,%d]}}`,
				name, id, d.owner, d.price, d.kind, d.secret, id-20, id%7-3))
		}
		w.add(uid, "["+strings.Join(docs, ",")+"]")
	}
	var err error
	if w.keys, err = auth.Open(t.Context(), w.store, auth.Options{MasterKey: "a master key of sixteen"}); err != nil {
		t.Fatal(err)
	}
	return w
}

func (d *worldDoc) docID() string {
	return fmt.Sprintf("d-%s-%d", strings.ReplaceAll(d.index, "-", ""), d.id)
}

// A worldRule is a filter of a token, and what it means.
type worldRule struct {
	filter any // nil: none
	holds  func(d *worldDoc) bool
}

func randomRule(rng *rand.Rand) worldRule {
	n, m := rng.IntN(5), rng.IntN(worldSize)
	switch rng.IntN(6) {
	case 0:
		return worldRule{nil, func(*worldDoc) bool { return true }}
	case 1:
		return worldRule{fmt.Sprintf("owner = %d", n), func(d *worldDoc) bool { return d.owner == n }}
	case 2:
		return worldRule{fmt.Sprintf("owner != %d AND price >= %d", n, m), func(d *worldDoc) bool { return d.owner != n && d.price >= m }}
	case 3:
		return worldRule{[]any{[]any{"owner = 0", fmt.Sprintf("owner = %d", n)}, fmt.Sprintf("price < %d", m)}, func(d *worldDoc) bool { return (d.owner == 0 || d.owner == n) && d.price < m }}
	case 4:
		return worldRule{fmt.Sprintf("NOT (owner IN [%d, 2] OR price %d TO %d)", n, m, m+5), func(d *worldDoc) bool { return d.owner != n && d.owner != 2 && (d.price < m || d.price > m+5) }}
	}
	return worldRule{[]any{"owner EXISTS"}, func(*worldDoc) bool { return true }}
}

// A worldCaller is a key, maybe with a token over it, and what it may see.
type worldCaller struct {
	*auth.Caller
	says string
	sees func(d *worldDoc) bool
	uids []string // of the indexes it may use
}

func (w *world) caller(rng *rand.Rand) *worldCaller {
	w.tb.Helper()
	patterns := []string{"*", "shop", "shop*", "notes", "private", "n*"}
	rng.Shuffle(len(patterns), func(i, j int) { patterns[i], patterns[j] = patterns[j], patterns[i] })
	allowed := slices.Clone(patterns[:1+rng.IntN(3)])
	k, err := w.keys.Create(w.tb.Context(), auth.Everyone(), auth.Draft{Actions: []string{"search", "chatCompletions", "documents.get"}, Indexes: allowed})
	if err != nil {
		w.tb.Fatal(err)
	}
	token, rules := w.keys.Value(&k), map[string]worldRule{"*": {nil, func(*worldDoc) bool { return true }}}
	if rng.IntN(4) > 0 {
		clear(rules)
		claim := map[string]any{}
		for _, p := range patterns[:rng.IntN(len(patterns))] {
			r := randomRule(rng)
			rules[p] = r
			claim[p] = nil
			if r.filter != nil {
				claim[p] = map[string]any{"filter": r.filter}
			}
		}
		if token, err = jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"apiKeyUid": k.UID, "searchRules": claim}).SignedString([]byte(token)); err != nil {
			w.tb.Fatal(err)
		}
	}
	c := &worldCaller{says: fmt.Sprintf("key %v, rules %v", allowed, rules)}
	if c.Caller, err = w.keys.Authenticate("Bearer " + token); err != nil {
		w.tb.Fatal(err)
	}
	rule := func(uid string) (worldRule, bool) {
		best, found := "", false
		for p := range rules {
			if p == uid {
				return rules[p], true
			}
			if prefix, ok := strings.CutSuffix(p, "*"); ok && strings.HasPrefix(uid, prefix) && (!found || len(p) > len(best)) {
				best, found = p, true
			}
		}
		return rules[best], found
	}
	for uid := range w.indexes {
		_, ok := rule(uid)
		if ok && slices.ContainsFunc(allowed, func(p string) bool {
			prefix, cut := strings.CutSuffix(p, "*")
			return p == uid || cut && strings.HasPrefix(uid, prefix)
		}) {
			c.uids = append(c.uids, uid)
		}
	}
	slices.Sort(c.uids)
	c.sees = func(d *worldDoc) bool {
		r, _ := rule(d.index)
		return slices.Contains(c.uids, d.index) && r.holds(d)
	}
	return c
}

// clean fails where out has a word of a document that c does not see.
func (w *world) clean(c *worldCaller, what string, out any) {
	w.tb.Helper()
	b, err := json.Marshal(out)
	if err != nil {
		w.tb.Fatal(err)
	}
	text, kinds := string(b), map[string]bool{}
	for _, docs := range w.indexes {
		for i := range docs {
			if c.sees(&docs[i]) {
				kinds[docs[i].kind] = true
			}
		}
	}
	for _, docs := range w.indexes {
		for i := range docs {
			d := &docs[i]
			if !c.sees(d) && strings.Contains(text, d.secret) || !kinds[d.kind] && strings.Contains(text, d.kind) {
				w.tb.Fatalf("%s: %s shows document %d of %s: %.500s", c.says, what, d.id, d.index, text)
			}
		}
	}
}

// visible are the documents of an index that c sees and that keep takes.
func (w *world) visible(c *worldCaller, uid string, keep func(*worldDoc) bool) (n int) {
	for i := range w.indexes[uid] {
		if d := &w.indexes[uid][i]; c.sees(d) && keep(d) {
			n++
		}
	}
	return n
}

// query is a random one, with what its filter means; exact says that every
// document that it takes is a hit.
func (w *world) query(rng *rand.Rand) (q search.Query, keep func(*worldDoc) bool, exact bool) {
	victim := w.indexes["private"][rng.IntN(worldSize)]
	texts := []string{"", "", "common", "comon wrds", victim.secret, `"words of ` + victim.secret + `"`, "-nothing", "common " + victim.kind}
	n := rng.IntN(len(texts))
	q = search.Query{Q: texts[n], Limit: limit(1000), ShowRankingScoreDetails: true, RetrieveVectors: true, Facets: []string{"*"}}
	r := randomRule(rng)
	if r.filter != nil {
		q.Filter, _ = json.Marshal(r.filter)
	}
	exact = n < 3
	switch rng.IntN(5) {
	case 0:
		q.Sort = []string{"price:desc"}
	case 1:
		q.Distinct, exact = "kind", false
	case 2:
		ratio := float64(rng.IntN(3)) / 2
		q.Vector, q.Hybrid = []float32{1, float32(rng.IntN(5))}, &settings.Hybrid{Embedder: "e", SemanticRatio: &ratio}
	case 3:
		q.Format = highlight.Format{Highlight: []string{"*"}, Crop: []string{"*"}, Positions: true}
	}
	return q, r.holds, exact
}

// TestTenantIsolation: through whatever door, no caller ever sees a document, a
// facet value, a count or a name that is not for it.
func TestTenantIsolation(t *testing.T) {
	w := newWorld(t)
	callers := 40
	if os.Getenv("LONG") != "" {
		callers = 150 // more pairs of a rule and a query
	}
	rng := rand.New(rand.NewPCG(2026, 11))
	for range callers {
		c := w.caller(rng)
		for uid := range w.indexes {
			q, keep, exact := w.query(rng)
			if !slices.Contains(c.uids, uid) {
				w.shut(c, uid, q)
				continue
			}
			w.searches(c, uid, q, w.visible(c, uid, keep), exact)
			w.listings(c, uid)
		}
		w.federations(rng, c)
		w.chats(rng, c)
	}
}

// shut checks that an index looks to c like one that does not exist.
func (w *world) shut(c *worldCaller, uid string, q search.Query) {
	w.tb.Helper()
	ctx := w.tb.Context()
	_, err := w.svc.Search(ctx, c.Caller, uid, q)
	wantCode(w.tb, "search", err, indexerr.IndexNotFound)
	_, err = w.svc.SearchFacet(ctx, c.Caller, uid, search.FacetQuery{Facet: "kind"})
	wantCode(w.tb, "facet search", err, indexerr.IndexNotFound)
	_, err = w.svc.Similar(ctx, c.Caller, uid, search.SimilarQuery{ID: w.indexes[uid][0].docID(), Embedder: "e"})
	wantCode(w.tb, "similar", err, indexerr.IndexNotFound)
	_, err = w.svc.Document(ctx, c.Caller, uid, w.indexes[uid][0].docID(), nil, true)
	wantCode(w.tb, "document", err, indexerr.IndexNotFound)
	_, err = listDocuments(w.svc, ctx, c.Caller, uid, search.DocumentsQuery{})
	wantCode(w.tb, "documents", err, indexerr.IndexNotFound)
	_, err = w.svc.ChatSearch(ctx, c.Caller, uid, q.Q, "")
	wantCode(w.tb, "chat", err, indexerr.IndexNotFound)
	_, err = multiSearch(w.federate(), ctx, c.Caller, []federate.Query{{IndexUID: uid, Query: q}})
	wantCode(w.tb, "multi-search", err, indexerr.IndexNotFound)
	_, err = w.federate().FederatedSearch(ctx, c.Caller, federate.Federation{FacetsByIndex: map[string][]string{uid: {"kind"}}}, nil)
	wantCode(w.tb, "facets of a federated search", err, indexerr.IndexNotFound)
}

func (w *world) searches(c *worldCaller, uid string, q search.Query, n int, exact bool) {
	w.tb.Helper()
	ctx := w.tb.Context()
	res, err := w.svc.Search(ctx, c.Caller, uid, q)
	if err != nil {
		w.tb.Fatalf("%s: %v", c.says, err)
	}
	w.clean(c, "search", []any{res.Hits, res.Facets})
	if res.EstimatedTotalHits > n || exact && res.EstimatedTotalHits != n || len(res.Hits) != res.EstimatedTotalHits {
		w.tb.Fatalf("%s: search of %s by %+v counts %d and shows %d, want %d", c.says, uid, q, res.EstimatedTotalHits, len(res.Hits), n)
	}
	for _, f := range res.Facets {
		sum := 0
		for _, v := range f.Values {
			sum += v.Count
		}
		if sum > n {
			w.tb.Fatalf("%s: %s counts %d in %+v, of %d documents", c.says, uid, sum, f, n)
		}
	}
	q.Facets = nil
	for _, text := range []string{"", "k", w.indexes["private"][0].kind} {
		values, err := w.svc.SearchFacet(ctx, c.Caller, uid, search.FacetQuery{Facet: "kind", Text: text, Query: search.Query{Q: q.Q, Filter: q.Filter}})
		if err != nil {
			w.tb.Fatal(err)
		}
		w.clean(c, "facet search", values.Values)
	}
}

// listings looks at each document by its id, and at all of them.
func (w *world) listings(c *worldCaller, uid string) {
	w.tb.Helper()
	ctx := w.tb.Context()
	for i := range w.indexes[uid] {
		d := &w.indexes[uid][i]
		_, err := w.svc.Document(ctx, c.Caller, uid, d.docID(), nil, true)
		if (err == nil) != c.sees(d) {
			w.tb.Fatalf("%s: document %d of %s: %v", c.says, d.id, uid, err)
		}
		if i%8 != 0 {
			continue
		}
		res, err := w.svc.Similar(ctx, c.Caller, uid, search.SimilarQuery{ID: d.docID(), Embedder: "e", Limit: limit(1000)})
		if !c.sees(d) {
			wantCode(w.tb, "like a hidden one", err, searcherr.NotFoundSimilarID)
			continue
		}
		if err != nil {
			w.tb.Fatal(err)
		}
		w.clean(c, "similar", res.Hits)
	}
	all := w.visible(c, uid, func(*worldDoc) bool { return true })
	for _, q := range []search.DocumentsQuery{{}, {Sort: []string{"price:asc"}}, {IDs: []string{w.indexes[uid][1].docID(), w.indexes[uid][2].docID()}}} {
		q.Limit, q.RetrieveVectors = limit(1000), true
		page, err := listDocuments(w.svc, ctx, c.Caller, uid, q)
		if err != nil {
			w.tb.Fatal(err)
		}
		w.clean(c, "documents", page.Documents)
		if page.Total > all || q.IDs == nil && page.Total != all || len(page.Documents) != page.Total {
			w.tb.Fatalf("%s: %s lists %d of %d, want %d", c.says, uid, len(page.Documents), page.Total, all)
		}
	}
}

// federations searches all indexes that c may use at once.
func (w *world) federations(rng *rand.Rand, c *worldCaller) {
	w.tb.Helper()
	var queries []federate.Query
	f := federate.Federation{Limit: limit(1000), FacetsByIndex: map[string][]string{}, MergeFacets: rng.IntN(2) == 0}
	total, exact := 0, true
	for _, uid := range c.uids {
		q, keep, all := w.query(rng)
		q.Facets, q.Limit, q.Sort = nil, nil, nil
		queries = append(queries, federate.Query{IndexUID: uid, Query: q})
		f.FacetsByIndex[uid] = []string{"*"}
		total += w.visible(c, uid, keep)
		exact = exact && all
	}
	res, err := w.federate().FederatedSearch(w.tb.Context(), c.Caller, f, queries)
	if err != nil {
		w.tb.Fatalf("%s: %v", c.says, err)
	}
	w.clean(c, "federated search", []any{res.Hits, res.Facets, res.FacetsByIndex})
	if res.EstimatedTotalHits > total || exact && res.EstimatedTotalHits != total {
		w.tb.Fatalf("%s: a federated search counts %d, want %d", c.says, res.EstimatedTotalHits, total)
	}
	list, err := multiSearch(w.federate(), w.tb.Context(), c.Caller, queries)
	if err != nil {
		w.tb.Fatalf("%s: %v", c.says, err)
	}
	for _, res := range list {
		w.clean(c, "multi-search", res.Hits)
	}
}

// chats looks at what a model is told, and searches as it does.
func (w *world) chats(rng *rand.Rand, c *worldCaller) {
	w.tb.Helper()
	ctx := w.tb.Context()
	told, err := w.svc.ChatIndexes(ctx, c.Caller, nil)
	if err != nil {
		w.tb.Fatal(err)
	}
	w.clean(c, "what the model is told", told)
	var uids []string
	for _, ix := range told {
		uids = append(uids, ix.UID)
	}
	listed, n := w.svc.Indexes(c.Caller, 0, 100)
	if !slices.Equal(uids, c.uids) || n != len(c.uids) || len(listed) != n {
		w.tb.Fatalf("%s: told of %v, listed %d; want %v", c.says, uids, n, c.uids)
	}
	for _, uid := range c.uids {
		found, err := w.svc.ChatSearch(ctx, c.Caller, uid, "common words", fmt.Sprintf("owner = %d OR owner != %d", rng.IntN(4), rng.IntN(4)))
		hits := found.Hits
		if err != nil {
			w.tb.Fatal(err)
		}
		w.clean(c, "the model's search", hits)
	}
}
