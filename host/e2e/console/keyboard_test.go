package console

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/waittest"
)

// focused says what has the focus: its name, as a screen reader has it, and
// whether a reader sees that it has it, and all of it that fits.
const focused = `(() => {
	const e = document.activeElement;
	if (!e || e === document.body || e.id === "main") return {name: "", lacks: ""};
	const named = e.getAttribute("aria-label") || e.labels?.[0]?.firstChild.textContent || e.innerText || e.textContent || "";
	const style = getComputedStyle(e), box = e.getBoundingClientRect();
	const at = document.elementFromPoint(box.left + Math.min(box.width, 40) / 2, Math.max(0, box.top) + Math.min(box.height, 20) / 2);
	const covered = at && at !== e && !e.contains(at) && !at.contains(e) && !e.labels?.[0]?.contains(at);
	const lacks = [
		(style.outlineStyle === "none" || parseFloat(style.outlineWidth) < 2) && "no outline",
		covered && "below " + at.outerHTML.slice(0, 80),
		(box.bottom < 1 || box.top > innerHeight - 1 || box.right < 1 || box.left > innerWidth - 1) && "outside of the window",
	].filter(Boolean).join(", ");
	return {name: named.trim(), lacks};
})()`

// A stop is what [focused] says.
type stop struct{ Name, Lacks string }

// tab presses the tabulator key until what is called name has the focus, which has
// to be visible on each stop.
func (p *page) tab(name string) {
	p.t.Helper()
	var passed []string
	for range 250 {
		p.run(chromedp.KeyEvent(kb.Tab))
		at := evaluate[stop](p, focused)
		// While the page draws, what has the focus may move for a moment.
		if at.Lacks != "" && !waittest.Until(func() bool { at = evaluate[stop](p, focused); return at.Lacks == "" }) {
			p.t.Errorf("%s: nobody sees that %q has the focus: %s", evaluate[string](p, "location.hash"), at.Name, at.Lacks)
		}
		if at.Name == name {
			return
		}
		passed = append(passed, at.Name)
	}
	p.t.Fatalf("the tabulator key never comes to %q, but to %q", name, passed)
}

// press goes to what is called name, and presses the enter key.
func (p *page) press(name string) {
	p.t.Helper()
	p.tab(name)
	p.run(chromedp.KeyEvent(kb.Enter))
}

// write goes to a field, and writes into it in place of what is there.
func (p *page) write(name, text string) {
	p.t.Helper()
	p.tab(name)
	p.run(chromedp.KeyEvent("a", chromedp.KeyModifiers(kb.ModifierCtrl)), chromedp.KeyEvent(text))
}

// visit goes to a view by the list of views.
func (p *page) visit(s screen, view, heading string) {
	p.t.Helper()
	menu := func() {
		if s.width < 600 {
			p.press("Menu")
		}
	}
	menu()
	if view != "Ask" && view != "Search" && view != "Documents" {
		p.press("Administration")
		p.see("h1", "Overview")
		menu()
	}
	p.press(view)
	p.see("h1", heading)
}

// TestConsoleKeyboard does what each view is for with nothing but the keyboard,
// signed in with the master key: on a phone, where the views are behind a menu, and
// with LONG=1 on each screen.
func TestConsoleKeyboard(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	h := lockedConsole(t)
	h.Must("PATCH", "/experimental-features", `{"metrics":true}`)
	on := screens[3:]
	if house.Long() {
		on = screens
	}
	for i, s := range on {
		t.Run(s.name, func(t *testing.T) {
			p := (&browser{t, b.ctx}).open(h.URL, s)
			escape := func() { p.run(chromedp.KeyEvent(kb.Escape)) }
			p.run(chromedp.WaitVisible(chromedp.CSS("#key-value")), chromedp.KeyEvent(consoleMaster+kb.Enter))
			p.see("h1", "Ask your documents")
			p.run(chromedp.WaitVisible(question), chromedp.KeyEvent("Who leads a writer"), chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(kb.ModifierShift)), chromedp.KeyEvent("through the Zone?"+kb.Enter))
			p.see(".turn.user", "Who leads a writer\nthrough the Zone?")
			p.see(".turn:last-child", "a room that grants wishes", "ms to the first word")
			p.press("What the model saw")
			p.see("dialog[open]", "The model got")
			escape()
			p.press("1. Stalker")
			p.see("dialog[open]", "The whole document")
			escape()

			p.visit(s, "Search", "Search")
			p.run(chromedp.WaitVisible(`main input[type="search"]`), chromedp.KeyEvent("zone"))
			p.see("main", "1 hit in", "Stalker")
			p.write("Filter", "year = 1972"+kb.Enter)
			p.see("main", "Nothing found")
			p.write("Filter", "year = 1979"+kb.Enter)
			p.see("main", "1 hit in")
			p.tab("Whole document")
			p.run(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter))
			p.see("dialog[open]", "How many of the words")
			escape()

			p.visit(s, "Documents", "Documents")
			p.see("main", "documents 1 to 3 of 3")
			p.tab("Files") // TestConsoleFileDialog goes on from here
			p.write("Filter", "year = 1979"+kb.Enter)
			p.see("main", "documents 1 to 1 of 1")
			p.press("Edit")
			p.see("dialog[open]", "Edit 2")
			p.tab("Document as JSON")
			p.press("Save")
			p.see("#told", "Saved.")
			p.press("Delete")
			p.see("dialog[open]", "Delete document 2 of films?", "This cannot be undone.")
			p.run(chromedp.KeyEvent(kb.Enter)) // Cancel has the focus
			p.see("main", "documents 1 to 1 of 1")

			p.visit(s, "Indexes", "Indexes")
			name := fmt.Sprint("typed", i)
			p.write("Name", name)
			p.press("Create index")
			p.see("h1", name)
			p.write("Stop words", "the"+kb.Enter+"of")
			p.press("Review changes")
			p.see("dialog[open]", `["the","of"]`)
			p.press("Apply")
			p.see("#told", "applied")
			// The view is drawn anew, and then has the focus: what is tabbed to before that moves.
			p.see("main", "Delete index")
			waittest.For(t, "the view has the focus", func() bool { return evaluate[string](p, "document.activeElement.id") == "main" })
			p.tab("Form")
			p.run(chromedp.KeyEvent(kb.ArrowRight))
			p.tab("Settings as JSON")
			p.press("Delete index")
			p.see("dialog[open]", "Delete the index "+name+"?")
			p.press("Delete")
			p.see("h1", "Indexes")

			p.visit(s, "Tasks", "Tasks")
			p.see("main", "Document addition or update")
			p.tab("State")
			p.run(chromedp.KeyEvent("succ"))
			if !waittest.Until(func() bool {
				return evaluate[bool](p, "performance.getEntriesByType('resource').some((e) => e.name.includes('statuses=succeeded'))")
			}) {
				t.Fatal("the chosen state is not asked for")
			}
			p.see("main", "succeeded")
			p.press("Details")
			p.see("dialog[open]", `"status": "succeeded"`)
			escape()

			p.visit(s, "Workspaces", "Workspaces")
			p.write("Name", name+kb.Enter)
			p.see("h1", name)
			p.see("main", "is made when its settings are saved")
			p.press("Save")
			p.see("#told", "Saved.")
			p.see("main", "Test the provider")
			p.press("Test the provider")
			p.see("main [role=status] .good", "")
			p.press("Delete workspace")
			p.see("dialog[open]", "Delete the workspace "+name+"?")
			p.press("Delete")
			p.see("h1", "Workspaces")

			p.visit(s, "Plugins", "Plugins")
			p.see("main", "Reaches no address")
			p.press("Figures")
			p.press("All figures")
			p.see("dialog[open]", `"name": "extract"`)
			escape()

			p.visit(s, "Keys", "Keys")
			p.write("Name", "Typed")
			p.press("Make the key")
			p.see("dialog[open]", "Copy it now")
			escape()
			p.see("main", "Typed")
			p.write("Index", "films")
			p.write("Only documents that meet", "year = 1972")
			p.press("Make the token and try it")
			p.see("main", "It sees 1 document of films.")

			p.visit(s, "Usage", "Usage")
			p.see("main", "Answers by workspace", "Tokens by model")
			p.press("As a table")
			p.see("main details[open]", "films: answered")

			p.visit(s, "Telemetry", "Telemetry")
			p.see("main", "Instance UID")
			p.press("Delete telemetry")
			p.see("dialog[open]", "Delete telemetry?", "This cannot be undone.")
			p.run(chromedp.KeyEvent(kb.Enter)) // Cancel has the focus
			p.see("main", "Instance UID")

			p.run(chromedp.KeyEvent("?"))
			p.see("dialog[open]", "go to the question or the search box")
			escape()
			p.run(chromedp.Evaluate[chromedp.Void]("history.back()"))
			p.see("h1", "Overview")
			p.run(chromedp.Evaluate[chromedp.Void]("history.forward()"))
			p.see("h1", "Telemetry")
			if s.width < 600 {
				p.press("Menu")
			}
			p.press("Theme")
			if theme := evaluate[string](p, "document.documentElement.dataset.theme"); (theme == "dark") == s.dark {
				t.Errorf("the other theme of %s is %q", s.name, theme)
			}
			p.press("Sign out")
			p.see("dialog[open]", "Delete your conversations, too?")
			p.press("Delete them")
			p.run(chromedp.WaitVisible(chromedp.CSS("#key-value")))
			if kept := evaluate[string](p, "import('/console/talks.js').then(async ({ talks }) => JSON.stringify([localStorage, sessionStorage, await talks.all()]))"); strings.Contains(kept, consoleMaster) || strings.Contains(kept, "Zone") {
				t.Errorf("after signing out the browser keeps %s", kept)
			}
		})
	}
}

// TestConsoleRenewal has somebody come to the list of tasks while it is read again:
// what has the focus keeps it.
func TestConsoleRenewal(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	h := consoleHost(t, nil)
	fillConsole(h)
	p := b.open(h.URL, screens[0])
	p.view("#/tasks", "Tasks")
	p.see("main", "Document addition or update")
	if at := evaluate[string](p, `new Promise((done) => {
		const real = window.fetch;
		window.fetch = async (...asked) => {
			const answer = await real(...asked);
			if (String(asked[0]).includes("/tasks?")) {
				document.querySelector("main table button").focus();
				setTimeout(() => done(document.activeElement.textContent), 500);
			}
			return answer;
		};
	})`); at != "Details" {
		t.Errorf("after the renewal %.100q has the focus, want the button that had it", at)
	}
}

// choose does what opens the system's dialog for files, and chooses one.
func (p *page) choose(open chromedp.Action[chromedp.Void], file string) {
	p.t.Helper()
	p.chooser = make(chan cdp.BackendNodeID, 1)
	if _, err := chromedp.Call(p.ctx, cdppage.SetInterceptFileChooserDialog, cdppage.SetInterceptFileChooserDialogParams{Enabled: true}); err != nil {
		p.t.Fatal(err)
	}
	p.run(open)
	input := house.Within(p.t, p.chooser, "the dialog for files")
	if _, err := chromedp.Call(p.ctx, dom.SetFileInputFiles, dom.SetFileInputFilesParams{Files: []string{file}, BackendNodeID: input}); err != nil {
		p.t.Fatal(err)
	}
}

// TestConsoleFileDialog opens the system's dialog for files by keyboard, and chooses.
func TestConsoleFileDialog(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	h := consoleHost(t, nil)
	dir := writeFiles(t, map[string]string{"tea.md": "# Tea\n\nSteep it for three minutes.\n"})
	for _, s := range fewScreens() {
		t.Run(s.name, func(t *testing.T) {
			p := (&browser{t, b.ctx}).open(h.URL, s)
			p.view("#/start", "")
			p.see("main", "Drop files or a folder here")
			p.tab("Files")
			p.choose(chromedp.KeyEvent(" "), filepath.Join(dir, "tea.md"))
			p.see(".drop", "A new collection")
			p.run(chromedp.KeyEvent(kb.Enter)) // the button that adds them has the focus
			p.see(".drop", "tea.md: 1 document can be found now.")
			p.see("main", "Workspaces: tea")
			p.press("Ask about tea")
			p.see("h1", "Ask")
		})
	}
}
