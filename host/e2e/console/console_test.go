package console

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/waittest"
)

// A browser is a real one, without a window. Its pages share nothing.
type browser struct {
	t   testing.TB
	ctx context.Context
}

// A chromium is started by the first test that wants a browser, for all of them,
// and ended by [TestMain].
type chromium struct {
	start sync.Once
	ctx   context.Context
	err   error
	end   func()
	slots chan struct{} // of the tests that use it at a time: each keeps a processor busy, or more
}

var theChromium = chromium{end: func() {}, slots: make(chan struct{}, goruntime.GOMAXPROCS(0))}

func (c *chromium) run(program string) {
	dir, err := os.MkdirTemp("", "chromium")
	if err != nil {
		c.err = err
		return
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(dir),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-quic", true), chromedp.Flag("no-first-run", true), chromedp.Flag("disable-sync", true))
	allocated, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, end := chromedp.NewContext(allocated)
	c.end = func() {
		end()
		stop()
		_ = os.RemoveAll(dir)
	}
	if err := chromedp.Do(ctx); err != nil {
		c.err = fmt.Errorf("start %s: %w", program, err)
	}
	c.ctx = ctx
}

// newBrowser gives the test Chromium, and skips it where there is none. It waits
// while other tests use it.
func newBrowser(t testing.TB) *browser {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser")
	}
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Skip("no browser: install Debian's package chromium")
	}
	c := &theChromium
	c.slots <- struct{}{}
	t.Cleanup(func() { <-c.slots })
	if c.start.Do(func() { c.run(program) }); c.err != nil {
		t.Fatal(c.err)
	}
	return &browser{t, c.ctx}
}

// A screen is what somebody looks at the page on.
type screen struct {
	name          string
	width, height int64
	dark          bool
	scale         float64 // of its pixels; 0: 1
	forced        bool    // few colours, chosen by the reader
}

var screens = []screen{
	{name: "wide-light", width: 1280, height: 800},
	{name: "wide-dark", width: 1280, height: 800, dark: true},
	{name: "phone-light", width: 360, height: 740},
	{name: "phone-dark", width: 360, height: 740, dark: true},
}

// otherScreens are those of which fewer people think: a small phone, a wide screen
// whose reader has it twice as large, and forced colours.
var otherScreens = []screen{
	{name: "small", width: 320, height: 568}, {name: "zoomed", width: 640, height: 400, scale: 2}, {name: "forced", width: 1280, height: 800, dark: true, forced: true},
}

// fewScreens are of each width and of each theme one, which do where the theme
// changes colours alone; all with LONG=1.
func fewScreens() []screen {
	if house.Long() {
		return screens
	}
	return []screen{screens[0], screens[3]}
}

// patience is how long the page may take for one step on a busy machine.
const patience = time.Minute

// A page is a tab with the console. It collects what a page must never do: ask
// another origin, break its policy, throw, or write an error to the console.
type page struct {
	t    testing.TB
	ctx  context.Context
	base string

	mu      sync.Mutex
	faults  []string
	refused []string               // paths that the key may not ask for
	chooser chan cdp.BackendNodeID // told of a dialog for files; nil: nobody waits for one
}

// open opens the console of the host at base.
func (b *browser) open(base string, s screen) *page {
	b.t.Helper()
	p := &page{t: b.t, base: base}
	ctx, end := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext(), chromedp.WithListener(p.watch))
	b.t.Cleanup(end)
	p.ctx = ctx
	// Another test's page may have the focus of the machine.
	if _, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}); err != nil {
		b.t.Fatal(err)
	}
	scheme := "light"
	if s.dark {
		scheme = "dark"
	}
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}
	if s.forced {
		features = append(features, &emulation.MediaFeature{Name: "forced-colors", Value: "active"})
	}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}); err != nil {
		b.t.Fatal(err)
	}
	p.run(chromedp.EmulateViewport(s.width, s.height, chromedp.EmulateScale(max(s.scale, 1))), chromedp.Navigate(base+"/console/"))
	b.t.Cleanup(p.check)
	return p
}

func (p *page) watch(event any) {
	fault := ""
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		fault = "uncaught: " + e.ExceptionDetails.Text
		if thrown := e.ExceptionDetails.Exception; thrown != nil {
			fault += " " + thrown.Description
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError {
			fault = fmt.Sprintf("console.error: %s", e.Args[0].Value)
		}
	case *log.EventEntryAdded:
		// What the API refuses is shown to the reader; Chromium notes it as well.
		if e.Entry.Level == log.EntryLevelError && e.Entry.Source != log.EntrySourceNetwork {
			fault = fmt.Sprintf("%s: %s", e.Entry.Source, e.Entry.Text)
		}
	case *network.EventResponseReceived:
		if e.Response.Status == http.StatusForbidden {
			p.mu.Lock()
			p.refused = append(p.refused, e.Response.URL)
			p.mu.Unlock()
		}
	case *cdppage.EventFileChooserOpened:
		p.chooser <- e.BackendNodeID
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err != nil || (u.Scheme != "data" && u.Scheme != "blob" && u.Scheme+"://"+u.Host != p.base) {
			fault = "a request to " + e.Request.URL
		}
	}
	if fault != "" {
		p.mu.Lock()
		p.faults = append(p.faults, fault)
		p.mu.Unlock()
	}
}

// check fails the test for what the page must not have done.
func (p *page) check() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.faults {
		p.t.Errorf("the page: %s", f)
	}
}

func (p *page) run(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.t.Fatalf("%v; the page says: %s", err, p.text("body"))
	}
}

// text is what an element says; empty where there is none.
func (p *page) text(selector string) string {
	s, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](fmt.Sprintf("document.querySelector(%q)?.innerText ?? ''", selector)))
	if err != nil {
		return err.Error()
	}
	return s
}

// see waits until the text of an element has all of these.
func (p *page) see(selector string, texts ...string) {
	p.t.Helper()
	var got string
	for _, text := range texts {
		if !waittest.Until(func() bool { got = p.text(selector); return strings.Contains(got, text) }) {
			p.t.Fatalf("%s says %.2000q, want %q", selector, got, text)
		}
	}
}

// closeDialog presses Escape until no dialog is open: the browser drops a key that comes before it
// has drawn one.
func (p *page) closeDialog() {
	p.t.Helper()
	closed := waittest.Until(func() bool {
		p.run(chromedp.KeyEvent(kb.Escape), chromedp.Evaluate[chromedp.Void](`new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))`, chromedp.EvalAwaitPromise))
		return evaluate[int](p, `document.querySelectorAll("dialog[open]").length`) == 0
	})
	if !closed {
		p.t.Fatal("Escape closes no dialog")
	}
}

// view goes to a view by its address, as a bookmark does, and waits until it is drawn.
func (p *page) view(hash, heading string) {
	p.t.Helper()
	evaluate[bool](p, fmt.Sprintf(`new Promise((done) => {
		const drawn = () => document.getElementById("main").ariaBusy ? setTimeout(drawn, 20) : done(true);
		addEventListener("hashchange", drawn, {once: true});
		location.hash === %[1]q ? drawn() : location.hash = %[1]q;
	})`, hash))
	p.see("h1", heading)
}

// evaluate returns what an expression is.
func evaluate[T any](p *page, expression string) T {
	p.t.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%.200s: %v", expression, err)
	}
	return value
}

// look takes a picture into the folder that SHOTS names (ask-answered-wide-light is
// the README's, host/docs/console.png), has axe-core look for
// what keeps people out, and makes sure that nothing is wider than the screen.
func (p *page) look(s screen, name string) {
	p.t.Helper()
	if over := evaluate[int](p, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
		p.t.Errorf("%s at %s is %d pixels wider than the screen, by %q", name, s.name, over, evaluate[[]string](p, `[...document.querySelectorAll("main *")].filter((e) =>
			e.getBoundingClientRect().right > document.documentElement.clientWidth && !e.closest(".scroll")).map((e) => e.outerHTML.slice(0, 80))`))
	}
	if !s.forced { // axe-core does not know which colours come of it
		p.audit(name + " at " + s.name)
	}
	dir := os.Getenv("SHOTS")
	if dir == "" {
		return
	}
	picture, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+"-"+s.name+".png"), picture, 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// audit runs axe-core, which the npm package of that name brings. The variable
// AXE_CORE has its path; .ci/install sets it.
func (p *page) audit(where string) {
	p.t.Helper()
	file := os.Getenv("AXE_CORE")
	if file == "" {
		return
	}
	script, err := os.ReadFile(file)
	if err != nil {
		p.t.Fatal(err)
	}
	p.run(chromedp.Evaluate[chromedp.Void](string(script)))
	found := evaluate[[]string](p, `axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}).then((r) =>
		r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.target.join(" ") + " " + n.failureSummary).join("; ")))`)
	for _, f := range found {
		p.t.Errorf("%s: %s", where, f)
	}
}

// question is where it is typed.
const question = chromedp.CSS("textarea")

// clearQuestion empties it.
var clearQuestion = chromedp.Evaluate[chromedp.Void]("document.querySelector('textarea').value = ''; undefined")

// hostileText is what nobody wants in a page.
const hostileText = `<img src=x onerror="document.title='taken'"> <script>document.title='taken'</script> [click](javascript:document.title='taken') ` + "\u202e\u2066 reversed"

// consoleFlags are options of a host with the page.
var consoleFlags = map[string]string{"env": "development", "console": "on"}

// consoleHost has films, a workspace that answers without a model, and texts
// that try to become markup.
func consoleHost(t testing.TB, flags map[string]string) *house.House {
	t.Helper()
	all := maps.Clone(consoleFlags)
	maps.Copy(all, flags)
	h := house.Open(t, all, house.Shipped(t, "extract"))
	return h
}

func fillConsole(h *house.House) {
	h.T.Helper()
	docs, err := json.Marshal([]map[string]any{
		{"id": 1, "title": "Solaris", "director": "Andrei Tarkovsky", "year": 1972, "text": "A psychologist travels to a station that orbits the ocean planet Solaris, whose crew has gone quiet."},
		{"id": 2, "title": "Stalker", "director": "Andrei Tarkovsky", "year": 1979, "text": "A guide leads a writer and a professor through the Zone to a room that grants wishes."},
		{"id": 3, "title": hostileText, "director": hostileText, "year": 2000, "text": "Quagmire " + hostileText + strings.Repeat("x", 20_000)},
	})
	if err != nil {
		h.T.Fatal(err)
	}
	h.Finish(h.Must("POST", "/indexes/films/documents", string(docs)))
	h.Finish(h.Must("PATCH", "/indexes/films/settings", `{"filterableAttributes":["director","year"],"sortableAttributes":["year"],"chat":{"description":"Films with their directors."}}`))
	h.Must("PATCH", "/chats/films/settings", `{"source":"extract","indexUids":["films"]}`)
}

// views are all of them: the address, the title, and what is there with the films.
var views = []struct{ hash, name, says string }{
	{"#/start", "Overview", "3 documents in 1 index"},
	{"#/ask", "Ask your documents", "What is “Solaris” about?"},
	{"#/search/films", "Search", "Tarkovsky"},
	{"#/documents/films", "Documents", "documents 1 to 3 of 3"},
	{"#/indexes", "Indexes", "films"},
	{"#/indexes/films", "films", "Searchable attributes"},
	{"#/tasks", "Tasks", "Document addition or update"},
	{"#/workspaces", "Workspaces", "extract"},
	{"#/workspaces/films", "films", "quotes the best passages"},
	{"#/plugins", "Plugins", "Reaches no address"},
	{"#/keys", "Keys", "This service is open"},
	{"#/cluster", "Cluster", "This host is alone"},
	{"#/usage", "Usage", "Answers by workspace"},
	{"#/telemetry", "Telemetry", "Instance UID"},
}

// TestConsoleViews opens every view on few screens, with LONG=1 on each, and looks.
func TestConsoleViews(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	h := consoleHost(t, nil)
	fillConsole(h)
	h.Must("PATCH", "/experimental-features", `{"metrics":true}`)
	h.Ask("films", "any")
	looked := fewScreens()
	if house.Long() {
		looked = slices.Concat(screens, otherScreens)
	}
	for _, s := range looked {
		t.Run(s.name, func(t *testing.T) {
			p := (&browser{t, b.ctx}).open(h.URL, s)
			p.see("h1", "Ask your documents")
			for _, v := range views {
				p.view(v.hash, v.name)
				p.see("main", v.says)
				p.look(s, strings.NewReplacer("#/", "", "/", "-").Replace(v.hash))
			}
			if ok := evaluate[bool](p, `fetch(document.querySelector("nav a:last-child").href).then((r) => r.text()).then((t) => t.includes("Parley API"))`); !ok {
				t.Error("the views' list has no link to the API's description")
			}
			if title := evaluate[string](p, "document.title"); strings.Contains(title, "taken") {
				t.Error("a text of a document ran as script")
			}
		})
	}
}

// TestConsoleAsk asks by keyboard alone, stops, reloads, edits and looks at what
// the model saw.
func TestConsoleAsk(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	h := consoleHost(t, nil)
	fillConsole(h)
	p := b.open(h.URL, screens[0])
	p.view("#/ask/films", "Ask")
	p.run(chromedp.WaitVisible(question), chromedp.KeyEvent("Who leads a writer through the Zone?"), chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(kb.ModifierCtrl)))
	p.see(".turn.user", "Who leads a writer through the Zone?")
	p.see(".turn:last-child", "a room that grants wishes", "Searched films", "found", "ms to the first word", "tokens", "2 rounds")
	p.look(screens[0], "ask-answered")
	p.run(chromedp.Click(`//button[contains(., "What the model saw")]`))
	p.see("dialog[open]", "What the model saw", "The model got", "Searched films for", `"indexUid":"films"`)
	p.audit("what the model saw")
	p.run(chromedp.KeyEvent(kb.Escape), chromedp.Reload())
	p.see(".turn:last-child", "a room that grants wishes", "What the model saw") // kept in the browser
	p.run(chromedp.Click(`//section[@aria-label="Answer"]//button[contains(@class, "chip")]`))
	p.see("dialog[open]", "Stalker", "a room that grants wishes", "The whole document") // at the passage
	p.run(chromedp.KeyEvent(kb.Escape))
	p.run(chromedp.Click(`//section[contains(@class, "user")]//button[. = "Edit"]`))
	if typed := evaluate[string](p, "document.querySelector('textarea').value"); typed != "Who leads a writer through the Zone?" {
		t.Errorf("the question to edit is %q", typed)
	}
	p.run(clearQuestion, chromedp.Focus(question), chromedp.KeyEvent("quagmire"), chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(kb.ModifierCtrl)))
	p.see(".turn:last-child", "onerror", "ms to the first word") // as a text
	if n := evaluate[int](p, "document.querySelectorAll('main img, main script, main a[href^=javascript]').length"); n != 0 {
		t.Errorf("%d elements were made of a document's text", n)
	}
	if over := evaluate[int](p, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
		t.Errorf("a word of 20,000 letters makes the page %d pixels wider", over)
	}
}

// TestConsoleManages makes, changes and deletes through the page.
func TestConsoleManages(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	h := consoleHost(t, nil)
	fillConsole(h)
	p := b.open(h.URL, screens[0])

	p.view("#/indexes", "Indexes")
	p.run(chromedp.SendKeys(`//label[starts-with(., "Name")]//input`, "notes"+kb.Enter))
	p.see("h1", "notes")
	p.run(chromedp.SetValue(`//label[starts-with(., "Stop words")]//textarea`, "the\nof"), chromedp.Click(`//button[. = "JSON"]`))
	if text := evaluate[string](p, `document.querySelector("[aria-label='Settings as JSON']").value`); !strings.Contains(text, `"of"`) {
		t.Errorf("the JSON does not have what the form says: %s", text)
	}
	p.run(chromedp.Click(`//button[. = "Form"]`), chromedp.Click(`//button[. = "Review changes"]`))
	p.see("dialog[open]", "Stop words", `["the","of"]`, "read again in the background")
	p.run(chromedp.Click(`//dialog//button[. = "Apply"]`))
	p.see("#told", "applied")
	if got := h.Must("GET", "/indexes/notes/settings/stop-words", "").Body; !strings.Contains(got, `"of"`) {
		t.Errorf("stop words are %s", got)
	}
	p.run(chromedp.Click(`//button[. = "Delete index"]`))
	p.see("dialog[open]", "Delete the index notes?", "cannot be undone")
	p.run(chromedp.KeyEvent(kb.Escape))
	p.see("h1", "notes")
	p.run(chromedp.Click(`//button[. = "Delete index"]`), chromedp.Click(chromedp.CSS("#confirm-yes")))
	p.see("h1", "Indexes")
	if r := h.Call("GET", "/indexes/notes", ""); r.Status != http.StatusNotFound {
		t.Errorf("the deleted index answers %d", r.Status)
	}

	p.view("#/indexes/films", "films")
	p.see("main", "What the model gets", "director: Andrei Tarkovsky")
	p.run(chromedp.SetValue(`//label[starts-with(., "Template")]//textarea`, "{{ doc.title | upcase }}"), chromedp.SendKeys(`//label[starts-with(., "Template")]//textarea`, "!"))
	p.see("main", "SOLARIS!")
	p.run(chromedp.SendKeys(`//label[starts-with(., "Question")]//input`, "which writer enters the Zone"))
	p.see("main", "a room that grants wishes")
	p.run(chromedp.Click(`//button[. = "Use this template"]`))
	p.see("#told", "The template is set.")
	if got := h.Must("GET", "/indexes/films/settings/chat", "").Body; !strings.Contains(got, "| upcase }}!") {
		t.Errorf("the setting chat is %s", got)
	}

	p.view("#/workspaces/support", "support")
	p.run(chromedp.Click(`//button[. = "Save"]`))
	p.see("#told", "Saved.")
	if got := h.Must("GET", "/chats/support/settings", "").Body; !strings.Contains(got, `"source":"extract"`) {
		t.Errorf("the new workspace is %s", got)
	}
	p.run(chromedp.WaitVisible(`//button[. = "Review changes"]`), chromedp.Click(`//summary[. = "Advanced"]`), chromedp.Click(`//summary[. = "Limits"]`), chromedp.SetValue(`//label[starts-with(., "Parallel")]//input`, "3"), chromedp.SetValue(`//label[starts-with(., "Max messages")]//input`, "9"), chromedp.Click(`//button[. = "Review changes"]`))
	p.see("dialog[open]", `{"parallel":3}`, "Max messages")
	p.audit("what will change of a workspace")
	p.run(chromedp.Click(`//dialog//button[. = "Apply"]`))
	p.see("#told", "applied")
	if got := h.Must("GET", "/chats/support/settings", "").Body; !strings.Contains(got, `"parallel":3`) || !strings.Contains(got, `"maxMessages":9`) {
		t.Errorf("the changed workspace is %s", got)
	}
	p.run(chromedp.Click(chromedp.CSS("#requests")))
	p.see("dialog[open]", "PATCH /chats/support/settings", "200")
	p.audit("the requests")
	p.run(chromedp.KeyEvent(kb.Escape))

	p.view("#/documents/films", "Documents")
	p.see("main", "Solaris")
	p.run(chromedp.SendKeys(`//label[starts-with(., "Filter")]//input`, "year = 1972"+kb.Enter))
	p.see("main", "documents 1 to 1 of 1")
	p.run(chromedp.Click(`//button[. = "Delete these"]`))
	p.see("dialog[open]", "Delete 1 document of films?", "year = 1972")
	p.run(chromedp.Click(chromedp.CSS("#confirm-yes")))
	p.see("#told", "1 document deleted.")

	var files []string
	for name, content := range map[string]string{
		"rows.ndjson": `{"id": 77, "title": "Dropped"}`, "empty.pdf": "no PDF",
		"garden.md": "# Garden\n\n## Watering\n\nWater the tomatoes in the morning, twice a week in summer.\n",
	} {
		files = append(files, filepath.Join(t.TempDir(), name))
		if err := os.WriteFile(files[len(files)-1], []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.view("#/documents/rows", "Documents")
	p.run(chromedp.SetUploadFiles(`input[type="file"]`, files[slices.IndexFunc(files, func(f string) bool { return strings.HasSuffix(f, ".ndjson") }):][:1]))
	p.run(chromedp.Click(`//button[. = "Add rows.ndjson"]`))
	p.see("main", "rows.ndjson", "Field with the id", "Dropped")
	if id := evaluate[string](p, `document.querySelector(".drop select").value`); id != "id" {
		t.Errorf("the field that is guessed to hold the id is %q", id)
	}
	p.audit("the first rows of a file")
	p.run(chromedp.Click(`//button[. = "Add to rows"]`))
	p.see("main", "rows.ndjson: 1 document can be found now", "documents 1 to 1 of 1")
	p.view("#/start", "Overview")
	p.run(chromedp.SetUploadFiles(`input[type="file"]`, slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, ".ndjson") })), chromedp.Click(`//button[. = "Add 2 files"]`))
	p.see("main", "2 files: 1 document can be found now", "empty.pdf: ", "Ask about notes")
	p.run(chromedp.Click(`//a[. = "Ask about notes"]`))
	p.see("h1", "Ask")
	p.run(chromedp.SendKeys(question, "when should I water the tomatoes"), chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(kb.ModifierCtrl)))
	p.see(".turn:last-child", "in the morning", "ms to the first word")

	p.view("#/search/films", "Search")
	p.run(chromedp.WaitVisible(`main input[type="search"]`), chromedp.Evaluate[chromedp.Void]("document.activeElement.blur()"), chromedp.KeyEvent("/"), chromedp.KeyEvent("zone"))
	p.see("main", "1 hit in", "Stalker")
	p.run(chromedp.Click(`//button[starts-with(., "Score")]`))
	p.see("dialog[open]", "How many of the words")
	p.run(chromedp.KeyEvent(kb.Escape), chromedp.SendKeys(`//label[starts-with(., "Filter")]//input`, "year >"+kb.Enter))
	p.see("main [role=alert]", "column 7")
	if hash := evaluate[string](p, "location.hash"); !strings.Contains(hash, "zone") {
		t.Errorf("the address of the search is %s", hash)
	}
	// Numbers are written as the reader's browser writes them.
	if _, err := chromedp.Call(p.ctx, emulation.SetLocaleOverride, emulation.SetLocaleOverrideParams{Locale: "de"}); err != nil {
		t.Fatal(err)
	}
	p.run(chromedp.Reload())
	p.run(chromedp.SendKeys(`//label[starts-with(., "Filter")]//input`, strings.Repeat(kb.Backspace, 6)+kb.Enter))
	p.see("main", "Stalker", "Score 0,")
}

// consoleWire is a host whose workspace "w" is answered by the returned provider.
func consoleWire(t *testing.T, flags map[string]string) (*house.House, *house.Wire) {
	t.Helper()
	w := house.NewWire(t)
	all := maps.Clone(consoleFlags)
	maps.Copy(all, flags)
	h := house.Open(t, all, house.Shipped(t, "vllm"))
	h.Must("PATCH", "/chats/w/settings", fmt.Sprintf(`{"source":"vLlm","baseUrl":%q}`, w.URL))
	return h, w
}

// send asks for model on the view that is shown.
func (p *page) send(model, text string) {
	p.t.Helper()
	p.run(chromedp.SetValue(`//label[starts-with(., "Model")]//input`, model), chromedp.SendKeys(question, text), chromedp.Click(`//button[@type="submit" and . = "Ask"]`))
}

// TestConsoleStream reads answers of 10,000 events. Paragraphs that are whole are
// drawn while it goes on, and each of them once; a conversation that is left leaves
// no memory behind.
func TestConsoleStream(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	h, w := consoleWire(t, nil)
	w.On("long", func(x *house.Exchange) {
		x.Say(house.Stream)
		for i := range 10_000 {
			end := " "
			if i%100 == 99 {
				end = "\\n\\n"
			}
			x.Say(house.Delta(fmt.Sprintf("word%d%s", i, end)))
		}
		x.Say(house.Finish)
	})
	p := b.open(h.URL, screens[0])
	p.view("#/ask/w", "Ask")
	p.run(chromedp.Evaluate[chromedp.Void](`window.longTasks = []; new PerformanceObserver((l) => window.longTasks.push(...l.getEntries().map((e) => e.duration))).observe({type: "longtask"}); undefined`))
	var heaps []int
	var longest []float64 // of each stream, in milliseconds; 0: none was over 50
	streams := 6
	if house.Long() {
		streams = 24
	}
	for range streams {
		p.send("long", "more")
		// To ask for the text again and again would be work of the page's.
		evaluate[bool](p, `new Promise((done) => { const look = () => document.querySelector("main [aria-busy]") ? setTimeout(look, 100) : done(true); setTimeout(look, 100); })`)
		longest = append(longest, evaluate[float64](p, "Math.max(0, ...window.longTasks.splice(0))"))
		if text := p.text(".turn:last-child"); !strings.Contains(text, "word0 ") || !strings.Contains(text, "word9999") {
			t.Errorf("the answer is not whole: %.100q", text)
		}
		if n := evaluate[int](p, `document.querySelectorAll(".turn:last-child p").length`); n < 100 || n > 105 {
			t.Errorf("10,000 words in 100 paragraphs make %d elements", n)
		}
		p.run(chromedp.Click(`//button[. = "New conversation"]`))
		// What is being kept is in memory until it is on the disk, and what is kept is listed.
		if n := evaluate[int](p, `import("/console/talks.js").then(({ talks }) => talks.list().then((all) => talks.clear().then(() => all.length)))`); n != 1 {
			t.Errorf("%d conversations are kept, want the one", n)
		}
		for range 4 { // what a first one lets go, a second one takes
			evaluate[bool](p, "new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(true))))")
			if _, err := chromedp.Call(p.ctx, heapprofiler.CollectGarbage, cdp.Empty{}); err != nil {
				t.Fatal(err)
			}
		}
		usage, err := chromedp.Call(p.ctx, runtime.GetHeapUsage, cdp.Empty{})
		if err != nil {
			t.Fatal(err)
		}
		heaps = append(heaps, int(usage.UsedSize))
	}
	t.Logf("heap after each stream %d bytes, longest task of each in ms %.0f", heaps, longest)
	// The first ones warm up. An answer has 95 kB of text: to keep one would show.
	from, most := 1, 95_000
	if streams > 6 {
		from, most = 12, 10_000 // the engine is warm: a kilobyte a stream would show
	}
	if grown := heaps[streams-1] - heaps[from]; grown > most {
		t.Errorf("%d more streams leave %d bytes more: %d", streams-1-from, grown, heaps)
	}
}

// TestConsoleTrouble has answers end in every way that they should not: each
// says what happened, and what was typed is still there.
func TestConsoleTrouble(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	h, w := consoleWire(t, map[string]string{"shutdown-grace": "1s"}) // it closes in the midst of an answer
	begun := make(chan struct{}, 1)
	w.On("slow", func(x *house.Exchange) {
		x.Say(house.Stream + house.Delta("the beginning") + house.Delta(" goes on"))
		begun <- struct{}{}
		x.Wait()
	})
	w.On("busy", func(x *house.Exchange) {
		x.Say(house.Answered(429, "Retry-After: 7\r\n", `{"error":{"message":"slow down"}}`))
	})
	hostile, err := json.Marshal(hostileText + "\n\n# " + hostileText + "\n\n- " + hostileText + "\n\n| " + hostileText + " |\n\n```\n" + hostileText + "\n```\n" + strings.Repeat("y", 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	w.On("hostile", func(x *house.Exchange) {
		x.Say(house.Stream + house.Delta(string(hostile[1:len(hostile)-1])) + house.Finish)
	})
	w.On("rude", func(x *house.Exchange) {
		x.Say(house.Answered(400, "", `{"error":{"message":"`+string(hostile[1:len(hostile)-1])+`"}}`))
	})
	p := b.open(h.URL, screens[2])
	p.view("#/ask/w", "Ask")

	p.send("hostile", "say something bad")
	p.see(".turn:last-child", "onerror", "ms to the first word")
	if n := evaluate[int](p, "document.querySelectorAll('main img, main script, main a[href^=javascript]').length"); n != 0 {
		t.Errorf("%d elements were made of an answer's text", n)
	}
	if over := evaluate[int](p, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
		t.Errorf("a word of 1 MiB makes the page %d pixels wider", over)
	}

	p.send("rude", "be rude")
	p.see(".turn:last-child [role=alert]", "onerror")
	if said := p.text(".turn:last-child [role=alert]"); len(said) > 4_000 {
		t.Errorf("an error of 1 MiB is shown in %d bytes", len(said))
	}
	if n := evaluate[int](p, "document.querySelectorAll('main img, main script, main a[href^=javascript]').length"); n != 0 {
		t.Errorf("%d elements were made of an error's text", n)
	}
	p.look(screens[2], "error-hostile")
	p.run(clearQuestion)

	p.send("busy", "too much")
	p.see(".turn:last-child [role=alert]", "429")
	if typed := evaluate[string](p, "document.querySelector('textarea').value.trim()"); typed != "too much" {
		t.Errorf("after a refusal the question to send again is %q", typed)
	}
	p.run(clearQuestion)

	p.send("slow", "take your time")
	house.Within(t, begun, "the slow answer")
	p.see(".turn:last-child", "the beginning goes on")
	p.run(chromedp.Click(`//button[. = "Stop"]`))
	p.see(".turn:last-child", "stopped", "the beginning")

	p.send("slow", "once more")
	house.Within(t, begun, "the slow answer")
	p.see(".turn:last-child", "the beginning goes on")
	h.Close()
	p.see(".turn:last-child", "the beginning")
	p.see(".turn:last-child [role=alert]", "shutting down")
	p.run(clearQuestion)
	p.send("slow", "is anybody there")
	p.see(".turn:last-child [role=alert]", "cannot be reached")
	if typed := evaluate[string](p, "document.querySelector('textarea').value.trim()"); typed != "is anybody there" {
		t.Errorf("after the end of the service the question is %q", typed)
	}
	if title := evaluate[string](p, "document.title"); strings.Contains(title, "taken") {
		t.Error("a text of an answer ran as script")
	}
}
