package console

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/parley-search/parley/host/internal/base/waittest"
)

// TestConsoleHybrid moves the slider between words and meaning, by keyboard: at its
// left end words alone are asked for, at its right one the meaning alone.
func TestConsoleHybrid(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	embed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"v":[0,1]}`) }))
	t.Cleanup(embed.Close)
	h := consoleHost(t, nil)
	h.Finish(h.Must("PATCH", "/indexes/near/settings", fmt.Sprintf(`{"searchableAttributes":["title"],"embedders":{"e":{"source":"rest","url":%q,"dimensions":2,"request":{"i":"{{text}}"},"response":{"v":"{{embedding}}"}}}}`, embed.URL)))
	h.Finish(h.Must("POST", "/indexes/near/documents", `[{"id":1,"title":"A cat","_vectors":{"e":[1,0]}},{"id":2,"title":"A kitten","_vectors":{"e":[0,1]}},{"id":3,"title":"A ship","_vectors":{"e":[-1,0]}}]`))
	for _, s := range []screen{screens[0], screens[3]} {
		t.Run(s.name, func(t *testing.T) {
			p := (&browser{t, b.ctx}).open(h.URL, s)
			first := func(title string) {
				t.Helper()
				if !waittest.Until(func() bool { return p.text("main article h2") == title }) {
					t.Errorf("the first hit is %q, want %q", p.text("main article h2"), title)
				}
			}
			p.view("#/search/near", "Search")
			p.run(chromedp.WaitVisible(`main input[type="search"]`), chromedp.KeyEvent("cat"))
			p.see("main", "3 hits in") // half of each finds all
			p.look(s, "search-hybrid")
			p.tab("Words or meaning")
			p.run(chromedp.KeyEvent(kb.End))
			first("A kitten")
			p.run(chromedp.KeyEvent(kb.Home))
			p.see("main", "1 hit in")
			first("A cat")
		})
	}
}
