package e2e

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/waittest"
)

// A listener is an address that is told of finished tasks.
type listener struct {
	url string

	mu   sync.Mutex
	told map[uint32]string // by task, the header X-Key that it came with
}

func listen(t *testing.T) *listener {
	t.Helper()
	l := &listener{told: map[uint32]string{}}
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Errorf("a webhook's message is not packed: %v", err)
			return
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		for lines := json.NewDecoder(z); lines.More(); {
			var task struct {
				UID    uint32
				Status string
			}
			if err := lines.Decode(&task); err != nil || task.Status == "" {
				t.Errorf("a line of a webhook's message: %+v, %v", task, err)
				return
			}
			l.told[task.UID] = r.Header.Get("X-Key")
		}
	}))
	t.Cleanup(srv.Close)
	l.url = srv.URL
	return l
}

// hears waits until l was told of a task, with a header.
func (l *listener) hears(t *testing.T, task uint32, header string) {
	t.Helper()
	if !waittest.Until(func() bool { l.mu.Lock(); defer l.mu.Unlock(); _, ok := l.told[task]; return ok }) {
		t.Fatalf("%s was not told of task %d", l.url, task)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.told[task] != header {
		t.Errorf("%s was told of task %d with the header %q, want %q", l.url, task, l.told[task], header)
	}
}

// trimmed is must without the line break behind a body.
func trimmed(h *house.House, method, path, body string) house.Reply {
	h.T.Helper()
	r := h.Must(method, path, body)
	r.Body = strings.TrimSpace(r.Body)
	return r
}

// deed has the host finish a task, and returns its number.
func deed(h *house.House) uint32 {
	h.T.Helper()
	r := h.Must("PUT", "/indexes/a/settings/stop-words", `["the"]`)
	var task struct {
		TaskUID uint32 `json:"taskUid"`
	}
	if err := json.Unmarshal([]byte(r.Body), &task); err != nil {
		h.T.Fatal(err)
	}
	h.Finish(r)
	return task.TaskUID
}

// TestWebhooks has clients add, change and take away webhooks, beside the
// operator's, through a restart and a dump.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	const key = "whsec-0123456789-0123456789-secret"
	operator, one, other := listen(t), listen(t), listen(t)
	dir, out := t.TempDir(), t.TempDir()
	flags := map[string]string{"db-path": dir, "dump-dir": out, "task-webhook-url": operator.url + "/geheim"}
	h := house.Open(t, flags)
	r := trimmed(h, "POST", "/webhooks", fmt.Sprintf(`{"url":%q,"headers":{"X-Key":%q,"X-Gone":"x"}}`, one.url+"/tasks", key))
	var hook struct{ UUID string }
	if err := json.Unmarshal([]byte(r.Body), &hook); err != nil || r.Status != http.StatusCreated {
		t.Fatalf("POST /webhooks: %d %s, %v", r.Status, r.Body, err)
	}
	path := "/webhooks/" + hook.UUID
	shown := fmt.Sprintf(`{"uuid":%q,"isEditable":true,"url":%q,"headers":{"X-Gone":"XXX...","X-Key":"whsecXXXXXX..."}}`, hook.UUID, one.url+"/tasks")
	if got := trimmed(h, "GET", path, "").Body; r.Body != shown || got != shown {
		t.Errorf("the webhook is shown as %s, then %s; want %s", r.Body, got, shown)
	}
	list := trimmed(h, "GET", "/webhooks", "").Body
	if want := fmt.Sprintf(`{"results":[{"uuid":"00000000-0000-0000-0000-000000000000","isEditable":false,"url":"%s/XXX...","headers":{}},%s]}`, operator.url, shown); list != want {
		t.Errorf("GET /webhooks: %s\nwant %s", list, want)
	}
	task := deed(h)
	operator.hears(t, task, "")
	one.hears(t, task, key)

	// Sent back as shown, with another path and a header less.
	r = trimmed(h, "PATCH", path, fmt.Sprintf(`{"url":%q,"headers":{"X-Key":"whsecXXXXXX...","X-Gone":null}}`, one.url))
	if want := `"headers":{"X-Key":"whsecXXXXXX..."}}`; !strings.HasSuffix(r.Body, want) {
		t.Errorf("after a change %s, want …%s", r.Body, want)
	}
	one.hears(t, deed(h), key)
	file := makeArchive(h, "dump", out)

	// What was given for one host does not go to another.
	r = trimmed(h, "PATCH", path, fmt.Sprintf(`{"url":%q}`, other.url))
	if !strings.HasSuffix(r.Body, `"headers":{}}`) {
		t.Errorf("at another host: %s, want no headers", r.Body)
	}
	other.hears(t, deed(h), "")
	h.Close()
	h = house.Open(t, flags)
	task = deed(h)
	operator.hears(t, task, "")
	other.hears(t, task, "")

	if r := h.Call("DELETE", "/webhooks/00000000-0000-0000-0000-000000000000", ""); r.Status != http.StatusBadRequest {
		t.Errorf("the operator's webhook is deleted: %d %s", r.Status, r.Body)
	}
	if r := h.Must("DELETE", path, ""); r.Status != http.StatusNoContent {
		t.Errorf("DELETE: %d %s", r.Status, r.Body)
	}
	task = deed(h)
	operator.hears(t, task, "")
	other.mu.Lock()
	if _, told := other.told[task]; told {
		t.Error("a webhook that was deleted was told of a task")
	}
	other.mu.Unlock()
	h.CheckSecret(key, "stopWords")

	// Out of the dump, under the key that it is sealed with.
	restored := t.TempDir()
	sealing, err := os.ReadFile(filepath.Join(dir, "seal.key"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, restored, "seal.key", sealing)
	h = house.Open(t, map[string]string{"db-path": restored, "import-dump": file})
	one.hears(t, deed(h), key)
}

// TestWebhookPrivate wants an address that the host may not ask told of nothing.
func TestWebhookPrivate(t *testing.T) {
	private := listen(t)
	h := house.Open(t, map[string]string{"allow-private-networks": "10.1.2.3"})
	h.Must("POST", "/webhooks", fmt.Sprintf(`{"url":%q}`, private.url))
	deed(h)
	if !waittest.Until(func() bool { return hasLine(h, "webhook failed", "--allow-private-networks") }) {
		t.Error("the log does not say that the address is private")
	}
	private.mu.Lock()
	defer private.mu.Unlock()
	if len(private.told) != 0 {
		t.Errorf("the private address was told of %v", private.told)
	}
}
