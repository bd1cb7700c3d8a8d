package console

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/waittest"
)

// A line stands between a page and its host.
type line struct {
	url  string
	held chan struct{} // closed: requests to the API pass
	down atomic.Bool   // each connection breaks off
}

func newLine(t testing.TB, h *house.House) *line {
	t.Helper()
	target, err := url.Parse(h.URL)
	if err != nil {
		t.Fatal(err)
	}
	l := &line{held: make(chan struct{})}
	proxy := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if l.down.Load() {
			panic(http.ErrAbortHandler)
		}
		if !strings.HasPrefix(r.URL.Path, "/console/") {
			select {
			case <-l.held:
			case <-r.Context().Done():
				return
			}
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	l.url = server.URL
	return l
}

// TestConsoleFirstPaint holds back all that the API says: the page is painted all the
// same. It logs when, and how much came.
func TestConsoleFirstPaint(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	h := consoleHost(t, nil)
	l := newLine(t, h)
	p := b.open(l.url, screens[0])
	const painted = `new Promise((done) => new PerformanceObserver((l, o) => { o.disconnect(); done(l.getEntriesByName("first-contentful-paint")[0].startTime); }).observe({type: "paint", buffered: true}))`
	first := evaluate[float64](p, painted)
	if text := p.text("body"); !strings.Contains(text, "Parley") || !strings.Contains(text, "Loading…") {
		t.Errorf("before the API answers the page says %q", text)
	}
	close(l.held)
	p.see("h1", "Ask your documents")
	p.see("nav", "Administration")
	loaded := evaluate[map[string]float64](p, `Object.fromEntries([["files", (e) => 1], ["bytes", (e) => e.decodedBodySize], ["compressed", (e) => e.encodedBodySize], ["transferred", (e) => e.transferSize]].map(([name, of]) =>
		[name, [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].filter((e) => new URL(e.name).pathname.startsWith("/console/")).reduce((n, e) => n + of(e), 0)]))`)
	t.Logf("first paint after %.0f ms, with no answer of the API; %v", first, loaded)
	if loaded["bytes"] > 220_000 || loaded["compressed"] > 90_000 {
		t.Errorf("the page came as %v", loaded)
	}
	var again []float64
	for range 5 {
		p.run(chromedp.Reload())
		again = append(again, evaluate[float64](p, painted))
	}
	t.Logf("first paints after that, in ms: %.0f", again)
}

// TestConsoleComesBack takes the host away while somebody works, and gives it back:
// the page says so, loses nothing, and goes on by itself or on request.
func TestConsoleComesBack(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	h := consoleHost(t, nil)
	fillConsole(h)
	l := newLine(t, h)
	close(l.held)
	p := b.open(l.url, screens[2])
	const gone = "The service cannot be reached. Is it running?"

	p.view("#/tasks", "Tasks")
	p.see("main", "Document addition or update")
	l.down.Store(true)
	p.see("main [role=alert]", gone) // the list renews itself
	p.see("main", "Document addition or update")
	l.down.Store(false)
	if !waittest.Until(func() bool { return p.text("main [role=alert]") == "" }) {
		t.Error("the list does not notice that the host is back")
	}

	p.view("#/ask/films", "Ask")
	p.run(chromedp.WaitVisible(question), chromedp.KeyEvent("Who leads a writer?"))
	l.down.Store(true)
	p.run(chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(kb.ModifierCtrl)))
	p.see(".turn:last-child [role=alert]", gone)
	if typed := evaluate[string](p, "document.querySelector('textarea').value"); typed != "Who leads a writer?" {
		t.Errorf("after that the question is %q", typed)
	}
	l.down.Store(false)
	p.run(chromedp.Focus(question), chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(kb.ModifierCtrl)))
	p.see(".turn:last-child", "a room that grants wishes")

	l.down.Store(true)
	p.run(chromedp.Evaluate[chromedp.Void](`location.hash = "#/indexes"`))
	p.see("main [role=alert]", gone)
	l.down.Store(false)
	p.run(chromedp.Click(`//button[. = "Try again"]`))
	p.see("main", "films")
}

// drop lets go of files and folders above an element.
func (p *page) drop(selector string, paths ...string) {
	p.t.Helper()
	at := evaluate[[]float64](p, fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.scrollIntoView({block: "center"}); const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + 8]; })()`, selector))
	for _, kind := range []input.DispatchDragEventType{input.DispatchDragEventTypeDragEnter, input.DispatchDragEventTypeDragOver, input.DispatchDragEventTypeDrop} {
		if _, err := chromedp.Call(p.ctx, input.DispatchDragEvent, input.DispatchDragEventParams{
			Type: kind, X: at[0], Y: at[1], Data: &input.DragData{Items: []*input.DragDataItem{}, Files: paths, DragOperationsMask: 1},
		}); err != nil {
			p.t.Fatal(err)
		}
	}
}

// writeFiles makes files below a new folder, and returns it.
func writeFiles(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestConsoleFromNothing goes from an empty data directory to an answer over a folder
// that is dropped on the first screen, with folders in it. It logs how long that took.
func TestConsoleFromNothing(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	dir := writeFiles(t, map[string]string{
		"garden/beds/tomatoes.md":       "# Tomatoes\n\nWater the tomatoes in the morning, twice a week in summer.\n",
		"garden/beds/deep/er/roses.txt": "Roses want to be cut in March, above an eye that looks outward.\n",
		"garden/shed.html":              "<title>Shed</title><p>The spade hangs behind the door of the shed.</p>",
		"garden/.git/config":            "[core] secret = hidden\n",
		"garden/photo.raw":              "no text",
		"garden/prices.csv":             "name,price\nSpade,12\nRake,9\n",
	})
	began := time.Now()
	h := consoleHost(t, nil)
	p := b.open(h.URL, screens[0])
	p.see("main", "Drop files or a folder here")
	p.look(screens[0], "start-empty")
	p.drop(".drop", filepath.Join(dir, "garden"))
	p.see(".drop", "A new collection")
	p.look(screens[0], "start-into")
	p.run(chromedp.Click(`//button[. = "Add 5 files"]`))
	p.see(".drop", "4 files: 3 documents can be found now.", "garden/photo.raw: ")
	p.see("main", "Ask about garden")
	p.see(".drop", "garden/prices.csv", "Spade", "none: number the rows")
	p.run(chromedp.Click(`//button[. = "Add to garden"]`)) // whose documents have ids, and the rows none
	p.see(".drop", "garden/prices.csv: 2 documents can be found now.")
	if done := evaluate[int](p, `document.querySelectorAll(".step.done").length`); done != 2 {
		t.Errorf("%d steps are ticked off, want documents and who answers", done)
	}
	p.look(screens[0], "start-dropped")
	p.run(chromedp.Click(`//a[. = "Ask about garden"]`))
	p.see("h1", "Ask")
	p.run(chromedp.WaitVisible(question), chromedp.SendKeys(question, "when should I water the tomatoes"), chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(kb.ModifierCtrl)))
	p.see(".turn:last-child", "in the morning, twice a week", "ms to the first word")
	t.Logf("from an empty data directory to an answer over dropped files: %v", time.Since(began).Round(time.Millisecond))
	found := h.Must("POST", "/indexes/garden/documents/fetch", `{"limit":10}`).Body
	for _, path := range []string{"garden/beds/tomatoes.md", "garden/beds/deep/er/roses.txt", "garden/shed.html"} {
		if !strings.Contains(found, path) {
			t.Errorf("the documents do not have the path %s: %s", path, found)
		}
	}
	if strings.Contains(found, "hidden") {
		t.Error("a hidden file became a document")
	}

	p.view("#/documents/garden", "Documents")
	p.see("main", "Shed", "files 1 to 3 of 3", "Files that could not be read: 1")
	p.run(chromedp.Click(`//summary[starts-with(., "Files that could not")]`))
	p.see("main details[open]", "garden/photo.raw", "When")
	p.run(chromedp.SendKeys(`//label[. = "Find a file"]//input`, "ROSES"))
	p.see("main", "files 1 to 1 of 1")
	p.run(chromedp.KeyEvent(strings.Repeat(kb.Backspace, len("ROSES")) + "Photo"))
	p.see("main", "No such file", "garden/photo.raw could not be read: ")
	p.run(chromedp.KeyEvent("?"))
	p.see("main", "No file here has that in its name")
	p.run(chromedp.KeyEvent(strings.Repeat(kb.Backspace, len("photo?"))))
	p.see("main", "files 1 to 3 of 3")
	p.choose(chromedp.Click(`//tr[.//button[. = "garden/shed.html"]]//button[. = "Read again"]`), writeFiles(t, map[string]string{"new.html": "<title>Shed</title><p>The spade hangs behind the door of the shed, beside the rake.</p>"})+"/new.html")
	p.see("#told", "garden/shed.html was read again.")
	p.see("main", "files 1 to 3 of 3")
	p.look(screens[0], "documents-files")
	p.audit("the files of an index")
	p.run(chromedp.Click(`//th//button[. = "garden/shed.html"]`))
	p.see("dialog[open]", "behind the door of the shed, beside the rake", "1 passage")
	p.run(chromedp.KeyEvent(kb.Escape), chromedp.Click(`//tr[.//button[. = "garden/shed.html"]]//button[. = "Delete"]`))
	p.see("dialog[open]", "Delete garden/shed.html from garden?", "1 passage goes")
	p.run(chromedp.Click(chromedp.CSS("#confirm-yes")))
	p.see("#told", "Deleted.")
	p.see("main", "files 1 to 2 of 2")
	if found := h.Must("POST", "/indexes/garden/documents/fetch", `{"limit":10}`).Body; strings.Contains(found, "spade") || !strings.Contains(found, "Roses") {
		t.Errorf("after one file was deleted the documents are %s", found)
	}
	p.view("#/search/garden", "Search")
	p.run(chromedp.SendKeys(`main input[type="search"]`, "roses"))
	p.see("main article", "garden/beds/deep/er/roses.txt", "cut in March", "All fields")
	p.run(chromedp.Click(`//button[. = "Open the file"]`))
	p.see("dialog[open] .here", "Roses want to be cut")
}

// TestConsoleHostile fills all that the page shows with texts that try to become
// markup, to turn the line around, or to push it apart.
func TestConsoleHostile(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	h := consoleHost(t, nil)
	word := strings.Repeat("w", 1<<20)
	doc, err := json.Marshal([]map[string]any{{"id": 1, "title": hostileText, hostileText: hostileText, strings.Repeat("f", 300): "field", "word": word, "rtl": "שלום עולם, this is a test", "nested": map[string]any{hostileText: []string{hostileText}}}})
	if err != nil {
		t.Fatal(err)
	}
	h.Finish(h.Must("POST", "/indexes/bad/documents", string(doc)))
	h.Finish(h.Must("PATCH", "/indexes/bad/settings", `{"filterableAttributes":["title","word"]}`))
	name, err := json.Marshal(hostileText)
	if err != nil {
		t.Fatal(err)
	}
	h.Must("PATCH", "/chats/bad/settings", fmt.Sprintf(`{"source":"extract","indexUids":["bad"],"prompts":{"system":%s}}`, name))
	names := writeFiles(t, map[string]string{
		"<img src=x onerror=document.title='taken'>\u202e.md": "# " + hostileText + "\n\nA text.\n",
		strings.Repeat("n", 200) + ".csv":                     "id,<b>bold</b>\n1," + strings.Repeat("v", 5000) + "\n",
	})
	on := []screen{screens[0], otherScreens[0]}
	if house.Long() {
		on = append(on, screens[2]) // between the two
	}
	for _, s := range on {
		t.Run(s.name, func(t *testing.T) {
			p := (&browser{t, b.ctx}).open(h.URL, s)
			p.see("h1", "Ask your documents")
			for _, hash := range []string{"#/start", "#/ask/bad", "#/search/bad", "#/documents/bad", "#/indexes", "#/indexes/bad", "#/tasks", "#/workspaces", "#/workspaces/bad"} {
				p.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("location.hash = %q", hash)), chromedp.WaitVisible(`main h1`))
				if hash == "#/search/bad" || hash == "#/documents/bad" {
					p.see("main", "onerror")
				}
				p.look(s, "hostile-"+strings.NewReplacer("#/", "", "/", "-").Replace(hash))
			}
			p.view("#/documents/names", "Documents")
			var files []string
			entries, err := os.ReadDir(names)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				files = append(files, filepath.Join(names, e.Name()))
			}
			p.run(chromedp.SetUploadFiles(`input[type="file"]`, files), chromedp.Click(`//button[. = "Add 2 files"]`))
			p.see(".drop", "onerror", "can be found now", "Field with the id")
			p.look(s, "hostile-files")
			if made := evaluate[int](p, "document.querySelectorAll('main img, main script, main a[href^=javascript]').length"); made != 0 {
				t.Errorf("%d elements were made of texts", made)
			}
			if title := evaluate[string](p, "document.title"); strings.Contains(title, "taken") {
				t.Error("a text ran as script")
			}
		})
	}
}

// TestConsoleStays signs in for good: the page says where the key is kept, a new
// visit needs none, and signing out forgets it.
func TestConsoleStays(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	h := consoleHost(t, map[string]string{"master-key": consoleMaster})
	p := b.open(h.URL, screens[0])
	p.run(chromedp.WaitVisible(chromedp.CSS("#key-value")))
	p.see("#ask-key", "kept for this tab only", "in this browser until you sign out")
	p.run(chromedp.Click(chromedp.CSS("#key-stay")), chromedp.SendKeys(chromedp.CSS("#key-value"), consoleMaster+kb.Enter))
	p.see("nav", "Administration")
	p.run(chromedp.Evaluate[chromedp.Void]("sessionStorage.clear()"), chromedp.Reload())
	p.see("nav", "Administration")
	if at := evaluate[string](p, "location.href"); strings.Contains(at, "master") {
		t.Errorf("the address has the key: %s", at)
	}
	p.run(chromedp.Click(chromedp.CSS("#key")), chromedp.WaitVisible(chromedp.CSS("#key-value")))
	if kept := evaluate[string](p, "JSON.stringify([localStorage, sessionStorage])"); strings.Contains(kept, consoleMaster) {
		t.Errorf("after signing out the browser keeps %s", kept)
	}
}

// TestConsoleInProduction wants no page there unless it was asked for, and a line in
// the log that says how to have it.
func TestConsoleInProduction(t *testing.T) {
	flags := map[string]string{"env": "production", "master-key": consoleMaster}
	const how = "--console=on serves it at /console/"
	h := house.Open(t, flags)
	if r := h.Call("GET", "/console/", ""); r.Status != http.StatusNotFound {
		t.Errorf("in production the page answers %d", r.Status)
	}
	if !strings.Contains(h.Log.String(), how) {
		t.Errorf("the log does not say %q: %s", how, h.Log.String())
	}
	flags["console"] = "on"
	h = house.Open(t, flags)
	if r := h.Call("GET", "/console/", ""); r.Status != http.StatusOK {
		t.Errorf("switched on, the page answers %d", r.Status)
	}
	if strings.Contains(h.Log.String(), how) {
		t.Error("the log says how to switch on what is on")
	}
}

// TestConsoleLongLists has more documents than anybody looks at: the page asks for
// those that it shows, and writes their number as people do.
func TestConsoleLongLists(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	h := consoleHost(t, nil)
	n := 2_000
	if house.Long() {
		n = 100_000
	}
	docs := make([]map[string]any, n)
	for i := range docs {
		docs[i] = map[string]any{"id": i, "title": fmt.Sprint("Film ", i)}
	}
	body, err := json.Marshal(docs)
	if err != nil {
		t.Fatal(err)
	}
	h.Finish(h.Must("POST", "/indexes/long/documents", string(body)))
	all := strconv.Itoa(n/1000) + ",000"
	p := b.open(h.URL, screens[0])
	shown := func(want int) {
		t.Helper()
		if n := evaluate[int](p, `document.querySelectorAll("main article").length`); n != want {
			t.Errorf("%s shows %d documents, want %d", evaluate[string](p, "location.hash"), n, want)
		}
	}
	p.view("#/documents/long", "Documents")
	p.see("main", "documents 1 to 20 of "+all)
	shown(20)
	p.run(chromedp.Click(`//button[. = "Next"]`))
	p.see("main", "documents 21 to 40 of "+all)
	shown(20)
	p.view("#/search/long", "Search")
	p.see("main", all+" hits in", "More hits")
	shown(20)
	p.run(chromedp.Click(`//button[. = "More hits"]`))
	if !waittest.Until(func() bool { return evaluate[int](p, `document.querySelectorAll("main article").length`) == 40 }) {
		shown(40)
	}
	if most := evaluate[float64](p, `Math.max(...performance.getEntriesByType("resource").map((e) => e.decodedBodySize))`); most > 100_000 {
		t.Errorf("an answer that the page asked for has %.0f bytes", most)
	}
}
