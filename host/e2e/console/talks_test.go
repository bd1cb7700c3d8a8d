package console

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/waittest"
)

// ask types a question and presses Enter.
func (p *page) ask(text string) {
	p.t.Helper()
	p.run(chromedp.WaitVisible(question), chromedp.Focus(question), chromedp.KeyEvent(text+kb.Enter))
}

// conversation is a link of the list to one.
func conversation(title string) string {
	return fmt.Sprintf(`//section[@id="talks"]//a[. = %q]`, title)
}

// listed are the titles of the list of conversations.
func (p *page) listed() string {
	return strings.Join(evaluate[[]string](p, `[...document.querySelectorAll("#talks a")].map((a) => a.textContent)`), "; ")
}

// TestConsoleTalks keeps conversations: a new one loses none, and they are found by
// what was said, renamed and deleted; what was typed stays with each.
func TestConsoleTalks(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	h := consoleHost(t, nil)
	fillConsole(h)
	p := b.open(h.URL, screens[0])
	wait := func(want string) {
		t.Helper()
		if !waittest.Until(func() bool { return p.listed() == want }) {
			t.Fatalf("the list has %q, want %q", p.listed(), want)
		}
	}
	p.ask("Who leads a writer through the Zone?")
	p.see(".turn:last-child", "a room that grants wishes", "to the first word")
	p.run(chromedp.KeyEvent("not sent yet"), chromedp.Click(`//button[. = "New conversation"]`))
	p.see("h1", "Ask your documents")
	p.run(chromedp.WaitVisible(`.examples button`))
	p.ask("Which planet does a station orbit?")
	p.see(".turn:last-child", "psychologist", "to the first word")
	wait("Which planet does a station orbit?; Who leads a writer through the Zone?")

	p.run(chromedp.Click(conversation("Who leads a writer through the Zone?")))
	p.see("main", "a room that grants wishes")
	if typed := evaluate[string](p, `document.querySelector("textarea").value`); typed != "not sent yet" {
		t.Errorf("the draft of the conversation is %q", typed)
	}
	p.run(chromedp.Click(`.bar summary`), chromedp.Click(`//button[. = "Rename"]`))
	p.audit("the name of a conversation")
	p.run(chromedp.KeyEvent("Stalker’s guide" + kb.Enter))
	wait("Stalker’s guide; Which planet does a station orbit?")
	p.run(chromedp.SendKeys(`#talks input`, "PSYCHOLOGIST"))
	wait("Which planet does a station orbit?")
	p.run(chromedp.Reload())
	wait("Stalker’s guide; Which planet does a station orbit?")
	p.see("h1", "Stalker’s guide")

	p.run(chromedp.Click(`.bar summary`), chromedp.Click(`//details[@open]//button[. = "Delete"]`))
	p.see("dialog[open]", "Delete “Stalker’s guide”?", "This cannot be undone.")
	p.run(chromedp.Click(chromedp.CSS("#confirm-yes")))
	wait("Which planet does a station orbit?")
	p.see("h1", "Ask your documents")

	// A link of somebody else leads to the same workspace.
	p.view("#/ask/films/elsewhere", "Ask your documents")
	p.see("main", "kept in another browser")
	if uid := evaluate[string](p, `document.querySelector(".bar select").value`); uid != "films" {
		t.Errorf("the link leads to the workspace %q", uid)
	}
}

// TestConsoleManners presses Enter while an input method composes, which sends nothing;
// scrolls while an answer comes, which stays; and asks again, which loses nothing where
// it fails, and begins a new conversation where it would.
func TestConsoleManners(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	h, w := consoleWire(t, nil)
	var fails atomic.Bool
	more := make(chan struct{})
	w.On("answers", func(x *house.Exchange) {
		if fails.Load() {
			x.Say(house.Answered(400, "", `{"error":{"message":"Not now."}}`))
			return
		}
		x.Say(house.Stream + house.Delta("Said.\\n\\n```sh\\nls -l\\n```\\n") + house.Finish)
	})
	w.On("long", func(x *house.Exchange) {
		x.Say(house.Stream + house.Delta(strings.Repeat("A paragraph that says something.\\n\\n", 60)))
		<-more
		x.Say(house.Delta(strings.Repeat("And more of it.\\n\\n", 60)+"The end.") + house.Finish)
	})
	p := b.open(h.URL, screens[0])
	p.view("#/ask/w", "Ask")
	p.run(chromedp.SetValue(`//label[starts-with(., "Model")]//input`, "answers"))
	p.run(chromedp.Focus(question), chromedp.KeyEvent("first"), chromedp.Evaluate[chromedp.Void](`(() => {
		const box = document.querySelector("textarea");
		box.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", isComposing: true, bubbles: true}));
		box.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", keyCode: 229, bubbles: true}));
	})()`))
	if n := evaluate[int](p, `document.querySelectorAll(".turn").length`); n != 0 {
		t.Fatalf("Enter of an input method sent the question: %d turns", n)
	}
	p.run(chromedp.KeyEvent(kb.Enter))
	p.see(".turn:last-child", "Said.", "ls -l", "to the first word")
	p.see(".code .top", "sh", "Copy")

	fails.Store(true)
	p.run(chromedp.Click(`//button[. = "Regenerate"]`))
	p.see(".turn:last-child [role=alert]", "Not now.")
	fails.Store(false)
	p.run(chromedp.Reload())
	p.see(".turn:last-child", "Said.") // the answer that was there
	p.run(chromedp.SetValue(`//label[starts-with(., "Model")]//input`, "answers"))
	p.run(clearQuestion)
	p.ask("second")
	p.see(".turn:nth-child(4)", "Said.", "to the first word")
	p.run(chromedp.Click(`//section[contains(@class, "user")][1]//button[. = "Edit"]`))
	p.see("main", "You change an earlier question.")
	p.run(chromedp.KeyEvent(kb.End), chromedp.KeyEvent(" of all"+kb.Enter))
	p.see(".turn.user", "first of all")
	p.see(".turn:last-child", "to the first word")
	waittest.For(t, "the conversation before is kept", func() bool { return p.listed() == "first of all; first" })

	p.run(chromedp.Evaluate[chromedp.Void](`(() => { const r = document.createRange(); r.selectNodeContents(document.querySelector(".answer .text p")); getSelection().removeAllRanges(); getSelection().addRange(r); })()`), chromedp.Click(`//button[. = "Quote selection"]`))
	if typed := evaluate[string](p, `document.querySelector("textarea").value`); typed != "> Said.\n\n" {
		t.Errorf("the quote is %q", typed)
	}
	p.run(clearQuestion, chromedp.SetValue(`//label[starts-with(., "Model")]//input`, "long"))
	p.ask("go on")
	p.see(".turn:last-child", "A paragraph")
	top := func() float64 {
		return evaluate[float64](p, `document.querySelector(".turn.user:nth-last-child(2)").getBoundingClientRect().top`)
	}
	if at := top(); at < 0 || at > 120 {
		t.Errorf("the question is at %.0f, want it at the top", at)
	}
	before := evaluate[float64](p, "scrollTo(0, 150), scrollY")
	close(more)
	p.see(".turn:last-child", "The end.", "to the first word")
	if after := evaluate[float64](p, "scrollY"); after != before {
		t.Errorf("the view moved from %.0f to %.0f while the answer came", before, after)
	}
}

// TestConsoleSources shows the sources of an answer as cards, goes to the place in the
// file, shows none for a refusal, and imports a file that is dropped into the talk.
func TestConsoleSources(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	h := consoleHost(t, nil)
	dir := writeFiles(t, map[string]string{
		"garden/beds.md": "# Beds\n\n## Tomatoes\n\nWater the tomatoes in the morning.\n\n| plant | times |\n|---|---|\n| tomatoes | twice a week |\n\n## Roses\n\nCut the roses in March.\n\n## Tools\n\nThe spade hangs behind the door.\n",
		"bulbs.md":       "# Bulbs\n\nTulips want to be planted in November, ten centimetres deep.\n",
	})
	p := b.open(h.URL, screens[0])
	p.see("main", "Drop files or a folder here")
	p.drop(".drop", filepath.Join(dir, "garden"))
	p.run(chromedp.Click(`//button[. = "Add garden/beds.md"]`))
	p.run(chromedp.Click(`//a[starts-with(., "Ask about")]`))
	p.ask("How often should I water the tomatoes?")
	p.see(".turn:last-child .sources", "beds.md", "Tomatoes", "line")
	p.look(screens[0], "ask-sources")
	if n := evaluate[int](p, `document.querySelectorAll(".answer .text table td").length`); n == 0 {
		t.Error("the table of a quote is not drawn as one")
	}
	if marks := evaluate[string](p, `[...document.querySelectorAll(".source:first-of-type mark")].map((m) => m.textContent).join(" ")`); !strings.Contains(marks, "Water") || !strings.Contains(marks, "tomatoes") || strings.Contains(marks, "the") {
		t.Errorf("the words that are marked are %q", marks)
	}
	p.run(chromedp.Click(`.sources .source`))
	p.see("dialog[open] .here", "Water the tomatoes")
	p.see("dialog[open]", "The spade hangs behind the door.")
	p.audit("a source in its file")
	p.closeDialog()

	p.ask("What is the capital of Mongolia?")
	p.see(".turn:last-child", "found nothing", "to the first word")
	if n := evaluate[int](p, `document.querySelectorAll(".turn:last-child .sources").length`); n != 0 {
		t.Error("a refusal shows sources")
	}

	p.run(chromedp.Focus(question), chromedp.KeyEvent("When are tulips planted?"))
	p.drop(".compose", filepath.Join(dir, "bulbs.md"))
	p.see("dialog[open]", "Add files to ask about", "A new collection")
	p.audit("files of a conversation")
	p.run(chromedp.Click(`//dialog//button[. = "Add bulbs.md"]`))
	p.see(".turn:last-child", "planted in November", "to the first word")
}

// TestConsoleAddresses says where a plugin may send requests to as people say it.
func TestConsoleAddresses(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	h, _ := consoleWire(t, nil)
	p := b.open(h.URL, screens[0])
	for _, v := range []struct{ hash, heading string }{{"#/workspaces/w", "w"}, {"#/plugins", "Plugins"}} {
		p.view(v.hash, v.heading)
		p.see("main", "ay reach the address that its workspace names")
		if text := p.text("main"); strings.Contains(text, "${") {
			t.Errorf("%s says %.500q", v.hash, text)
		}
	}
}

// TestConsoleLanguages reads the page in German and in Hebrew, which goes from right to left.
func TestConsoleLanguages(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	h := consoleHost(t, nil)
	fillConsole(h)
	for _, s := range []screen{screens[0], screens[3]} {
		p := b.open(h.URL, s)
		p.see("h1", "Ask your documents")
		for _, l := range []struct{ language, heading, send, direction string }{{"de", "Fragen Sie Ihre Dokumente", "Fragen", "ltr"}, {"he", "שאלו את המסמכים שלכם", "שאלה", "rtl"}} {
			p.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("localStorage.setItem('parley-language', %q)", l.language)), chromedp.Reload())
			p.see("h1", l.heading)
			p.see("form.compose", l.send)
			if at := evaluate[string](p, "document.documentElement.lang + getComputedStyle(document.body).direction"); at != l.language+l.direction {
				t.Errorf("the page in %s is %q", l.language, at)
			}
			p.look(s, "ask-"+l.language)
		}
	}
}
