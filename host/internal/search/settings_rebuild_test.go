package search_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/write"
	"github.com/parley-search/parley/host/internal/task"
)

// TestSettingsRebuild wants the folder built anew by exactly those changes of
// settings that need it.
func TestSettingsRebuild(t *testing.T) {
	r := newRig(t)
	r.add("a", `[{"id":1,"x":"red","y":"blue","n":{"z":3}}]`)
	steps := []struct {
		patch   string
		rebuilt bool
	}{
		{`{}`, false},
		{`{"searchableAttributes":["x","y","n.z"]}`, true}, // in the background
		{`{"searchableAttributes":["n.z","y","x"]}`, false},
		{`{"searchableAttributes":["n.z","x"]}`, true}, // in the background
		{`{"searchableAttributes":["n","x"]}`, true},
		{`{"searchableAttributes":[]}`, true}, // in the background
		{`{"searchableAttributes":null}`, true},
		{`{"filterableAttributes":["x"]}`, true},
		{`{"filterableAttributes":["x"]}`, false},
		{`{"sortableAttributes":["x"]}`, false},
		{`{"sortableAttributes":["x","y"]}`, true},
		{`{"distinctAttribute":"y"}`, false},
		{`{"distinctAttribute":"n.z"}`, true},
		{`{"rankingRules":["words","n.z:desc"]}`, false},
		{`{"rankingRules":["words","id:desc"]}`, true},
		{`{"filterableAttributes":[],"sortableAttributes":[],"distinctAttribute":null,"rankingRules":null}`, false},
		{`{"filterableAttributes":["y","n.z"]}`, false},
		{`{"filterableAttributes":[{"attributePatterns":["y"],"features":{"facetSearch":true,"filter":{"comparison":true}}}]}`, false},
		{`{"filterableAttributes":["n*"]}`, true},
		{`{"filterableAttributes":["n.z","nn","nnn*"]}`, false},
		{`{"filterableAttributes":["*"]}`, true},
		{`{"filterableAttributes":["any","*_id",{"attributePatterns":["*thing*"]}],"sortableAttributes":["more"]}`, false},
		{`{"separatorTokens":["&"]}`, true},
		{`{"nonSeparatorTokens":["#"]}`, true},
		{`{"dictionary":["J. R. R."]}`, true},
		{`{"separatorTokens":["&"],"nonSeparatorTokens":["#"],"dictionary":["J. R. R."]}`, false},
		{`{"separatorTokens":null,"nonSeparatorTokens":null,"dictionary":null}`, true},
		{`{"displayedAttributes":["x"],"rankingRules":["typo","words"],"synonyms":{"a":["b"]}}`, false},
		{`{"stopWords":["the"]}`, true},
		{`{"typoTolerance":{"enabled":false,"disableOnAttributes":["x"],"disableOnWords":["a"]},"prefixSearch":"disabled","proximityPrecision":"byAttribute"}`, false},
		{`{"faceting":{"maxValuesPerFacet":3},"facetSearch":false,"pagination":{"maxTotalHits":3},"searchCutoffMs":1000,"chat":{"description":"d"}}`, false},
		{`{"embedders":{"e":{"source":"userProvided","dimensions":2}}}`, false},
	}
	before := r.folder()
	for _, s := range steps {
		r.settings("a", s.patch)
		r.settled("a")
		after := r.folder()
		if rebuilt := after != before; rebuilt != s.rebuilt {
			t.Errorf("%s built a new folder: %v, want %v", s.patch, rebuilt, s.rebuilt)
		}
		before = after
	}
	r.reopen()
	if after := r.folder(); after != before {
		t.Errorf("a restart built a new folder")
	}
}

// settled waits until nothing is built in the background.
func (r *rig) settled(uid string) {
	r.tb.Helper()
	waittest.For(r.tb, "index "+uid+" is built", func() bool {
		st, err := r.svc.Stats(auth.Everyone(), uid)
		if err != nil {
			r.tb.Fatalf("index %s: %v", uid, err)
		}
		return !st.IsIndexing
	})
}

// TestSearchableFewer wants attributes that are not searched any more left out
// at once, from a folder that has their words yet.
func TestSearchableFewer(t *testing.T) {
	r := newRig(t)
	r.add("a", `[{"id":1,"x":"red","y":"blue sky","n":{"z":"green","w":"amber"}},{"id":2,"x":"blue sky","y":"red","n":{"z":"amber","w":"green"}}]`)
	search.StopRepairs(r.svc)
	before := r.folder()
	check := func(when string, want map[string]string) {
		t.Helper()
		for q, ids := range want {
			for _, text := range []string{q, `"` + q + `"`, q[:2]} {
				if got := r.ids("a", search.Query{Q: text, MatchingStrategy: settings.All}); got != ids {
					t.Errorf("%s search %s found %q, want %q", when, text, got, ids)
				}
			}
		}
	}
	want := map[string]string{"red": "1", "blue sky": "2", "green": "1", "amber": "2"}
	r.settings("a", `{"searchableAttributes":["x","n.z"]}`)
	check("at once", want)
	if got := r.ids("a", search.Query{Q: "amber", AttributesToSearchOn: []string{"n.z"}}); got != "2" {
		t.Errorf("on n.z search amber found %q, want 2", got)
	}
	r.settings("a", `{"searchableAttributes":["x"]}`)
	check("narrower", map[string]string{"red": "1", "green": "", "amber": ""})
	r.settings("a", `{"searchableAttributes":["x","n.z"]}`)
	r.add("a", `{"id":3,"y":"red"}`)
	check("wider again, and with another document", want)
	if after := r.folder(); after != before {
		t.Error("a new folder was built, which this test is not about")
	}
	r.reopen()
	r.settled("a")
	if after := r.folder(); after == before {
		t.Error("the next start has not built the folder anew")
	}
	check("after that", want)
}

// rebuildPatches are two settings that want different folders, and what a
// search for "common" finds under each.
func rebuildPatches() []string {
	return []string{`{"searchableAttributes":["x"],"filterableAttributes":["n"]}`, `{"searchableAttributes":["y"],"filterableAttributes":["n","x"]}`}
}

// half is how many documents have "common" in x; the others have it in y, and
// there are a third as many of those.
const rebuildHalf = 1500

func rebuildDocs(r *rig) {
	r.add("a", docsJSON(1, rebuildHalf, func(i int) string { return fmt.Sprintf(`"x":"common word%d","n":%d`, i, i) }))
	r.add("a", docsJSON(10_001, rebuildHalf/3, func(i int) string { return fmt.Sprintf(`"y":"common word%d","n":%d`, i, i) }))
}

// TestHammerSearchWhileRebuilding searches without pause while settings build
// one folder after the other: each search is answered, by the old settings or
// by the new, and after the task's end by the new alone.
func TestHammerSearchWhileRebuilding(t *testing.T) {
	r := newRig(t)
	patches := rebuildPatches()
	r.settings("a", patches[0])
	rebuildDocs(r)
	counts := []int{rebuildHalf, rebuildHalf / 3}
	stop := make(chan struct{})
	var searchers sync.WaitGroup
	for range 3 {
		searchers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				res, err := r.svc.Search(context.Background(), auth.Everyone(), "a", search.Query{Q: "common", Filter: filter("n > 0"), Limit: limit(1)})
				if err != nil {
					t.Errorf("search while rebuilding: %v", err)
					return
				}
				if n := res.EstimatedTotalHits; n != counts[0] && n != counts[1] {
					t.Errorf("search while rebuilding counts %d, want %d or %d", n, counts[0], counts[1])
					return
				}
			}
		})
	}
	rounds := 2 // to and fro
	if os.Getenv("LONG") != "" {
		rounds = 6 // more searches that meet a change
	}
	for i := range rounds {
		r.settings("a", patches[(i+1)%2])
		if n := r.search("a", search.Query{Q: "common"}).EstimatedTotalHits; n != counts[(i+1)%2] {
			t.Errorf("after %s search counts %d, want %d", patches[(i+1)%2], n, counts[(i+1)%2])
		}
	}
	close(stop)
	searchers.Wait()
}

// TestRebuildProgress wants to be told how far a rebuild is, and the index to
// say that it is busy.
func TestRebuildProgress(t *testing.T) {
	r := newRig(t)
	r.settings("a", rebuildPatches()[0])
	r.add("a", docsJSON(1, 2500, func(i int) string { return fmt.Sprintf(`"x":"common word%d"`, i) }))
	n, err := r.svc.UpdateSettings("a", []byte(rebuildPatches()[1]))
	if err != nil {
		t.Fatal(err)
	}
	run := task.NewRun([]task.Work{{Task: task.Task{UID: 1000, Type: n.Type, IndexUID: "a"}, Payload: n.Payload}})
	done := make(chan error, 1)
	go func() {
		_, err := r.svc.Process(t.Context(), run)
		done <- err
	}()
	var busy bool
	var furthest task.Progress
	for ended := false; !ended; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			ended = true
		default:
		}
		if p := run.Progress(); p.Done > furthest.Done {
			furthest = p
			st, err := r.svc.Stats(auth.Everyone(), "a")
			busy = busy || err == nil && st.IsIndexing
		}
	}
	if furthest.Done != 2000 || furthest.Total != 2500 || furthest.Step == "" || !busy && furthest.Done == 0 {
		t.Errorf("the furthest that was told is %+v, and the index was busy: %v; want 2000 of 2500, and true", furthest, busy)
	}
	if st, err := r.svc.Stats(auth.Everyone(), "a"); err != nil || st.IsIndexing {
		t.Errorf("after the end the index says it is busy, %v", err)
	}
}

const rebuildEnv = "PARLEY_TEST_CRASH_REBUILD"

// rebuildChild changes the settings to and fro without end, each time to what
// needs a new folder, and prints the number of each task that was accepted.
func rebuildChild(dir string) error {
	r := &rig{dir: dir}
	if err := r.tryOpen(); err != nil {
		return err
	}
	for {
		page, err := r.queue.Tasks(context.Background(), task.Filter{Limit: 1})
		if err != nil {
			return err
		}
		next := page.Results[0].UID + 1
		n, err := r.svc.UpdateSettings("a", []byte(rebuildPatches()[next%2]))
		if err != nil {
			return err
		}
		sum, err := r.queue.Enqueue(context.Background(), n)
		if err != nil {
			return err
		}
		fmt.Println(sum.TaskUID)
		if _, err := r.queue.Wait(context.Background(), sum.TaskUID); err != nil {
			return err
		}
	}
}

// TestCrashWhileRebuilding kills a process that builds folders anew, again and
// again: search is up at the next start, under the old settings or the new,
// no document is lost, and a folder that was not finished is gone.
func TestCrashWhileRebuilding(t *testing.T) {
	rounds := 4
	if os.Getenv("LONG") != "" {
		rounds = 20 // kills at more moments of a rebuild
	}
	r := newRig(t)
	r.settings("a", rebuildPatches()[0])
	rebuildDocs(r)
	r.close()
	counts := []int{rebuildHalf, rebuildHalf / 3}
	rng := rand.New(rand.NewPCG(5, 6))
	accepted, between := -1, 0
	var slowest time.Duration
	for range rounds {
		accepted = max(accepted, runAndKill(t, r.dir, time.Duration(20+rng.IntN(300))*time.Millisecond, rebuildEnv+"=1"))
		if left, err := filepath.Glob(filepath.Join(r.folders(), "*")); err == nil && len(left) > 1 {
			between++
		}
		start := time.Now()
		r.open()
		n := r.search("a", search.Query{Q: "common", Filter: filter("n > 0")}).EstimatedTotalHits
		slowest = max(slowest, time.Since(start))
		if n != counts[0] && n != counts[1] {
			t.Fatalf("after a kill search counts %d, want %d or %d", n, counts[0], counts[1])
		}
		// What was accepted goes on, and is in force once it is done.
		page, err := r.queue.Tasks(t.Context(), task.Filter{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		last, err := r.queue.Wait(t.Context(), page.Results[0].UID)
		if err != nil || last.Status != task.Succeeded || int(last.UID) < accepted {
			t.Fatalf("the last task is %+v, %v; %d was accepted", last, err, accepted)
		}
		if got, want := r.search("a", search.Query{Q: "common"}).EstimatedTotalHits, counts[last.UID%2]; last.Type == task.SettingsUpdate && got != want {
			t.Errorf("after task %d search counts %d, want %d", last.UID, got, want)
		}
		if got, want := len(r.all("a")), counts[0]+counts[1]; got != want {
			t.Errorf("%d documents, want %d", got, want)
		}
		r.folder() // fails unless there is one alone
		r.close()
	}
	if accepted < 0 {
		t.Fatal("no task was accepted before a kill; give it longer")
	}
	t.Logf("%d kills, %d with a folder half built, up within %v", rounds, between, slowest)
	r.open()
}

// TestDocumentBytes wants the size of documents counted through all that may
// happen to them.
func TestDocumentBytes(t *testing.T) {
	r := newRig(t)
	want := func(when string) {
		t.Helper()
		var bytes int64
		for _, d := range r.all("a") {
			bytes += int64(len(d))
		}
		st, err := r.svc.Stats(auth.Everyone(), "a")
		if err != nil || st.DocumentBytes != bytes {
			t.Errorf("%s: %d bytes, %v; want %d", when, st.DocumentBytes, err, bytes)
		}
	}
	r.add("a", docsJSON(1, 50, func(i int) string { return fmt.Sprintf(`"x":%q`, strings.Repeat("y", i)) }))
	want("added")
	r.add("a", `[{"id":3,"z":1},{"id":4}]`)
	want("replaced")
	r.ok(write.DeleteDocuments("a", []string{"5", "nope"}))
	want("deleted")
	r.reopen()
	want("reopened")
	r.ok(write.DeleteAllDocuments("a"))
	want("emptied")
}
