package store

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-search/parley/host/internal/task"
)

var epoch = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)

// randomTask makes a task around a border of the bitmaps, so that two are used.
func randomTask(rng *rand.Rand) task.Task {
	pick := func(n int) time.Time { return epoch.Add(time.Duration(rng.IntN(n)) * time.Second) }
	t := task.Task{
		UID: 65_536 - 50 + rng.Uint32N(100), Type: task.Types()[rng.IntN(3)], Status: task.Statuses()[rng.IntN(5)],
		EnqueuedAt: pick(100), Details: []byte("{}"),
	}
	switch rng.IntN(4) {
	case 0:
		t.Indexes = []string{"a", "b"}
	case 1, 2:
		t.IndexUID = []string{"a", "a-b", "b", "c"}[rng.IntN(4)]
	}
	if t.Status == task.Canceled {
		t.CanceledBy = new(rng.Uint32N(12))
	}
	if t.Status != task.Enqueued {
		t.StartedAt = pick(100)
	}
	return t
}

func randomFilter(rng *rand.Rand) task.Filter {
	f := task.Filter{Reverse: rng.IntN(2) == 0, Limit: rng.IntN(30) - 1}
	if rng.IntN(3) == 0 {
		f.Types = task.Types()[:1+rng.IntN(2)]
	}
	if rng.IntN(3) == 0 {
		f.Statuses = task.Statuses()[rng.IntN(4):]
	}
	if rng.IntN(3) == 0 {
		f.IndexUIDs = []string{"a", "nope"}
	}
	if rng.IntN(5) == 0 {
		f.CanceledBy = []uint32{1, 2, 3, 11}
	}
	if rng.IntN(4) == 0 {
		f.Enqueued = task.Span{After: epoch.Add(10 * time.Second), Before: epoch.Add(60 * time.Second)}
	}
	if rng.IntN(4) == 0 {
		f.Started = task.Span{After: epoch.Add(30 * time.Second)}
	}
	if rng.IntN(4) == 0 {
		f.UIDs = []uint32{65_535, 65_536, 65_540, 7}
	}
	if rng.IntN(3) == 0 {
		f.From = new(65_536 - 50 + rng.Uint32N(100))
	}
	switch rng.IntN(4) {
	case 0:
		f.Visible = func(uid string) bool { return uid == "a" || uid == "a-b" }
	case 1:
		f.Visible = func(uid string) bool { return uid != "b" }
	}
	return f
}

// chooses says the same as the store, one task at a time.
func chooses(f *task.Filter, t *task.Task) bool {
	in := func(s task.Span, at time.Time) bool {
		return s.IsZero() || !at.IsZero() && (s.After.IsZero() || at.After(s.After)) && (s.Before.IsZero() || at.Before(s.Before))
	}
	seen := f.Visible == nil || len(t.Concerns()) == 0 && f.Visible("")
	for i, uid := range t.Concerns() {
		if f.Visible != nil {
			seen = (seen || i == 0) && f.Visible(uid)
		}
	}
	return seen && (len(f.UIDs) == 0 || slices.Contains(f.UIDs, t.UID)) &&
		(len(f.Types) == 0 || slices.Contains(f.Types, t.Type)) &&
		(len(f.Statuses) == 0 || slices.Contains(f.Statuses, t.Status)) &&
		(len(f.IndexUIDs) == 0 || slices.ContainsFunc(f.IndexUIDs, func(uid string) bool { return slices.Contains(t.Concerns(), uid) })) &&
		(len(f.CanceledBy) == 0 || t.CanceledBy != nil && slices.Contains(f.CanceledBy, *t.CanceledBy)) &&
		in(f.Enqueued, t.EnqueuedAt) && in(f.Started, t.StartedAt) && in(f.Finished, t.FinishedAt)
}

// TestFindTasks changes tasks at random and wants every filter to find what a
// look at each task finds; then the same in a database of before there were
// traits.
func TestFindTasks(t *testing.T) { testFindTasks(t, inMemory(t)) }

func testFindTasks(t *testing.T, s *Store) {
	rng := rand.New(rand.NewPCG(7, 8))
	model := map[uint32]task.Task{}
	checkFind := func(n int) {
		t.Helper()
		all := slices.SortedFunc(func(yield func(task.Task) bool) {
			for _, tk := range model {
				if !yield(tk) {
					return
				}
			}
		}, func(a, b task.Task) int { return cmp.Compare(a.UID, b.UID) })
		for range n {
			f := randomFilter(rng)
			var want []uint32
			total := 0
			list := slices.Clone(all)
			if !f.Reverse {
				slices.Reverse(list)
			}
			for i := range list {
				if !chooses(&f, &list[i]) {
					continue
				}
				total++
				if f.From != nil && (f.Reverse && list[i].UID < *f.From || !f.Reverse && list[i].UID > *f.From) {
					continue
				}
				if f.PageSize() > 0 && len(want) <= f.PageSize() {
					want = append(want, list[i].UID)
				}
			}
			got, n, err := s.FindTasks(t.Context(), &f)
			if err != nil || n != total || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("FindTasks(%+v) = %v of %d, %v; want %v of %d", f, got, n, err, want, total)
			}
		}
	}
	for range 60 {
		var part []task.Task
		for range 10 {
			tk := randomTask(rng)
			model[tk.UID] = tk
			part = append(part, tk)
		}
		must(t, s.PutTasks(t.Context(), part, nil))
		gone := randomTask(rng).UID
		delete(model, gone)
		must(t, s.DeleteTasks(t.Context(), []uint32{gone, 3}))
		checkFind(10)
	}
	for _, prefix := range []string{prefixTrait, prefixDate, prefixMeta + "traits"} {
		must(t, s.deleteAll([]byte(prefix)))
	}
	must(t, s.addTraits())
	checkFind(100)
	must(t, s.DeleteTasks(t.Context(), slices.Collect(func(yield func(uint32) bool) {
		for uid := range model {
			if !yield(uid) {
				return
			}
		}
	})))
	must(t, s.db.View(func(tx *badger.Txn) error {
		for _, prefix := range []string{prefixTrait, prefixDate, prefixTask} {
			if err := eachKey(tx, []byte(prefix), func(item *badger.Item) error {
				return fmt.Errorf("key %q is left", item.Key())
			}); err != nil {
				return err
			}
		}
		return nil
	}))
}

// BenchmarkFindTasks lists a page of a long history.
func BenchmarkFindTasks(b *testing.B) {
	s, err := OpenInMemory()
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	const tasks = 200_000
	for first := uint32(0); first < tasks; first += 1000 {
		var part []task.Task
		for uid := first; uid < first+1000; uid++ {
			at := epoch.Add(time.Duration(uid) * time.Second)
			part = append(part, task.Task{
				UID: uid, IndexUID: fmt.Sprint("index", uid%7), Type: task.DocumentAddition, Status: task.Succeeded,
				Details: []byte("{}"), EnqueuedAt: at, StartedAt: at, FinishedAt: at,
			})
		}
		if err := s.PutTasks(b.Context(), part, nil); err != nil {
			b.Fatal(err)
		}
	}
	for name, f := range map[string]task.Filter{
		"All":      {},
		"Waiting":  {Statuses: []task.Status{task.Enqueued, task.Processing}},
		"OneIndex": {IndexUIDs: []string{"index3"}, Statuses: []task.Status{task.Succeeded}},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := s.FindTasks(b.Context(), &f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
