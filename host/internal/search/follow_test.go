package search_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/storage"
	"github.com/parley-search/parley/host/internal/search/write"
)

// level waits until a follower serves all that the log has.
func (r *rig) level() {
	r.tb.Helper()
	s := r.shared
	if err := s.node.WaitFor(r.tb.Context(), uint64(s.log.Len())); err != nil {
		r.tb.Fatal(err)
	}
	waittest.For(r.tb, "searches are level", func() bool { return r.svc.Level() >= s.changed.Load() })
}

// answers is what a service says of all its indexes, as far as clients can see it
// and it is not of the moment.
func (r *rig) answers(queries []search.Query) string {
	r.tb.Helper()
	var b strings.Builder
	list, _ := r.svc.Indexes(auth.Everyone(), 0, -1)
	for _, info := range list {
		st, err := r.svc.Stats(auth.Everyone(), info.UID)
		if err != nil {
			r.tb.Fatal(err)
		}
		set, err := r.svc.Settings(auth.Everyone(), info.UID)
		if err != nil {
			r.tb.Fatal(err)
		}
		fmt.Fprintln(&b, info, st.NumberOfDocuments, st.Embeddings, st.FieldDistribution, set.SearchableAttributes, set.FilterableAttributes)
		for _, q := range queries {
			res, err := r.svc.Search(r.tb.Context(), auth.Everyone(), info.UID, q)
			if err != nil {
				fmt.Fprintln(&b, q.Q, err)
				continue
			}
			hits, err := json.Marshal(res.Hits)
			if err != nil {
				r.tb.Fatal(err)
			}
			fmt.Fprintf(&b, "%s: %d %s\n", q.Q, res.EstimatedTotalHits, hits)
		}
	}
	return b.String()
}

// TestFollow: what a leader's searches find, a follower's find, whatever was
// written, also where the follower was away meanwhile, or lost its folders.
func TestFollow(t *testing.T) {
	rigs := newShared(t, 2)
	lead, follow := rigs[0], rigs[1]
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("red green blue amber sky sea stone river cloud night")
	docs := func(n int) string {
		var list []string
		for range n {
			text := words[random.IntN(len(words))] + " " + words[random.IntN(len(words))]
			list = append(list, fmt.Sprintf(`{"id":%d,"title":%q,"n":%d,"f%d":"x","_vectors":{"own":[%d,1]}}`, random.IntN(400), text, random.IntN(9), random.IntN(9), random.IntN(20)))
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	var queries []search.Query
	for _, w := range words {
		queries = append(queries, search.Query{Q: w, Limit: limit(30), ShowRankingScore: true}, search.Query{Q: w + " " + words[0], Limit: limit(5)})
	}
	queries = append(queries, search.Query{Filter: filter("n > 3"), Limit: limit(100)}, search.Query{
		Vector: []float32{3, 1}, Hybrid: &settings.Hybrid{Embedder: "own", SemanticRatio: new(1.0)}, Limit: limit(20),
	})
	same := func(after string) {
		t.Helper()
		follow.level()
		if a, b := lead.answers(queries), follow.answers(queries); a != b {
			t.Errorf("after %s the follower says\n%.3000s\nthe leader\n%.3000s", after, b, a)
		} else if len(a) < 1000 {
			t.Errorf("after %s there is little to compare: %s", after, a)
		}
	}
	lead.settings("a", `{"embedders":{"own":{"source":"userProvided","dimensions":2}},"filterableAttributes":["n"]}`)
	lead.add("a", docs(300))
	same("documents")
	lead.add("b", docs(50))
	lead.ok(write.DeleteDocuments("a", []string{"1", "2", "3", "4", "5", "6", "7"}))
	same("deletions")
	lead.settings("a", `{"searchableAttributes":["title"]}`)
	same("a setting that leaves words out")
	lead.settings("a", `{"searchableAttributes":["*"],"stopWords":["red"]}`)
	same("a setting that takes another folder")
	lead.ok(write.SwapIndexes([]write.Swap{{Indexes: [2]string{"a", "b"}}}))
	same("a swap")
	lead.ok(write.DeleteAllDocuments("b"))
	lead.add("b", docs(20))
	same("beginning anew")
	lead.ok(write.DeleteIndex("a"))
	same("a deletion")

	follow.close()
	lead.add("b", docs(100))
	lead.settings("b", `{"filterableAttributes":["n","title"]}`)
	lead.add("c", docs(100))
	lead.ok(write.DeleteDocuments("c", []string{"10", "11", "12"}))
	follow.open()
	same("a time away")

	follow.close()
	follow.damaged = true
	if err := os.RemoveAll(follow.folders()); err != nil {
		t.Fatal(err)
	}
	lead.add("c", docs(10))
	follow.open()
	same("folders that are gone")

	// It comes to lead, and has nothing to do for that.
	lead.close()
	follow.close()
	follow.shared.leads = true
	follow.open()
	follow.add("c", `[{"id":9000,"title":"written by the next leader"}]`)
	if got := follow.ids("c", search.Query{Q: "leader"}); got != "9000" {
		t.Errorf("the next leader finds %q, want 9000", got)
	}
}

// A laterDB hands out records of indexes that are older than its documents, once.
type laterDB struct {
	*store.Store
	write func(had map[string][]byte)
}

func (d laterDB) Metas() (map[string][]byte, error) {
	had, err := d.Store.Metas()
	d.write(had)
	return had, err
}

// TestFollowLaterDocuments: where the log goes on between the reading of an index's
// record and of its documents, these may have fields that the record does not name.
// Both a folder that is built then and one that is written to know them in the end.
func TestFollowLaterDocuments(t *testing.T) {
	rigs := newShared(t, 2)
	lead, follow := rigs[0], rigs[1]
	follow.close()
	later := []string{`[{"id":2,"title":"two","text":"red"}]`, `[{"id":3,"more":{"text":"green"}}]`}
	var done atomic.Bool
	follow.wrap = func(s *store.Store) storage.DB {
		return laterDB{s, func(had map[string][]byte) {
			if _, ok := had["a"]; !ok || done.Load() {
				return
			}
			lead.add("a", later[0])
			if err := follow.shared.node.WaitFor(t.Context(), uint64(follow.shared.log.Len())); err != nil {
				t.Error(err)
			}
			later = later[1:]
			done.Store(len(later) == 0)
		}}
	}
	follow.open()
	lead.add("a", `[{"id":1,"title":"one"}]`)
	waittest.For(t, "both later writes", done.Load)
	follow.level()
	queries := []search.Query{{Q: "red", ShowRankingScore: true}, {Q: "green", ShowRankingScore: true}, {Q: "green", AttributesToSearchOn: []string{"more.text"}}}
	if a, b := lead.answers(queries), follow.answers(queries); a != b || !strings.Contains(a, "green: 1") {
		t.Errorf("the follower says\n%s\nthe leader\n%s", b, a)
	}
}

// TestFollowFirstDocument: a new index whose first document, with one field, comes between
// the reading of the index's record and of its documents. Each order of the two makes the
// same words.
func TestFollowFirstDocument(t *testing.T) {
	rigs := newShared(t, 2)
	lead, follow := rigs[0], rigs[1]
	follow.close()
	var done atomic.Bool
	follow.wrap = func(s *store.Store) storage.DB {
		return laterDB{s, func(had map[string][]byte) {
			if _, ok := had["a"]; !ok || done.Swap(true) {
				return
			}
			lead.add("a", `[{"id":1}]`)
			if err := follow.shared.node.WaitFor(t.Context(), uint64(follow.shared.log.Len())); err != nil {
				t.Error(err)
			}
		}}
	}
	follow.open()
	lead.ok(write.CreateIndex("a", "id"))
	waittest.For(t, "the first document", done.Load)
	follow.level()
	queries := []search.Query{{Q: "1", ShowRankingScore: true}}
	if a, b := lead.answers(queries), follow.answers(queries); a != b || !strings.Contains(a, `"id":1`) {
		t.Errorf("the follower says\n%s\nthe leader\n%s", b, a)
	}
}

// countedNotes count how often the database is looked at for the words of an index.
type countedNotes struct {
	*store.Store
	views atomic.Int64
}

func (c *countedNotes) View(f func(storage.Moment) error) error {
	c.views.Add(1)
	return c.Store.View(f)
}

// TestFollowManyIndexes: a write to one index costs no work on the others.
func TestFollowManyIndexes(t *testing.T) {
	rigs := newShared(t, 2)
	lead, follow := rigs[0], rigs[1]
	counted := &countedNotes{}
	follow.close()
	follow.wrapNotes = func(s *store.Store) index.Notes { counted.Store = s; return counted }
	follow.open()
	for i := range 30 {
		lead.add(fmt.Sprintf("i%d", i), `[{"id":1,"t":"red"}]`)
	}
	follow.level()
	lead.add("i0", `[{"id":2,"t":"red"}]`)
	follow.level()
	before, first := counted.views.Load(), follow.shared.log.Len()
	for n := range 5 {
		lead.add("i0", fmt.Sprintf(`[{"id":%d,"t":"red"}]`, 10+n))
	}
	follow.level()
	if views, messages := counted.views.Load()-before, int64(follow.shared.log.Len()-first); messages < 5 || views > 2*messages {
		t.Errorf("after %d messages about one of 30 indexes the database was looked at %d times", messages, views)
	}
}

// brokenNotes panic where the notes of docs are read, as a library does that has a fault.
type brokenNotes struct {
	*store.Store
	docs atomic.Pointer[string]
}

func (b *brokenNotes) View(f func(storage.Moment) error) error {
	return b.Store.View(func(m storage.Moment) error { return f(brokenMoment{m, b}) })
}

type brokenMoment struct {
	storage.Moment
	of *brokenNotes
}

func (m brokenMoment) Notes(docs string, after uint64, f func(uint64, []string) error) error {
	if d := m.of.docs.Load(); d != nil && *d == docs {
		var none []int
		_ = none[len(docs)]
	}
	return m.Moment.Notes(docs, after, f)
}

// TestFollowPanics: a fault in the work on one index halts that index, says so, and is in no
// other index's way.
func TestFollowPanics(t *testing.T) {
	rigs := newShared(t, 2)
	lead, follow := rigs[0], rigs[1]
	var broken *brokenNotes
	follow.close()
	follow.wrapNotes = func(s *store.Store) index.Notes { broken = &brokenNotes{Store: s}; return broken }
	follow.open()
	lead.add("a", `[{"id":1,"t":"red"}]`)
	lead.add("b", `[{"id":1,"t":"red"}]`)
	follow.level()
	metas, err := follow.store.Metas()
	if err != nil {
		t.Fatal(err)
	}
	var m index.Meta
	if err := json.Unmarshal(metas["a"], &m); err != nil {
		t.Fatal(err)
	}
	follow.damaged = true // which lets the rig be told of it
	broken.docs.Store(&m.Docs)
	lead.add("a", `[{"id":2,"t":"red"}]`)
	lead.add("b", `[{"id":2,"t":"red"}]`)
	follow.level()
	for uid, want := range map[string]string{"a": "1", "b": "1 2"} {
		if got := follow.ids(uid, search.Query{Q: "red"}); got != want {
			t.Errorf("index %s of the follower finds %q, want %q", uid, got, want)
		}
	}
	if got := follow.svc.Halted(); len(got) != 1 || !strings.Contains(got[0], `"a"`) || !strings.Contains(got[0], "index out of range") {
		t.Errorf("halted: %q, want index a and why", got)
	}
	if err := follow.svc.WaitFor(t.Context(), "a", follow.shared.changed.Load()); apierrCode(err) != "index_halted" {
		t.Errorf("waiting for the halted index: %v, want index_halted", err)
	}
	if err := follow.svc.WaitFor(t.Context(), "b", follow.shared.changed.Load()); err != nil {
		t.Errorf("waiting for the other index: %v", err)
	}
}

func apierrCode(err error) string {
	e, ok := errors.AsType[*apierr.Error](err)
	if !ok {
		return ""
	}
	return e.Code.String()
}
