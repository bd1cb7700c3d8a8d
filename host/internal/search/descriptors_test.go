package search_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/sysinfo"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/write"
	"github.com/parley-search/parley/host/internal/task"
)

// TestManyIndexes has more indexes than are open at a time: they are written, searched side by
// side, listed and opened again after a restart, with descriptors for the open ones alone.
func TestManyIndexes(t *testing.T) {
	r := newRig(t)
	r.close()
	r.openFolders = 3
	r.open()
	const indexes = 40
	before := sysinfo.DescriptorsInUse()
	for round := range 2 {
		for i := range indexes {
			r.add(fmt.Sprint("n", i), fmt.Sprintf(`[{"id":%d,"text":"word%d of round%d"}]`, round, i, round))
		}
	}
	if after := sysinfo.DescriptorsInUse(); after > before+30 {
		t.Errorf("%d descriptors with %d indexes, %d before: want those of a few indexes more", after, indexes, before)
	}
	check := func() {
		t.Helper()
		var all sync.WaitGroup
		for i := range indexes {
			all.Go(func() {
				for range 3 {
					res, err := r.svc.Search(t.Context(), auth.Everyone(), fmt.Sprint("n", i), search.Query{Q: fmt.Sprint("word", i)})
					if err != nil || len(res.Hits) != 2 {
						t.Errorf("search of index n%d: %+v, %v; want two hits", i, res, err)
						return
					}
				}
			})
		}
		all.Wait()
		if l := r.svc.Load(); l.Indexes != indexes || l.NotReady != 0 {
			t.Errorf("Load = %+v, want %d indexes that are ready", l, indexes)
		}
	}
	check()
	r.close()
	r.open()
	check()
	if after := sysinfo.DescriptorsInUse(); after > before+30 {
		t.Errorf("%d descriptors after a restart, %d before", after, before)
	}
}

// TestTooManyOpenFiles makes an index in a process that has hardly a descriptor left.
func TestTooManyOpenFiles(t *testing.T) {
	r := newRig(t)
	r.close()
	r.descriptors = func() (used, most uint64) { return 1000, 1024 }
	r.open()
	n, err := write.CreateIndex("new", "")
	if got := r.run(n, err); got.Status != task.Failed || got.Error == nil || got.Error.Code != "too_many_open_files" {
		t.Errorf("the index: %s, %+v; want it refused with too_many_open_files", got.Status, got.Error)
	}
}
