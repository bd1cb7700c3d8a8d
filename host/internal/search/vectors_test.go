package search_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/write"
	"github.com/parley-search/parley/host/internal/task"
)

// An embedderAPI makes vectors of two numbers: how many times a text has "sea"
// and "war" in it. It notes what it was asked.
type embedderAPI struct {
	url string

	mu     sync.Mutex
	asked  []string
	status int // answered instead, where not 0
	dims   int // further numbers, zero
	// most is how many texts it takes before enough is called with each further
	// request, which then fails; 0: all.
	most   int
	enough func(ctx context.Context)
}

func newEmbedder(t *testing.T) *embedderAPI {
	t.Helper()
	e := &embedderAPI{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // before waiting: only then is a client that left noticed
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.status != 0 {
			w.WriteHeader(e.status)
			return
		}
		if e.most > 0 && len(e.asked) >= e.most {
			if enough := e.enough; enough != nil {
				e.mu.Unlock()
				enough(r.Context())
				e.mu.Lock()
			}
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		var in struct{ Input []string }
		if err := json.Unmarshal(body, &in); err != nil {
			t.Errorf("the embedder was sent %s", body)
		}
		var parts []string
		for _, text := range in.Input {
			e.asked = append(e.asked, text)
			parts = append(parts, fmt.Sprintf(`{"embedding":[%d,%d%s]}`, strings.Count(text, "sea"), strings.Count(text, "war"), strings.Repeat(",0", e.dims)))
		}
		fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(parts, ","))
	}))
	t.Cleanup(srv.Close)
	e.url = srv.URL
	return e
}

// settings are those of an index that this embedder looks after.
func (e *embedderAPI) settings(more string) string {
	return fmt.Sprintf(`{"embedders":{"api":{"source":"rest","url":%q,"request":{"input":["{{text}}","{{..}}"]},"response":{"data":[{"embedding":"{{embedding}}"},"{{..}}"]},"documentTemplate":"{{doc.text}}"%s}}}`, e.url, more)
}

// texts returns what was asked since the last call.
func (e *embedderAPI) texts() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := strings.Join(e.asked, "|")
	e.asked = nil
	return all
}

func (e *embedderAPI) fail(status int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.status = status
}

// vectors returns a document's vectors as a client sees them, "" for none.
func (r *rig) vectors(uid, id string) string {
	r.tb.Helper()
	p, err := listDocuments(r.svc, r.tb.Context(), auth.Everyone(), uid, search.DocumentsQuery{Limit: limit(1000), RetrieveVectors: true})
	if err != nil {
		r.tb.Fatal(err)
	}
	for _, raw := range p.Documents {
		var d struct {
			ID      json.Number
			Vectors json.RawMessage `json:"_vectors"`
		}
		if err := json.Unmarshal(raw, &d); err != nil {
			r.tb.Fatal(err)
		}
		if d.ID.String() == id {
			return string(d.Vectors)
		}
	}
	return "no document"
}

func (r *rig) wantVectors(uid, id, want string) {
	r.tb.Helper()
	if got := r.vectors(uid, id); got != want {
		r.tb.Errorf("document %s has the vectors %s, want %s", id, got, want)
	}
}

// update is a partial update.
func (r *rig) update(uid, body string) {
	r.tb.Helper()
	r.ok(write.AddDocuments(uid, "", true, []byte(body)))
}

func TestUserVectors(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"embedders":{"mine":{"source":"userProvided","dimensions":2}}}`)
	r.add("a", `[{"id":1,"_vectors":{"mine":[1,2]}},{"id":2,"_vectors":{"mine":[[1,0],[0,1]]}},{"id":3,"_vectors":{"mine":{"embeddings":[0.5,1e-3],"regenerate":false}}},{"id":4},{"id":5,"_vectors":{"mine":null}}]`)
	check := func() {
		t.Helper()
		r.wantVectors("a", "1", `{"mine":{"embeddings":[[1,2]],"regenerate":false}}`)
		r.wantVectors("a", "2", `{"mine":{"embeddings":[[1,0],[0,1]],"regenerate":false}}`)
		r.wantVectors("a", "3", `{"mine":{"embeddings":[[0.5,0.001]],"regenerate":false}}`)
		r.wantVectors("a", "4", `{}`)
		r.wantVectors("a", "5", `{"mine":{"embeddings":[],"regenerate":false}}`)
	}
	check()
	r.reopen()
	check()

	// A partial update keeps them, a replaced document has none any more.
	r.update("a", `[{"id":1,"x":1},{"id":2,"_vectors":{"mine":[3,4]}}]`)
	r.wantVectors("a", "1", `{"mine":{"embeddings":[[1,2]],"regenerate":false}}`)
	r.wantVectors("a", "2", `{"mine":{"embeddings":[[3,4]],"regenerate":false}}`)
	r.add("a", `[{"id":1}]`)
	r.wantVectors("a", "1", `{}`)

	// Nor has one that was deleted and comes again, whatever is one batch.
	r.ok(write.DeleteDocuments("a", []string{"2"}))
	r.add("a", `[{"id":2}]`)
	r.wantVectors("a", "2", `{}`)
	r.ok(write.DeleteAllDocuments("a"))
	r.add("a", `[{"id":3}]`)
	r.wantVectors("a", "3", `{}`)
}

// The vectors are no field of the document: not searched, not counted, not
// shown where nobody asks.
func TestVectorsAreNoField(t *testing.T) {
	r := newRig(t)
	r.add("a", `[{"id":1,"title":"x","_vectors":{"mine":[1,2]}}]`)
	if got := r.document("a", "1"); got != `{"id":1,"title":"x"}` {
		t.Errorf("document = %s", got)
	}
	st, err := r.svc.Stats(auth.Everyone(), "a")
	if err != nil || len(st.FieldDistribution) != 2 {
		t.Errorf("Stats = %+v, %v; want two fields", st, err)
	}
	// They may come before their embedder does.
	r.wantVectors("a", "1", `{"mine":{"embeddings":[[1,2]],"regenerate":false}}`)
	r.settings("a", `{"embedders":{"mine":{"source":"userProvided","dimensions":2}}}`)
	r.wantVectors("a", "1", `{"mine":{"embeddings":[[1,2]],"regenerate":false}}`)
	r.settings("a", `{"displayedAttributes":["title"]}`)
}

func TestBadVectors(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"embedders":{"mine":{"source":"userProvided","dimensions":2}}}`)
	many := "[" + strings.TrimSuffix(strings.Repeat("[1,2],", 257), ",") + "]"
	for _, tt := range []struct {
		vectors string
		code    apierr.Code
		says    string
	}{
		{`"x"`, indexerr.InvalidVectorsType, "`_vectors` is a string"},
		{`{"mine":"x"}`, indexerr.InvalidVectorsType, "`_vectors.mine` is a string"},
		{`{"mine":["x"]}`, indexerr.InvalidVectorsType, "`_vectors.mine`"},
		{`{"mine":[[1,2],"x"]}`, indexerr.InvalidVectorsType, "`_vectors.mine[1]`"},
		{`{"mine":[[]]}`, indexerr.InvalidVectorsType, "without numbers"},
		{`{"mine":[1e39,1]}`, indexerr.InvalidVectorsType, "32 bits"},
		{`{"mine":{"embeddings":[1,2]}}`, indexerr.InvalidVectorsType, "no `regenerate`"},
		{`{"mine":{"regenerate":1}}`, indexerr.InvalidVectorsType, "true or false"},
		{`{"mine":{"regenerate":true,"embedding":[1,2]}}`, indexerr.InvalidVectorsType, "unknown field `embedding`"},
		{`{"mine":{"regenerate":false,"embeddings":7}}`, indexerr.InvalidVectorsType, "is a number"},
		{`{"mine":[1,2,3]}`, indexerr.InvalidVectorDimensions, "3 numbers; expected 2"},
		{`{"mine":` + many + `}`, indexerr.TooManyVectors, "more than 256"},
	} {
		got := r.run(write.AddDocuments("a", "", false, []byte(`[{"id":1},{"id":2,"_vectors":`+tt.vectors+`}]`)))
		if got.Status != task.Failed || got.Error.Code != tt.code.String() || !strings.Contains(got.Error.Message, tt.says) {
			t.Errorf("%.40s: %s %+v, want code %s with %q", tt.vectors, got.Status, got.Error, tt.code, tt.says)
		}
	}
	if n := r.search("a", search.Query{}).EstimatedTotalHits; n != 0 {
		t.Errorf("%d documents are left of tasks that failed", n)
	}
}

func TestRestEmbedder(t *testing.T) {
	r := newRig(t)
	e := newEmbedder(t)
	r.settings("a", e.settings(""))
	r.add("a", `[{"id":1,"text":"sea"},{"id":2,"text":"war war"},{"id":3,"text":"sea"},{"id":4},{"id":5,"text":"own","_vectors":{"api":[7,7]}}]`)
	if got := e.texts(); got != "sea|war war" {
		t.Errorf("the embedder was asked about %q, want each text once, and no empty or own one", got)
	}
	r.wantVectors("a", "1", `{"api":{"embeddings":[[1,0]],"regenerate":true}}`)
	r.wantVectors("a", "2", `{"api":{"embeddings":[[0,2]],"regenerate":true}}`)
	r.wantVectors("a", "4", `{"api":{"embeddings":[],"regenerate":true}}`)
	r.wantVectors("a", "5", `{"api":{"embeddings":[[7,7]],"regenerate":false}}`)

	// Only what changes the text costs a request.
	r.update("a", `[{"id":1,"other":1},{"id":5,"text":"sea sea"}]`)
	r.add("a", `[{"id":3,"text":"sea","x":1}]`)
	if got := e.texts(); got != "" {
		t.Errorf("the embedder was asked about %q, want nothing", got)
	}
	r.update("a", `[{"id":1,"text":"sea war"},{"id":5,"_vectors":{"api":{"regenerate":true}}}]`)
	if got := e.texts(); got != "sea war|sea sea" {
		t.Errorf("the embedder was asked about %q", got)
	}
	r.wantVectors("a", "1", `{"api":{"embeddings":[[1,1]],"regenerate":true}}`)
	r.wantVectors("a", "5", `{"api":{"embeddings":[[2,0]],"regenerate":true}}`)
	r.add("a", `[{"id":5,"text":"own","_vectors":{"api":{"embeddings":[[8,8]],"regenerate":true}}}]`)
	r.wantVectors("a", "5", `{"api":{"embeddings":[[8,8]],"regenerate":true}}`)
	r.update("a", `[{"id":5,"text":"sea"}]`)
	r.wantVectors("a", "5", `{"api":{"embeddings":[[1,0]],"regenerate":true}}`)
}

// A task whose vectors cannot be made fails, says why, and leaves nothing.
func TestRestEmbedderFails(t *testing.T) {
	r := newRig(t)
	e := newEmbedder(t)
	r.settings("a", e.settings(""))
	r.add("a", `[{"id":1,"text":"sea"}]`)
	for _, status := range []int{401, 404, 429, 503} {
		e.fail(status)
		got := r.run(write.AddDocuments("a", "", false, []byte(`[{"id":1,"text":"war"},{"id":2,"text":"sea"}]`)))
		if got.Status != task.Failed || got.Error.Code != "vector_embedding_error" || !strings.Contains(got.Error.Message, fmt.Sprint(status)) || !strings.Contains(got.Error.Message, "`api`") {
			t.Errorf("%d: %s %+v", status, got.Status, got.Error)
		}
	}
	r.wantVectors("a", "1", `{"api":{"embeddings":[[1,0]],"regenerate":true}}`)
	r.wantVectors("a", "2", "no document")

	got := r.run(r.svc.UpdateSettings("a", []byte(e.anew())))
	if got.Status != task.Failed || got.Error.Code != "vector_embedding_error" {
		t.Errorf("settings: %s %+v", got.Status, got.Error)
	}
	r.wantVectors("a", "1", `{"api":{"embeddings":[[1,0]],"regenerate":true}}`)
	e.fail(0)
	r.add("a", `[{"id":2,"text":"sea"}]`)
	r.wantVectors("a", "2", `{"api":{"embeddings":[[1,0]],"regenerate":true}}`)
}

// New settings make the vectors anew where they would be others, and only then.
func TestNewEmbedderSettings(t *testing.T) {
	r := newRig(t)
	e := newEmbedder(t)
	var docs []string
	for i := range 600 {
		docs = append(docs, fmt.Sprintf(`{"id":%d,"text":"sea %d","title":"war"}`, i, i))
	}
	docs = append(docs, `{"id":1000,"text":"sea","_vectors":{"api":[5,5]}}`)
	r.add("a", "["+strings.Join(docs, ",")+"]")
	r.settings("a", e.settings(""))
	if n := strings.Count(e.texts(), "sea"); n != 600 {
		t.Errorf("the embedder was asked about %d documents, want 600", n)
	}
	r.wantVectors("a", "7", `{"api":{"embeddings":[[1,0]],"regenerate":true}}`)
	r.wantVectors("a", "1000", `{"api":{"embeddings":[[5,5]],"regenerate":false}}`)

	r.settings("a", e.settings(`,"binaryQuantized":true,"distribution":{"mean":0.5,"sigma":0.1}`))
	r.settings("a", `{"searchableAttributes":["title"]}`)
	if got := e.texts(); got != "" {
		t.Errorf("the embedder was asked about %.100q, want nothing", got)
	}
	r.settings("a", `{"embedders":{"api":{"documentTemplate":"{{doc.title}}"}}}`)
	if n := strings.Count(e.texts(), "war"); n != 600 {
		t.Errorf("the embedder was asked about %d documents, want 600", n)
	}
	r.wantVectors("a", "7", `{"api":{"embeddings":[[0,1]],"regenerate":true}}`)
	r.wantVectors("a", "1000", `{"api":{"embeddings":[[5,5]],"regenerate":false}}`)

	// What an embedder made goes with it; what documents brought stays.
	r.settings("a", `{"embedders":{"api":null}}`)
	r.wantVectors("a", "7", `{}`)
	r.wantVectors("a", "1000", `{"api":{"embeddings":[[5,5]],"regenerate":false}}`)
	got := r.run(r.svc.UpdateSettings("a", []byte(`{"embedders":{"api":{"source":"userProvided","dimensions":3}}}`)))
	if got.Status != task.Failed || got.Error.Code != "invalid_vector_dimensions" || !strings.Contains(got.Error.Message, "`1000`") {
		t.Errorf("dimensions that documents do not have: %s %+v", got.Status, got.Error)
	}
	if s, err := r.svc.Settings(auth.Everyone(), "a"); err != nil || len(s.Embedders) != 0 {
		t.Errorf("embedders = %+v, %v; want none", s.Embedders, err)
	}
}

// The dimensions are those of the first vector, and what comes later must fit.
func TestDimensionsAreInferred(t *testing.T) {
	r := newRig(t)
	e := newEmbedder(t)
	r.settings("a", e.settings(""))
	r.add("a", `[{"id":1,"text":"sea"}]`)
	got := r.run(write.AddDocuments("a", "", false, []byte(`[{"id":2,"_vectors":{"api":[1,2,3]}}]`)))
	if got.Status != task.Failed || got.Error.Code != "invalid_vector_dimensions" {
		t.Errorf("own vector of another length: %s %+v", got.Status, got.Error)
	}
	e.mu.Lock()
	e.dims = 1
	e.mu.Unlock()
	got = r.run(write.AddDocuments("a", "", false, []byte(`[{"id":2,"text":"war"}]`)))
	if got.Status != task.Failed || got.Error.Code != "vector_embedding_error" || !strings.Contains(got.Error.Message, "3 numbers; expected 2") {
		t.Errorf("answer of another length: %s %+v", got.Status, got.Error)
	}
}
