package search_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/write"
	"github.com/parley-search/parley/host/internal/task"
)

// Documents of an index whose vectors are made anew, and how many of them the
// embedder takes before it fails.
const (
	reembedDocs = 1000
	reembedMost = 600
)

// newReembed is an index with vectors, and an embedder that is going to fail.
func newReembed(t *testing.T) (*rig, *embedderAPI) {
	t.Helper()
	r, e := newRig(t), newEmbedder(t)
	r.settings("a", e.settings(""))
	r.add("a", docsJSON(0, reembedDocs, func(i int) string { return fmt.Sprintf(`"text":"sea %d"`, i) }))
	if n := len(strings.Split(e.texts(), "|")); n != reembedDocs {
		t.Fatalf("the embedder was asked about %d texts, want %d", n, reembedDocs)
	}
	e.mu.Lock()
	e.most = reembedMost
	e.mu.Unlock()
	return r, e
}

// anew are settings under which all vectors are made anew.
func (e *embedderAPI) anew() string {
	return strings.Replace(e.settings(""), "{{doc.text}}", "war {{doc.text}}", 1)
}

// mend lets the embedder take everything from now on.
func (e *embedderAPI) mend() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.most, e.enough = 0, nil
}

// TestReembedAfterFailure has an embedder fail in the middle of making all
// vectors anew: searches have the old ones, and who tries again asks only for
// what is missing, or has changed since.
func TestReembedAfterFailure(t *testing.T) {
	r, e := newReembed(t)
	done := r.run(r.svc.UpdateSettings("a", []byte(e.anew())))
	if done.Status != task.Failed || done.Error.Code != "vector_embedding_error" {
		t.Fatalf("settings whose embedder fails: %s, %+v", done.Status, done.Error)
	}
	made := map[string]bool{}
	for _, text := range strings.Split(e.texts(), "|") {
		made[text] = true
	}
	if len(made) < reembedMost {
		t.Fatalf("the embedder took %d texts, want at least %d", len(made), reembedMost)
	}
	r.wantVectors("a", "0", `{"api":{"embeddings":[[1,0]],"regenerate":true}}`)

	e.mend()
	r.ok(write.DeleteDocuments("a", []string{"1"}))
	r.add("a", `{"id":0,"text":"sea sea"}`)
	e.texts()
	r.settings("a", e.anew())
	again := 0
	for _, text := range strings.Split(e.texts(), "|") {
		if made[text] {
			again++
		}
	}
	// What came last was not written any more when the embedder failed.
	if again > 256 {
		t.Errorf("%d of %d texts were asked about again", again, len(made))
	}
	r.wantVectors("a", "0", `{"api":{"embeddings":[[2,1]],"regenerate":true}}`)
	r.wantVectors("a", "2", `{"api":{"embeddings":[[1,1]],"regenerate":true}}`)
	ratio := 1.0
	if got := r.search("a", search.Query{Vector: []float32{1, 1}, Hybrid: &settings.Hybrid{Embedder: "api", SemanticRatio: &ratio}}).EstimatedTotalHits; got != reembedDocs-1 {
		t.Errorf("%d documents have vectors, want %d: one was deleted meanwhile", got, reembedDocs-1)
	}

	// The same texts by another template: nothing is asked.
	r.settings("a", strings.Replace(e.anew(), "{{doc.text}}", "{{ doc.text }}", 1))
	if got := e.texts(); got != "" {
		t.Errorf("another template that says the same: asked about %.100s", got)
	}
	r.wantVectors("a", "2", `{"api":{"embeddings":[[1,1]],"regenerate":true}}`)
}

// stuck begins to make all vectors of index a anew, and returns once the
// embedder answers no more.
func (r *rig) stuck(e *embedderAPI) (taskUID uint32) {
	r.tb.Helper()
	reached := make(chan struct{})
	var once sync.Once
	e.mu.Lock()
	e.enough = func(ctx context.Context) {
		once.Do(func() { close(reached) })
		<-ctx.Done() // until the host gives up
	}
	e.mu.Unlock()
	n, err := r.svc.UpdateSettings("a", []byte(e.anew()))
	if err != nil {
		r.tb.Fatal(err)
	}
	sum, err := r.queue.Enqueue(r.tb.Context(), n)
	if err != nil {
		r.tb.Fatal(err)
	}
	<-reached
	return sum.TaskUID
}

// TestReembedAfterStop ends the host in the middle of making all vectors anew,
// and wants the next one to go on from there.
func TestReembedAfterStop(t *testing.T) {
	r, e := newReembed(t)
	uid := r.stuck(e)
	r.close()
	before := len(strings.Split(e.texts(), "|"))
	e.mend()
	r.open()
	if done, err := r.queue.Wait(t.Context(), uid); err != nil || done.Status != task.Succeeded {
		t.Fatalf("the task after a start: %+v, %v", done, err)
	}
	// What came last was not written any more.
	if after := len(strings.Split(e.texts(), "|")); before+after > reembedDocs+256 {
		t.Errorf("the embedder was asked about %d texts and %d more, want %d in all, and no more than 256 of them twice", before, after, reembedDocs)
	}
	r.wantVectors("a", "999", `{"api":{"embeddings":[[1,1]],"regenerate":true}}`)
}

// vectorSets lists the sets of vectors that an index has on disk.
func (r *rig) vectorSets(uid string) []uint32 {
	r.tb.Helper()
	metas, err := r.store.Metas()
	if err != nil {
		r.tb.Fatal(err)
	}
	var m struct{ Docs string }
	if err := json.Unmarshal(metas[uid], &m); err != nil {
		r.tb.Fatal(err)
	}
	sets, err := r.store.VectorSets(m.Docs)
	if err != nil {
		r.tb.Fatal(err)
	}
	return sets
}

// TestReembedCanceled leaves nothing of vectors that nobody wants any more.
func TestReembedCanceled(t *testing.T) {
	r, e := newReembed(t)
	uid := r.stuck(e)
	if _, err := r.queue.Cancel(t.Context(), task.Filter{UIDs: []uint32{uid}}, "", task.Replica{}); err != nil {
		t.Fatal(err)
	}
	if got, err := r.queue.Wait(t.Context(), uid); err != nil || got.Status != task.Canceled {
		t.Fatalf("the task: %+v, %v", got, err)
	}
	if sets := r.vectorSets("a"); len(sets) != 1 {
		t.Errorf("sets of vectors kept: %v, want the one in use", sets)
	}
	r.wantVectors("a", "2", `{"api":{"embeddings":[[1,0]],"regenerate":true}}`)
}
