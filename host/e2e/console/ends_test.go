package console

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/waittest"
)

// TestConsoleSearchEnds has a key that is pressed end the search of the one before.
func TestConsoleSearchEnds(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	h := consoleHost(t, nil)
	fillConsole(h)
	target, err := url.Parse(h.URL)
	if err != nil {
		t.Fatal(err)
	}
	came, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host
	}}
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the page has left
		}
		if strings.HasSuffix(r.URL.Path, "/search") && bytes.Contains(body, []byte(`"q":"w"`)) {
			came <- struct{}{}
			<-r.Context().Done()
			ended <- struct{}{}
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(slow.Close)
	p := b.open(slow.URL, screens[0])
	p.view("#/search/films", "Search")
	p.see("main", "Tarkovsky")
	p.run(chromedp.Focus("main input[type=search]"), chromedp.KeyEvent("w"))
	house.Within(t, came, "the first search")
	p.run(chromedp.KeyEvent("r"))
	house.Within(t, ended, "the end of the first search")
	p.see("main", "1 hit", "Stalker")
	if got := p.text("main"); strings.Contains(got, "Solaris") {
		t.Errorf("the page shows hits of the search that was ended: %.500s", got)
	}
}

// TestConsoleCancels cancels a task under way, and then all that wait.
func TestConsoleCancels(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	h := consoleHost(t, nil)
	fillConsole(h)
	asked := make(chan struct{}, 1)
	embedder := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case asked <- struct{}{}:
		default:
		}
		<-r.Context().Done()
	}))
	t.Cleanup(embedder.Close)
	h.Must("PATCH", "/indexes/films/settings", fmt.Sprintf(`{"embedders":{"slow":{"source":"rest","url":%q,"dimensions":2,"request":{"i":"{{text}}"},"response":{"e":"{{embedding}}"}}}}`, embedder.URL))
	house.Within(t, asked, "a request for vectors")
	h.Must("POST", "/indexes/other/documents", `[{"id":7}]`)
	h.Must("POST", "/indexes/another/documents", `[{"id":7}]`)

	p := b.open(h.URL, screens[0])
	p.view("#/tasks", "Tasks")
	p.see("main", "processing", "enqueued")
	p.run(chromedp.Click(`//button[. = "Cancel what waits"]`))
	p.see("dialog[open]", "Cancel all tasks that wait?", "cannot be taken up again")
	p.run(chromedp.Click(chromedp.CSS("#confirm-yes")))
	p.see("main", "canceled")
	for _, index := range []string{"other", "another"} {
		if r := h.Call("GET", "/indexes/"+index, ""); r.Status != http.StatusNotFound {
			t.Errorf("index %s answers %d after its task was canceled", index, r.Status)
		}
	}
	if got := p.text("main"); !strings.Contains(got, "processing") {
		t.Fatalf("the task under way is gone: %.500s", got)
	}
	p.run(chromedp.Click(`//tr[contains(., "processing")]//button[. = "Cancel"]`))
	if !waittest.Until(func() bool { return !strings.Contains(p.text("main tbody"), "processing") }) {
		t.Errorf("the task under way was not canceled: %.500s", p.text("main"))
	}
	if got := h.Must("GET", "/tasks?statuses=canceled", "").Body; strings.Count(got, `"status":"canceled"`) != 3 {
		t.Errorf("canceled tasks: %.500s", got)
	}
}
