package search_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/e2e/garbage"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/ingest"
	"github.com/parley-search/parley/host/internal/search/write"
	"github.com/parley-search/parley/host/internal/task"
)

// crashDirEnv makes the test binary the process that TestCrash kills.
const crashDirEnv = "PARLEY_TEST_CRASH_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDirEnv); dir != "" {
		child := crashChild
		if os.Getenv(rebuildEnv) != "" {
			child = rebuildChild
		}
		fmt.Fprintln(os.Stderr, child(dir))
		os.Exit(1)
	}
	garbage.Seldom()
	os.Exit(m.Run())
}

// What the large tasks of crashTask write.
const crashBig = 300

var crashPad = strings.Repeat("pad ", 300)

// crashChild enqueues tasks without end and prints the number of each that was
// accepted. Task n puts documents n and n+1 or deletes document n-7; every
// tenth task changes a setting that makes a new folder, and every tenth has a
// body that is kept in a file.
func crashChild(dir string) error {
	r := &rig{dir: dir, memory: 1, maxCrashes: 1000}
	if err := r.tryOpen(); err != nil {
		return err
	}
	page, err := r.queue.Tasks(context.Background(), task.Filter{Limit: 1})
	if err != nil {
		return err
	}
	n := 0
	if len(page.Results) > 0 {
		n = int(page.Results[0].UID) + 1
	}
	for ; ; n++ {
		work, err := r.crashTask(n)
		if err != nil {
			return err
		}
		sum, err := r.queue.Enqueue(context.Background(), work)
		if err != nil {
			return err
		}
		if sum.TaskUID != uint32(n) {
			return fmt.Errorf("task %d was given number %d", n, sum.TaskUID)
		}
		fmt.Println(n)
		if n < 20 {
			continue
		}
		// Else most tasks would still wait when the last child is gone.
		if _, err := r.queue.Wait(context.Background(), uint32(n-20)); err != nil {
			return err
		}
	}
}

func (r *rig) crashTask(n int) (task.New, error) {
	switch n % 10 {
	case 3:
		return write.DeleteDocuments("a", []string{strconv.Itoa(n - 7)})
	case 5:
		// Larger than a payload takes, and than a part of the least memory.
		var body strings.Builder
		fmt.Fprintf(&body, "[{\"id\":%d,\"x\":\"word%d\"}", n, n)
		for i := range crashBig {
			fmt.Fprintf(&body, ",\n{\"id\":%d,\"n\":%d,\"pad\":%q}", 100_000+i, n, crashPad)
		}
		return r.svc.ReadDocuments("a", write.Incoming{Format: ingest.JSON, Partial: true}, strings.NewReader(body.String()+"]"))
	case 7:
		return r.svc.UpdateSettings("a", fmt.Appendf(nil, `{"filterableAttributes":["f%d"]}`, n/10%3))
	}
	return write.AddDocuments("a", "", n%2 == 1, fmt.Appendf(nil, `[{"id":%d,"x":"word%d","f%d":%d},{"id":%d,"y":"next%d"}]`, n, n, n%3, n, n+1, n))
}

// TestCrash kills a process that writes, again and again, and wants every task
// that it accepted applied, once, and index and documents to agree.
func TestCrash(t *testing.T) {
	rounds := 2
	if os.Getenv("LONG") != "" {
		rounds = 8
	}
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(3, 4))
	accepted := -1
	for range rounds {
		accepted = max(accepted, runAndKill(t, dir, time.Duration(50+rng.IntN(400))*time.Millisecond))
	}
	if accepted < 0 {
		t.Fatal("no task was accepted before a kill; give it longer")
	}
	r := &rig{tb: t, dir: dir, memory: 1, maxCrashes: 1000}
	r.open()
	defer r.close()
	page, err := r.queue.Tasks(t.Context(), task.Filter{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	last := int(page.Results[0].UID)
	if last < accepted {
		t.Fatalf("the newest task is %d, %d was accepted", last, accepted)
	}
	want := map[string]map[string]any{}
	for n := range last + 1 {
		done, err := r.queue.Wait(t.Context(), uint32(n))
		if err != nil || done.Status != task.Succeeded {
			t.Fatalf("task %d: %+v, %v", n, done, err)
		}
		crashModel(want, n)
	}
	t.Logf("%d kills, %d tasks", rounds, last+1)
	r.checkAgainst("a", want)
	// The same once more from what lies on the disk.
	r.reopen()
	r.checkAgainst("a", want)
}

// crashModel does to docs what crashTask's task does.
func crashModel(docs map[string]map[string]any, n int) {
	switch n % 10 {
	case 3:
		delete(docs, strconv.Itoa(n-7))
		return
	case 5:
		for i := range crashBig {
			docs[strconv.Itoa(100_000+i)] = map[string]any{"id": float64(100_000 + i), "n": float64(n), "pad": crashPad}
		}
	case 7:
		return
	}
	put := func(id int, fields map[string]any) {
		key := strconv.Itoa(id)
		fields["id"] = float64(id)
		if old := docs[key]; old != nil && n%2 == 1 {
			for k, v := range fields {
				old[k] = v
			}
			return
		}
		docs[key] = fields
	}
	if n%10 == 5 {
		put(n, map[string]any{"x": fmt.Sprint("word", n)})
		return
	}
	put(n, map[string]any{"x": fmt.Sprint("word", n), fmt.Sprint("f", n%3): float64(n)})
	put(n+1, map[string]any{"y": fmt.Sprint("next", n)})
}

// checkAgainst wants the documents of an index to be want, by id, and the
// search to find each by its words and no other.
func (r *rig) checkAgainst(uid string, want map[string]map[string]any) {
	r.tb.Helper()
	got := r.all(uid)
	if len(got) != len(want) {
		r.tb.Errorf("%d documents, want %d", len(got), len(want))
	}
	for _, b := range got {
		var d map[string]any
		if err := json.Unmarshal(b, &d); err != nil {
			r.tb.Fatal(err)
		}
		id := fmt.Sprint(d["id"])
		if fmt.Sprint(d) != fmt.Sprint(want[id]) {
			r.tb.Errorf("document %s is %v, want %v", id, d, want[id])
		}
	}
	if n := r.search(uid, search.Query{}).EstimatedTotalHits; n != len(want) {
		r.tb.Errorf("the search counts %d documents, want %d", n, len(want))
	}
	words := map[string][]string{}
	for id, d := range want {
		for _, f := range []string{"x", "y"} {
			if w, ok := d[f].(string); ok {
				words[w] = append(words[w], id)
			}
		}
	}
	for w, ids := range words {
		res := r.search(uid, search.Query{Q: `"` + w + `"`})
		if len(res.Hits) != len(ids) || len(ids) > 0 && res.Hits[0].ID != ids[0] {
			r.tb.Errorf("search %s found %d documents, want %v", w, len(res.Hits), ids)
		}
	}
}

// runAndKill runs a child on dir for some time, kills it, and returns the
// number of the last task that it said was accepted, -1 without one.
func runAndKill(t *testing.T, dir string, after time.Duration, env ...string) int {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(append(os.Environ(), crashDirEnv+"="+dir), env...)
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	last := -1
	lines := bufio.NewScanner(out)
	if lines.Scan() { // from the first one on, else a slow start would be all there is
		timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
		for ok := true; ok; ok = lines.Scan() {
			if last, err = strconv.Atoi(lines.Text()); err != nil {
				t.Fatalf("child said %q", lines.Text())
			}
		}
	}
	_ = cmd.Wait()
	if complaint.Len() > 0 {
		t.Fatalf("child: %s", complaint.String())
	}
	return last
}
