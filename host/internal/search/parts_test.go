package search_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/ingest"
	"github.com/parley-search/parley/host/internal/search/write"
	"github.com/parley-search/parley/host/internal/task"
)

// newSmallRig opens a service that has so little memory that a large task is
// written in many parts.
func newSmallRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{tb: t, dir: t.TempDir(), memory: 1}
	r.open()
	t.Cleanup(r.close)
	return r
}

// bodies are the files that wait for their tasks.
func (r *rig) bodies() []os.DirEntry {
	r.tb.Helper()
	list, err := os.ReadDir(filepath.Join(r.dir, "bodies"))
	if err != nil {
		r.tb.Fatal(err)
	}
	return list
}

func (r *rig) count(uid string) int {
	r.tb.Helper()
	st, err := r.svc.Stats(auth.Everyone(), uid)
	if err != nil {
		r.tb.Fatal(err)
	}
	return st.NumberOfDocuments
}

// TestLargeBody applies a body in parts, updates it, deletes by a filter, and
// wants documents, counts and words to agree.
func TestLargeBody(t *testing.T) {
	r := newSmallRig(t)
	r.settings("a", `{"filterableAttributes":["group"]}`)
	const n = 3000
	pad := strings.Repeat("lorem ipsum ", 25)
	read := func(partial bool, body string) task.Task {
		t.Helper()
		return r.ok(r.svc.ReadDocuments("a", write.Incoming{Format: ingest.JSON, Partial: partial}, strings.NewReader(body)))
	}
	body := docsJSON(0, n, func(i int) string { return fmt.Sprintf(`"x":"old","group":%d,"pad":%q`, i%3, pad) })
	done := read(false, body)
	if got, want := string(done.Details), fmt.Sprintf(`{"indexedDocuments":%d,"receivedDocuments":%d}`, n, n); got != want || done.Body != "" {
		t.Errorf("details %s, body %q; want %s, none", got, done.Body, want)
	}
	if left := r.bodies(); len(left) != 0 {
		t.Errorf("bodies left: %v", left)
	}
	read(true, docsJSON(0, n, func(int) string { return `"x":"new","more":"` + pad + `"` }))
	if got := r.search("a", search.Query{Q: "new", Limit: limit(1)}).EstimatedTotalHits; got != n || r.count("a") != n {
		t.Errorf("%d documents are found, %d counted; want %d", got, r.count("a"), n)
	}
	doc, err := r.svc.Document(t.Context(), auth.Everyone(), "a", "2999", nil, false)
	if err != nil || !strings.HasPrefix(string(doc), `{"id":2999,"x":"new","group":2,"pad":"lorem`) || !strings.Contains(string(doc), `,"more":"lorem`) {
		t.Errorf("document after an update = %.100s, %v", doc, err)
	}
	done = r.ok(r.svc.DeleteByFilter("a", filter("group = 1")))
	if got := string(done.Details); got != `{"deletedDocuments":1000,"originalFilter":"\"group = 1\"","providedIds":0}` {
		t.Errorf("details of a deletion by filter: %s", got)
	}
	if got := r.search("a", search.Query{Limit: limit(1)}).EstimatedTotalHits; got != 2000 || r.count("a") != 2000 {
		t.Errorf("after a deletion by filter %d documents are found, %d counted; want 2000", got, r.count("a"))
	}
	bad := r.run(r.svc.ReadDocuments("a", write.Incoming{Format: ingest.JSON}, strings.NewReader(body[:len(body)-1]+`,{"x":1}]`)))
	if bad.Status != task.Failed || !strings.Contains(bad.Error.Message, "Document 3001, at line 1 ") {
		t.Errorf("a body whose last document is bad: %s, %+v", bad.Status, bad.Error)
	}
	if got := r.search("a", search.Query{Q: "old", Limit: limit(1)}).EstimatedTotalHits; got != 0 || r.count("a") != 2000 {
		t.Errorf("of a task that failed %d documents are found, %d counted", got, r.count("a"))
	}
	r.reopen()
	if got := r.search("a", search.Query{Q: "new", Limit: limit(1)}).EstimatedTotalHits; got != 2000 {
		t.Errorf("%d documents are found after a start, want 2000", got)
	}
}

func TestBodyRefusedLeavesNothing(t *testing.T) {
	r := newSmallRig(t)
	body := docsJSON(0, 3000, func(int) string { return `"x":"` + strings.Repeat("x", 200) + `"` })
	_, err := r.svc.ReadDocuments("a", write.Incoming{Format: ingest.JSON}, strings.NewReader(body[:len(body)-3]))
	wantCode(t, "a body that is cut off", err, apierr.MalformedPayload)
	if left := r.bodies(); len(left) != 0 {
		t.Errorf("bodies left: %v", left)
	}
	// One whose task was never accepted goes with the next start.
	if _, err := r.svc.ReadDocuments("a", write.Incoming{Format: ingest.JSON}, strings.NewReader(body)); err != nil {
		t.Fatal(err)
	}
	if left := r.bodies(); len(left) != 1 {
		t.Errorf("bodies on their way: %v, want one", left)
	}
	r.reopen()
	if left := r.bodies(); len(left) != 0 {
		t.Errorf("bodies left after a start: %v", left)
	}
}

// TestFormats puts the same documents in by each format.
func TestFormats(t *testing.T) {
	r := newRig(t)
	for format, body := range map[ingest.BodyFormat]string{
		ingest.JSON:   `[{"id":1,"x":"one"},{"id":2,"x":null}]`,
		ingest.NDJSON: "{\"id\":1,\"x\":\"one\"}\n{\"id\":2,\"x\":null}\n",
		ingest.CSV:    "id:number,x\n1,one\n2,\n",
	} {
		uid := "i" + string(format)
		done := r.ok(r.svc.ReadDocuments(uid, write.Incoming{Format: format}, strings.NewReader(body)))
		if got := fmt.Sprintf("%s", r.all(uid)); got != `[{"id":1,"x":"one"} {"id":2,"x":null}]` || !strings.Contains(string(done.Details), `"receivedDocuments":2`) {
			t.Errorf("%s: documents %s, details %s", format, got, done.Details)
		}
	}
	for format, body := range map[ingest.BodyFormat]string{
		ingest.NDJSON: "{\"id\":1}\n{\"id\":2,}\n",
		ingest.CSV:    "id:number\n1\nx\n",
	} {
		done := r.run(r.svc.ReadDocuments("bad", write.Incoming{Format: format}, strings.NewReader(body)))
		if done.Status != task.Failed || done.Error.Code != "malformed_payload" || !strings.Contains(strings.ToLower(done.Error.Message), "line") || !strings.Contains(done.Error.Message, "No document") {
			t.Errorf("%s with a broken line: %s, %+v", format, done.Status, done.Error)
		}
		if _, err := r.svc.Index(auth.Everyone(), "bad"); !apierr.Is(err, indexerr.IndexNotFound) {
			t.Errorf("%s with a broken line: the index is there: %v", format, err)
		}
	}
	for format, body := range map[ingest.BodyFormat]string{ingest.JSON: " ", ingest.NDJSON: "\n\n", ingest.CSV: ""} {
		_, err := r.svc.ReadDocuments("bad", write.Incoming{Format: format}, strings.NewReader(body))
		wantCode(t, "empty "+string(format), err, apierr.MissingPayload)
	}
}

func TestDeleteByFilter(t *testing.T) {
	r := newRig(t)
	r.add("a", `[{"id":1,"x":1},{"id":2,"x":2}]`)
	done := r.run(r.svc.DeleteByFilter("a", filter("x = 1")))
	if done.Status != task.Failed || done.Error.Code != "invalid_document_filter" || !strings.Contains(done.Error.Message, "x") {
		t.Errorf("by an attribute that is not filterable: %s, %+v", done.Status, done.Error)
	}
	for _, bad := range []string{`"x ="`, `7`, `null`, `[]`, `""`} {
		_, err := r.svc.DeleteByFilter("a", []byte(bad))
		wantCode(t, bad, err, indexerr.InvalidDocumentFilter)
	}
	if done := r.run(r.svc.DeleteByFilter("nope", filter("x = 1"))); done.Error == nil || done.Error.Code != "index_not_found" {
		t.Errorf("of an index that is not there: %+v", done.Error)
	}
	r.settings("a", `{"filterableAttributes":["x"]}`)
	// Joined with what comes before it, it sees that.
	r.stop()
	for _, f := range []func() (task.New, error){
		func() (task.New, error) {
			return write.AddDocuments("a", "", true, []byte(`[{"id":2,"x":1},{"id":3,"x":1}]`))
		},
		func() (task.New, error) { return r.svc.DeleteByFilter("a", []byte(`[["x = 1","x = 7"]]`)) },
		func() (task.New, error) { return write.AddDocuments("a", "", true, []byte(`[{"id":4,"x":1}]`)) },
	} {
		n, err := f()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.queue.Enqueue(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	r.reopen()
	last := r.ok(write.DeleteDocuments("a", []string{"9"}))
	got, err := r.queue.Task(t.Context(), last.UID-2, nil)
	if err != nil || !strings.Contains(string(got.Details), `"deletedDocuments":3`) {
		t.Errorf("details %s, %v; want 3 deleted", got.Details, err)
	}
	if got := fmt.Sprintf("%s", r.all("a")); got != `[{"id":4,"x":1}]` {
		t.Errorf("documents left: %s", got)
	}
}
