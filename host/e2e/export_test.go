package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

const otherKey = "the master key of the other side"

// A door stands before another instance: it lets documents through, as many
// requests as it is told, and then holds the next one until it is opened.
type door struct {
	*httptest.Server
	reached chan struct{} // closed once a request is held
	open    func()
}

func newDoor(t *testing.T, to string, through int) *door {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(u)
	d := &door{reached: make(chan struct{})}
	opened := make(chan struct{})
	d.open = sync.OnceFunc(func() { close(opened) })
	held := sync.OnceFunc(func() { close(d.reached) })
	var mu sync.Mutex
	d.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/documents") {
			mu.Lock()
			through--
			wait := through < 0
			mu.Unlock()
			if wait {
				select {
				case <-opened:
				default:
					held()
					// Read whole, else the server does not notice that its client left.
					_, _ = io.Copy(io.Discard, r.Body)
					select {
					case <-opened:
					case <-r.Context().Done():
					}
					w.WriteHeader(http.StatusServiceUnavailable) // it will come again
					return
				}
			}
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		d.open()
		d.Close()
	})
	return d
}

// everything is what other has in its indexes, through its API.
func (h *house) everything(uid string) string {
	h.t.Helper()
	var list struct{ Results []json.RawMessage }
	if err := json.Unmarshal([]byte(h.must("GET", "/indexes/"+uid+"/documents?limit=10000&retrieveVectors=true", "").body), &list); err != nil {
		h.t.Fatal(err)
	}
	// An export goes by ids, while a list is in the order in which documents came.
	slices.SortFunc(list.Results, func(a, b json.RawMessage) int { return bytes.Compare(a, b) })
	return fmt.Sprintf("%s\n%s", h.must("GET", "/indexes/"+uid+"/settings", "").body, list.Results)
}

// settleTasks waits until nothing is left to do.
func (h *house) settleTasks() {
	h.t.Helper()
	if !settles(func() bool {
		return strings.Contains(h.must("GET", "/tasks?statuses=enqueued,processing", "").body, `"total":0`)
	}) {
		h.t.Fatal("tasks are left")
	}
	if r := h.must("GET", "/tasks?statuses=failed", ""); !strings.Contains(r.body, `"total":0`) {
		h.t.Errorf("failed: %s", r.body)
	}
}

// An export is held in the middle, the host goes down and comes back: the other
// side has the same settings, documents and vectors in the end, and got each
// document once. The key is nowhere in clear.
func TestExport(t *testing.T) {
	checkLeak(t)
	other := openHouse(t, map[string]string{"master-key": otherKey})
	other.client.Transport = bearer{other.client.Transport, otherKey}
	dir := t.TempDir()
	h := openHouse(t, map[string]string{"db-path": dir})
	h.dir = dir
	h.finish(h.must("PATCH", "/indexes/films/settings", `{"filterableAttributes":["year"],"embedders":{"plane":{"source":"userProvided","dimensions":2}}}`))
	h.addFilms(500)
	h.finish(h.must("POST", "/indexes/films/documents", `[{"id":1,"title":"With a vector","year":1901,"_vectors":{"plane":[0.5,1]}}]`))
	h.finish(h.must("POST", "/indexes/notes/documents", `[{"id":"a","text":"private"}]`))

	d := newDoor(t, other.url, 3)
	r := h.must("POST", "/export", fmt.Sprintf(`{"url":%q,"apiKey":%q,"payloadSize":"4 KiB","indexes":{"films":{}}}`, d.URL, otherKey))
	if r.status != http.StatusOK || !strings.Contains(r.body, `"type":"export"`) {
		t.Errorf("POST /export = %d %s, want 200 and the task", r.status, r.body)
	}
	within(t, d.reached, "the export reaches the door")
	if r := h.must("GET", "/batches?statuses=processing", ""); !strings.Contains(r.body, `"currentStep":"exporting index films"`) || strings.Contains(r.body, `"finished":0,`) {
		t.Errorf("batch = %s, want how far the export is", r.body)
	}
	before := h.everything("films")
	h.close()
	d.open()

	again := openHouse(t, map[string]string{"db-path": dir})
	again.dir = dir
	again.settleTasks()
	r = again.must("GET", "/tasks?types=export", "")
	if !strings.Contains(r.body, `"matchedDocuments":500`) || !strings.Contains(r.body, `"status":"succeeded"`) || !strings.Contains(r.body, `"apiKey":"the mXXXXXX..."`) {
		t.Errorf("task = %s", r.body)
	}
	other.settleTasks()
	if got := other.everything("films"); got != before {
		t.Errorf("the other side has\n%.2000s\nwant\n%.2000s", got, before)
	}
	if r := other.call("GET", "/indexes/notes", ""); r.status != http.StatusNotFound {
		t.Errorf("the other side has the index that nobody asked for: %d", r.status)
	}
	var sent struct {
		Results []struct {
			Details struct{ ReceivedDocuments int }
		}
	}
	if err := json.Unmarshal([]byte(other.must("GET", "/tasks?types=documentAdditionOrUpdate&limit=1000", "").body), &sent); err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, r := range sent.Results {
		total += r.Details.ReceivedDocuments
	}
	if total != 500 {
		t.Errorf("the other side was sent %d documents, want 500, each once", total)
	}
	again.checkSecret(otherKey, "private")
}

// An export that nobody takes can be canceled, and the queue goes on.
func TestExportCanceled(t *testing.T) {
	h := openHouse(t, nil)
	h.addFilms(10)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	h.must("POST", "/export", fmt.Sprintf(`{"url":%q}`, gone.URL))
	h.must("POST", "/tasks/cancel?types=export", "")
	h.settleTasks()
	if r := h.must("GET", "/tasks?types=export", ""); !strings.Contains(r.body, `"status":"canceled"`) {
		t.Errorf("task = %s, want it canceled", r.body)
	}
	h.addFilms(11)
}

// bearer sends a key along.
type bearer struct {
	http.RoundTripper
	key string
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer "+b.key)
	return b.RoundTripper.RoundTrip(r)
}
