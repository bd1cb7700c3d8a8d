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

	"github.com/parley-search/parley/host/e2e/apart"
	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/waittest"
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

// indexContent is what h has in its indexes, through its API.
func indexContent(h *house.House, uid string) string {
	h.T.Helper()
	var list struct{ Results []json.RawMessage }
	if err := json.Unmarshal([]byte(h.Must("GET", "/indexes/"+uid+"/documents?limit=10000&retrieveVectors=true", "").Body), &list); err != nil {
		h.T.Fatal(err)
	}
	// An export goes by ids, while a list is in the order in which documents came.
	slices.SortFunc(list.Results, func(a, b json.RawMessage) int { return bytes.Compare(a, b) })
	return fmt.Sprintf("%s\n%s", h.Must("GET", "/indexes/"+uid+"/settings", "").Body, list.Results)
}

// settleTasks waits until nothing is left to do.
func settleTasks(h *house.House) {
	h.T.Helper()
	if !waittest.Until(func() bool {
		return strings.Contains(h.Must("GET", "/tasks?statuses=enqueued,processing", "").Body, `"total":0`)
	}) {
		h.T.Fatal("tasks are left")
	}
	if r := h.Must("GET", "/tasks?statuses=failed", ""); !strings.Contains(r.Body, `"total":0`) {
		h.T.Errorf("failed: %s", r.Body)
	}
}

// An export is held in the middle, the host goes down and comes back: the other
// side has the same settings, documents and vectors in the end, and got each
// document once. The key is nowhere in clear.
func TestExport(t *testing.T) {
	if apart.Run(t) {
		return
	}
	checkLeak(t)
	other := house.Open(t, map[string]string{"master-key": otherKey})
	other.Client.Transport = bearer{other.Client.Transport, otherKey}
	dir := t.TempDir()
	h := house.Open(t, map[string]string{"db-path": dir})
	h.Dir = dir
	h.Finish(h.Must("PATCH", "/indexes/films/settings", `{"filterableAttributes":["year"],"embedders":{"plane":{"source":"userProvided","dimensions":2}}}`))
	h.AddFilms(500)
	h.Finish(h.Must("POST", "/indexes/films/documents", `[{"id":1,"title":"With a vector","year":1901,"_vectors":{"plane":[0.5,1]}}]`))
	h.Finish(h.Must("POST", "/indexes/notes/documents", `[{"id":"a","text":"private"}]`))

	d := newDoor(t, other.URL, 3)
	r := h.Must("POST", "/export", fmt.Sprintf(`{"url":%q,"apiKey":%q,"payloadSize":"4 KiB","indexes":{"films":{}}}`, d.URL, otherKey))
	if r.Status != http.StatusOK || !strings.Contains(r.Body, `"type":"export"`) {
		t.Errorf("POST /export = %d %s, want 200 and the task", r.Status, r.Body)
	}
	house.Within(t, d.reached, "the export reaches the door")
	if r := h.Must("GET", "/batches?statuses=processing", ""); !strings.Contains(r.Body, `"currentStep":"exporting index films"`) || strings.Contains(r.Body, `"finished":0,`) {
		t.Errorf("batch = %s, want how far the export is", r.Body)
	}
	before := indexContent(h, "films")
	h.Close()
	d.open()

	again := house.Open(t, map[string]string{"db-path": dir})
	again.Dir = dir
	settleTasks(again)
	r = again.Must("GET", "/tasks?types=export", "")
	if !strings.Contains(r.Body, `"matchedDocuments":500`) || !strings.Contains(r.Body, `"status":"succeeded"`) || !strings.Contains(r.Body, `"apiKey":"the mXXXXXX..."`) {
		t.Errorf("task = %s", r.Body)
	}
	settleTasks(other)
	if got := indexContent(other, "films"); got != before {
		t.Errorf("the other side has\n%.2000s\nwant\n%.2000s", got, before)
	}
	if r := other.Call("GET", "/indexes/notes", ""); r.Status != http.StatusNotFound {
		t.Errorf("the other side has the index that nobody asked for: %d", r.Status)
	}
	var sent struct {
		Results []struct {
			Details struct{ ReceivedDocuments int }
		}
	}
	if err := json.Unmarshal([]byte(other.Must("GET", "/tasks?types=documentAdditionOrUpdate&limit=1000", "").Body), &sent); err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, r := range sent.Results {
		total += r.Details.ReceivedDocuments
	}
	if total != 500 {
		t.Errorf("the other side was sent %d documents, want 500, each once", total)
	}
	again.CheckSecret(otherKey, "private")
}

// An export that nobody takes can be canceled, and the queue goes on.
func TestExportCanceled(t *testing.T) {
	h := house.Open(t, nil)
	h.AddFilms(10)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	h.Must("POST", "/export", fmt.Sprintf(`{"url":%q}`, gone.URL))
	h.Must("POST", "/tasks/cancel?types=export", "")
	settleTasks(h)
	if r := h.Must("GET", "/tasks?types=export", ""); !strings.Contains(r.Body, `"status":"canceled"`) {
		t.Errorf("task = %s, want it canceled", r.Body)
	}
	h.AddFilms(11)
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
