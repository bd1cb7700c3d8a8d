package search_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/highlight"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// keyStore is as much of [auth.Keys] as a start needs: the default keys.
type keyStore struct {
	rest
	keys []auth.Key
}

// rest is the methods that keyStore lacks.
type rest interface {
	CreateKey(ctx context.Context, k auth.Key) error
	UpdateKey(ctx context.Context, uid string, change func(*auth.Key)) (auth.Key, error)
	DeleteKey(ctx context.Context, uid string) error
}

func (m *keyStore) Keys(context.Context) ([]auth.Key, error) { return m.keys, nil }
func (m *keyStore) SeedKeys(_ context.Context, defaults []auth.Key) error {
	m.keys = defaults
	return nil
}

// tenant returns the caller of a tenant token with the searchRules.
func tenant(tb testing.TB, rules string) *auth.Caller {
	tb.Helper()
	s, err := auth.Open(context.Background(), &keyStore{}, auth.Options{MasterKey: "a master key of sixteen"})
	if err != nil {
		tb.Fatal(err)
	}
	keys, _ := s.Keys(0, 100)
	for _, k := range keys {
		if len(k.Actions) != 1 || k.Actions[0] != auth.Search {
			continue
		}
		part := base64.RawURLEncoding.EncodeToString
		token := part([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + part(fmt.Appendf(nil, `{"apiKeyUid":%q,"searchRules":%s}`, k.UID, rules))
		mac := hmac.New(sha256.New, []byte(s.Value(&k)))
		mac.Write([]byte(token))
		c, err := s.Authenticate("Bearer " + token + "." + part(mac.Sum(nil)))
		if err != nil {
			tb.Fatal(err)
		}
		return c
	}
	tb.Fatal("no default search key")
	return nil
}

func TestForbiddenIndexLooksAbsent(t *testing.T) {
	r := newRig(t)
	r.add("books", books)
	ctx := context.Background()
	c := tenant(t, `{"films":null}`)
	reads := map[string]func(uid string) error{
		"search": func(uid string) error { _, err := r.svc.Search(ctx, c, uid, search.Query{}); return err },
		"facets": func(uid string) error {
			_, err := r.svc.SearchFacet(ctx, c, uid, search.FacetQuery{Facet: "x"})
			return err
		},
		"chat":     func(uid string) error { _, err := r.svc.ChatSearch(ctx, c, uid, "x", ""); return err },
		"index":    func(uid string) error { _, err := r.svc.Index(c, uid); return err },
		"settings": func(uid string) error { _, err := r.svc.Settings(c, uid); return err },
		"stats":    func(uid string) error { _, err := r.svc.Stats(c, uid); return err },
		"document": func(uid string) error { _, err := r.svc.Document(ctx, c, uid, "1", nil, false); return err },
		"documents": func(uid string) error {
			_, err := listDocuments(r.svc, ctx, c, uid, search.DocumentsQuery{})
			return err
		},
	}
	for name, read := range reads {
		forbidden, absent := read("books"), read("booxx")
		wantCode(t, name, forbidden, indexerr.IndexNotFound)
		if got := strings.ReplaceAll(fmt.Sprint(forbidden), "books", "booxx"); got != fmt.Sprint(absent) {
			t.Errorf("%s: %v for a forbidden index, %v for one that is absent", name, forbidden, absent)
		}
	}
	if list, total := r.svc.Indexes(c, 0, 20); total != 0 || len(list) != 0 {
		t.Errorf("Indexes = %v, %d; want none", list, total)
	}
	if list, err := r.svc.ChatIndexes(ctx, c, nil); err != nil || len(list) != 0 {
		t.Errorf("ChatIndexes = %v, %v; want none", list, err)
	}
}

func TestTenantSeesOnlyItsOwn(t *testing.T) {
	r := newRig(t)
	r.settings("notes", `{"filterableAttributes":["tenant","topic"],"sortableAttributes":["topic"]}`)
	rng := rand.New(rand.NewPCG(1, 2))
	owner := map[string]int{}
	r.add("notes", docsJSON(0, 400, func(i int) string {
		who := rng.IntN(4)
		owner[fmt.Sprint(i)] = who
		return fmt.Sprintf(`"tenant":%d,"topic":"topic%d of %d","text":"a secret of tenant %d"`, who, rng.IntN(15), who, who)
	}))
	ctx := context.Background()
	queries := []search.Query{
		{},
		{Q: "secret"},
		{Q: "secert tenant 1"},
		{Q: `"of tenant"`},
		{Q: "-nothing"},
		{Filter: filter("tenant = 1 OR tenant != 1")},
		{Filter: filter("NOT tenant = 0")},
		{Filter: json.RawMessage(`[["tenant = 0", "tenant = 1"], "topic EXISTS"]`)},
		{Q: "secret of tenant", Sort: []string{"topic:desc"}},
		{Distinct: "topic"},
		{Q: "tenant", MatchingStrategy: settings.Frequency, RankingScoreThreshold: 0.1},
		{Q: "secrettenant of", AttributesToSearchOn: []string{"text"}},
	}
	for who := range 4 {
		for _, rule := range []string{fmt.Sprintf(`"tenant = %d"`, who), fmt.Sprintf(`["tenant EXISTS", ["tenant = %d", "tenant = 77"]]`, who)} {
			c := tenant(t, `{"*":{"filter":`+rule+`}}`)
			for _, q := range queries {
				q.Limit, q.Facets = limit(1000), []string{"*"}
				q.Format = highlight.Format{Highlight: []string{"*"}, Positions: true}
				res, err := r.svc.Search(ctx, c, "notes", q)
				if err != nil {
					t.Fatal(err)
				}
				for _, h := range res.Hits {
					if owner[h.ID] != who {
						t.Fatalf("tenant %d with rule %s saw document %s of tenant %d by %+v", who, rule, h.ID, owner[h.ID], q)
					}
				}
				for _, f := range res.Facets {
					sum := 0
					for _, v := range f.Values {
						if sum += v.Count; f.Attribute == "tenant" && v.Value != fmt.Sprint(who) || f.Attribute == "topic" && !strings.HasSuffix(v.Value, fmt.Sprintf("of %d", who)) {
							t.Errorf("tenant %d is shown %d times the %s %q by %+v", who, v.Count, f.Attribute, v.Value, q)
						}
					}
					if f.Attribute == "tenant" && sum != len(res.Hits) {
						t.Errorf("tenant %d: %d counted in facets, %d shown", who, sum, len(res.Hits))
					}
				}
				if res.EstimatedTotalHits != len(res.Hits) {
					t.Errorf("tenant %d: %d counted, %d shown", who, res.EstimatedTotalHits, len(res.Hits))
				}
			}
			list, err := r.svc.ChatIndexes(ctx, c, nil)
			if err != nil || len(list) != 1 || len(list[0].Filterable) != 2 {
				t.Fatalf("ChatIndexes = %+v, %v", list, err)
			}
			if got := list[0].Filterable[0]; got.Attribute != "tenant" || len(got.Values) != 1 || got.Values[0] != fmt.Sprint(who) {
				t.Errorf("tenant %d is told of tenants %v", who, got.Values)
			}
			for _, v := range list[0].Filterable[1].Values {
				if !strings.HasSuffix(v, fmt.Sprintf("of %d", who)) {
					t.Errorf("tenant %d is told of topic %q", who, v)
				}
			}
			values, err := r.svc.SearchFacet(ctx, c, "notes", search.FacetQuery{Facet: "topic", Text: "topic"})
			if err != nil || len(values.Values) == 0 {
				t.Fatalf("SearchFacet = %v, %v", values, err)
			}
			for _, v := range values.Values {
				if !strings.HasSuffix(v.Value, fmt.Sprintf("of %d", who)) {
					t.Errorf("tenant %d finds topic %q, %d times", who, v.Value, v.Count)
				}
			}
			found, err := r.svc.ChatSearch(ctx, c, "notes", "secret", "tenant != 99")
			hits := found.Hits
			if err != nil || len(hits) == 0 {
				t.Fatalf("ChatSearch = %d hits, %v", len(hits), err)
			}
			for _, h := range hits {
				if owner[h.ID] != who {
					t.Fatalf("chat of tenant %d was given document %s of tenant %d", who, h.ID, owner[h.ID])
				}
			}
			for id, of := range owner {
				_, err := r.svc.Document(ctx, c, "notes", id, nil, false)
				if (err == nil) != (of == who) {
					t.Fatalf("tenant %d reads document %s of tenant %d: %v", who, id, of, err)
				}
			}
			page, err := listDocuments(r.svc, ctx, c, "notes", search.DocumentsQuery{Limit: limit(1000)})
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, of := range owner {
				if of == who {
					n++
				}
			}
			if page.Total != n || len(page.Documents) != n {
				t.Errorf("tenant %d lists %d documents of %d, want %d", who, len(page.Documents), page.Total, n)
			}
		}
	}
}

func TestTenantRuleNeedsFilterable(t *testing.T) {
	r := newRig(t)
	r.add("books", books)
	_, err := r.svc.Search(context.Background(), tenant(t, `{"*":{"filter":"year > 1"}}`), "books", search.Query{})
	wantCode(t, "rule over an attribute that is not filterable", err, searcherr.InvalidSearchFilter)
	_, err = r.svc.Search(context.Background(), tenant(t, `{"*":{"filter":"year >"}}`), "books", search.Query{})
	wantCode(t, "rule that is no filter", err, searcherr.InvalidSearchFilter)
}

// Values that two tenants write differently are shown to each as its own do.
func TestFacetShowsNobodyElsesWriting(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"filterableAttributes":["tenant","topic"]}`)
	r.add("a", `[{"id":1,"tenant":1,"topic":"ALPHA"},{"id":2,"tenant":1,"topic":"ALPHA"},{"id":3,"tenant":2,"topic":"alpha"}]`)
	c := tenant(t, `{"*":{"filter":"tenant = 2"}}`)
	res, err := r.svc.Search(context.Background(), c, "a", search.Query{Facets: []string{"topic"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := facetText(res.Facets); got != "topic: alpha=1" {
		t.Errorf("tenant 2 is shown %q, want topic: alpha=1", got)
	}
}
