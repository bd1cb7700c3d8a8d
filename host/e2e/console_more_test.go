package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestConsoleHybrid moves the slider between words and meaning, by keyboard: at its
// left end words alone are asked for, at its right one the meaning alone.
func TestConsoleHybrid(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	embed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"v":[0,1]}`) }))
	t.Cleanup(embed.Close)
	h := consoleHost(t, nil)
	h.finish(h.must("PATCH", "/indexes/near/settings", fmt.Sprintf(`{"searchableAttributes":["title"],"embedders":{"e":{"source":"rest","url":%q,"dimensions":2,"request":{"i":"{{text}}"},"response":{"v":"{{embedding}}"}}}}`, embed.URL)))
	h.finish(h.must("POST", "/indexes/near/documents", `[{"id":1,"title":"A cat","_vectors":{"e":[1,0]}},{"id":2,"title":"A kitten","_vectors":{"e":[0,1]}},{"id":3,"title":"A ship","_vectors":{"e":[-1,0]}}]`))
	for _, s := range []screen{screens[0], screens[3]} {
		t.Run(s.name, func(t *testing.T) {
			p := (&browser{t, b.ctx}).open(h.url, s)
			first := func(title string) {
				t.Helper()
				if !settles(func() bool { return p.text("main article h2") == title }) {
					t.Errorf("the first hit is %q, want %q", p.text("main article h2"), title)
				}
			}
			p.view("#/search/near", "Search")
			p.run(chromedp.WaitVisible(`input[type="search"]`), chromedp.KeyEvent("cat"))
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

// TestConsoleQuickstart goes from a copy of the sources, of which nothing was compiled
// yet, to an answer over dropped files: by `parley quickstart` and its page. It logs how
// long that took: once without anything in Go's cache, modules aside.
func TestConsoleQuickstart(t *testing.T) {
	if !long() {
		t.Skip("compiles all there is: LONG=1 runs it")
	}
	b := newBrowser(t)
	root := repository(t)
	sources := t.TempDir()
	copied := exec.Command("sh", "-c", `git -C "$1" archive HEAD | tar -x -C "$2"`, "sh", root, sources)
	if out, err := copied.CombinedOutput(); err != nil {
		t.Skipf("no copy of the sources: %v %s", err, out)
	}
	notes := writeFiles(t, map[string]string{"notes/tea.md": "# Tea\n\nSteep it for three minutes.\n"})
	program := filepath.Join(t.TempDir(), "parley")
	env := append(os.Environ(), "GOCACHE="+t.TempDir(), "XDG_CACHE_HOME="+t.TempDir())
	began := time.Now()
	build := exec.Command("go", "build", "-o", program, "./cmd/parley")
	build.Dir, build.Env = sources, env
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	compiled := time.Since(began)
	began = time.Now()
	run := exec.CommandContext(t.Context(), program, "quickstart", "--http-addr", "127.0.0.1:0", "--db-path", t.TempDir())
	run.Dir, run.Env = sources, env
	run.Cancel = func() error { return run.Process.Signal(os.Interrupt) }
	said, err := run.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = run.Process.Signal(os.Interrupt); _ = run.Wait() })
	url := ""
	for lines := bufio.NewScanner(said); url == "" && lines.Scan(); {
		if _, rest, ok := strings.Cut(lines.Text(), "parley: open "); ok {
			url, _, _ = strings.Cut(rest, "/console/")
		}
	}
	go func() { _, _ = io.Copy(io.Discard, said) }()
	p := b.open(url, screens[0])
	p.see("main", "Drop files or a folder here")
	shown := time.Since(began)
	p.drop(".drop", filepath.Join(notes, "notes"))
	p.see("main", "Ask about notes")
	p.run(chromedp.Click(`//a[. = "Ask about notes"]`))
	p.see("h1", "Ask")
	p.run(chromedp.WaitVisible(question), chromedp.SendKeys(question, "how long should tea steep"), chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(kb.ModifierCtrl)))
	p.see(".turn:last-child", "three minutes", "ms to the first word")
	t.Logf("compiled in %v; then quickstart, which builds its plugins, shows its page after %v and has answered after %v", compiled, shown, time.Since(began))
}
