package console

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/waittest"
)

// TestConsoleWarns says on the first screen who may do everything: whoever is at this
// computer, or in red, everybody on the network.
func TestConsoleWarns(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	h := consoleHost(t, nil)
	p := b.open(h.URL, screens[0])
	p.see("main .notice:not(.bad)", "everybody on this computer may do everything")

	target, err := url.Parse(h.URL)
	if err != nil {
		t.Fatal(err)
	}
	wide := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host
			r.Out.Header.Del("Accept-Encoding") // to be read below
		},
		// As a host that others can reach says it.
		ModifyResponse: func(r *http.Response) error {
			if r.Request.URL.Path != "/keys/current" {
				return nil
			}
			body, err := io.ReadAll(r.Body)
			body = bytes.Replace(body, []byte(`"network":false`), []byte(`"network":true`), 1)
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			r.Header.Set("Content-Length", strconv.Itoa(len(body)))
			return err
		},
	}
	server := httptest.NewServer(wide)
	t.Cleanup(server.Close)
	p = b.open(server.URL, screens[3])
	p.see("main .notice.bad", "everybody on its network may do everything")
	p.look(screens[3], "start-network")
	if colour := evaluate[string](p, `getComputedStyle(document.querySelector(".notice.bad")).color`); colour != "rgb(255, 163, 160)" {
		t.Errorf("the line is %s, not red", colour)
	}
}

// TestConsoleTurns renames and swaps indexes, switches on figures, sets a prompt back
// to its default, and forgets tasks.
func TestConsoleTurns(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	h := consoleHost(t, nil)
	fillConsole(h)
	h.Finish(h.Must("POST", "/indexes/other/documents", `[{"id":7,"title":"Mirror"}]`))
	p := b.open(h.URL, screens[0])
	p.view("#/indexes", "Indexes")
	p.run(chromedp.Click(`//button[. = "Swap"]`))
	p.see("#told", "films and other have changed places.")
	if got := h.Must("GET", "/indexes/films/documents", "").Body; !strings.Contains(got, "Mirror") {
		t.Errorf("after the swap films has %.200s", got)
	}
	p.view("#/indexes/other", "other")
	p.run(chromedp.SetValue(`//form[.//button[. = "Rename"]]//input`, "named"), chromedp.Click(`//button[. = "Rename"]`))
	p.see("h1", "named")
	if r := h.Call("GET", "/indexes/other", ""); r.Status != http.StatusNotFound {
		t.Errorf("the old name answers %d", r.Status)
	}

	p.view("#/usage", "Usage")
	p.see("main", "The figures of requests are off")
	p.run(chromedp.Click(`//button[. = "Switch it on"]`))
	p.see("main", "Answers by workspace", "to the first word")

	byDefault := h.Must("GET", "/chats/films/settings", "").Body
	h.Must("PATCH", "/chats/films/settings", `{"prompts":{"system":"Answer in rhymes."}}`)
	p.view("#/workspaces/films", "films")
	const prompt = `//label[starts-with(., "Before each conversation")]`
	p.run(chromedp.Click(`//summary[. = "Advanced"]`), chromedp.Click(`//summary[. = "What the model is told"]`), chromedp.Click(prompt+`/following-sibling::div//summary`))
	p.see("main del", "You answer questions")
	p.see("main ins", "Answer in rhymes.")
	p.audit("a prompt beside the default")
	p.look(screens[0], "workspace-prompt")
	p.run(chromedp.Click(prompt+`/following-sibling::div//button[. = "Reset to the default"]`), chromedp.Click(`//button[. = "Review changes"]`))
	p.see("dialog[open]", "Answer in rhymes.")
	p.run(chromedp.Click(`//dialog//button[. = "Apply"]`))
	p.see("#told", "applied")
	if got := h.Must("GET", "/chats/films/settings", "").Body; got != byDefault {
		t.Errorf("the settings are %s, want the default prompt: %s", got, byDefault)
	}

	p.view("#/tasks", "Tasks")
	p.see("main", "Index swap")
	p.run(chromedp.Click(`//button[. = "Forget finished tasks"]`))
	p.see("dialog[open]", "Forget all finished tasks?", "for good")
	p.run(chromedp.Click(chromedp.CSS("#confirm-yes")))
	p.see("#told", "Forgotten.")
	p.see("main", "1 task") // which forgot the others
}

// TestConsoleSaves writes the conversation as files, of JSON and of Markdown.
func TestConsoleSaves(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	h := consoleHost(t, nil)
	fillConsole(h)
	p := b.open(h.URL, screens[0])
	dir := t.TempDir()
	if _, err := chromedp.Call(p.ctx, cdpbrowser.SetDownloadBehavior, cdpbrowser.SetDownloadBehaviorParams{Behavior: "allow", BrowserContextID: chromedp.FromContext(p.ctx).BrowserContextID, DownloadPath: dir}); err != nil {
		t.Fatal(err)
	}
	p.view("#/ask/films", "Ask")
	p.run(chromedp.WaitVisible(question), chromedp.KeyEvent("Who leads a writer?"), chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(kb.ModifierCtrl)))
	p.see(".turn:last-child", "a room that grants wishes", "ms to the first word")
	p.run(chromedp.Click(`.bar summary`), chromedp.Click(`//button[. = "Save as Markdown"]`), chromedp.Click(`.bar summary`), chromedp.Click(`//button[. = "Save as JSON"]`))
	var saved []byte
	if !waittest.Until(func() bool {
		saved, _ = os.ReadFile(filepath.Join(dir, "Who-leads-a-writer.json"))
		return len(saved) > 0
	}) {
		t.Fatal("no file was saved")
	}
	for _, part := range []string{`"workspace": "films"`, `"content": "Who leads a writer?"`, "a room that grants wishes", `"searches"`} {
		if !bytes.Contains(saved, []byte(part)) {
			t.Errorf("the file does not have %s: %.500s", part, saved)
		}
	}
	waittest.For(t, "the file of Markdown", func() bool {
		text, _ := os.ReadFile(filepath.Join(dir, "Who-leads-a-writer.md"))
		return strings.HasPrefix(string(text), "# Who leads a writer?\n\n## Who leads a writer?\n\n") && bytes.Contains(text, []byte("a room that grants wishes"))
	})
}

// TestConsoleGuards lists a guard, tries it on a text by settings that are not saved, and
// saves them.
func TestConsoleGuards(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	h := house.Open(t, consoleFlags, house.Shipped(t, "extract"), house.Built(t, filepath.Join("plugins", "guard", "mask")))
	fillConsole(h)
	p := b.open(h.URL, screens[0])
	p.view("#/plugins", "Plugins")
	p.see("main", "Guards", "mask", "Sees the texts of workspaces that name it")
	p.view("#/workspaces/films", "films")
	p.run(chromedp.Click(`//summary[. = "Advanced"]`), chromedp.Click(`//summary[. = "Guards"]`), chromedp.Click(`//label[. = "mask"]//input`))
	p.run(chromedp.SendKeys(`//label[starts-with(., "Try a text")]//textarea`, "Mail me: ann@mail.example"), chromedp.Click(`//button[. = "Try it"]`))
	p.see("main", "mask: edit")
	if tried := evaluate[string](p, `document.querySelector("details pre").textContent`); strings.Contains(tried, "ann@") || !strings.HasPrefix(tried, "Mail me: ") {
		t.Errorf("the guard made %q of it", tried)
	}
	p.audit("guards of a workspace")
	p.look(screens[0], "workspace-guards")
	if got := h.Must("GET", "/chats/films/settings", "").Body; strings.Contains(got, "mask") {
		t.Errorf("a trial has saved %s", got)
	}
	p.run(chromedp.Click(`//button[. = "Test the provider"]`))
	p.see("main", "The provider answered.")
	p.run(chromedp.Click(`//button[. = "Review changes"]`))
	p.see("dialog[open]", "Guards", "mask")
	p.run(chromedp.Click(`//dialog//button[. = "Apply"]`))
	p.see("#told", "The settings are applied.")
	if got := h.Must("GET", "/chats/films/settings", "").Body; !strings.Contains(got, `"guards":[{"plugin":"mask"`) {
		t.Errorf("the settings are %s", got)
	}
}

// TestConsoleFeedback has an answer rated, changed to the other thumb, which drops the reason, and
// shows to those who run the workspace what was sent.
func TestConsoleFeedback(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	h := consoleHost(t, nil)
	h.Finish(h.Must("POST", "/indexes/films/documents", `[{"id":"a","path":"zone.md","group":"notes","n":0,"title":"Zone","text":"A guide leads a writer through the Zone to a room that grants wishes."}]`))
	h.Must("PATCH", "/chats/films/settings", `{"source":"extract","indexUids":["films"]}`)
	p := b.open(h.URL, screens[0])
	const ask = "Who leads a writer through the Zone?"
	p.ask(ask)
	p.see(".turn:last-child", "a room that grants wishes", "ms to the first word")
	if n := evaluate[int](p, `document.querySelectorAll(".thumbs").length`); n != 0 {
		t.Errorf("%d answers can be rated though it is off", n)
	}
	p.view("#/workspaces/films", "films")
	p.see("main", "Readers cannot rate answers")
	p.run(chromedp.Click(`//button[. = "Let them rate"]`))
	p.see("main", "Readers have two thumbs")

	p.run(chromedp.Evaluate[chromedp.Void]("history.back()"))
	p.see(".turn:last-child", "a room that grants wishes")
	p.run(chromedp.Click(`button[aria-label="Bad answer"]`))
	p.see("dialog[open]", "What is wrong?", "kept for those who run this service")
	p.audit("a reason")
	p.run(chromedp.SendKeys(`dialog textarea`, "It names nobody"), chromedp.Click(`//dialog//button[. = "Send"]`))
	wait := func(what string, parts ...string) {
		t.Helper()
		if !waittest.Until(func() bool {
			got := h.Must("GET", "/chats/films/feedback", "").Body
			return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(got, part) })
		}) {
			t.Fatalf("%s: %s is kept, want %q", what, h.Must("GET", "/chats/films/feedback", "").Body, parts)
		}
	}
	wait("bad", `"rating":"down"`, `"reason":"It names nobody"`, ask, `"indexUid":"films"`, "a room that grants wishes", `"total":1`)
	p.run(chromedp.Reload(), chromedp.Click(`button[aria-label="Good answer"]`))
	p.see("dialog[open]", "What was good?")
	wait("good", `"rating":"up"`, `"reason":""`, `"total":1`)
	p.run(chromedp.KeyEvent(kb.Escape))
	if pressed := evaluate[string](p, `[...document.querySelectorAll(".thumbs button")].map((b) => b.ariaPressed).join()`); pressed != "true,false" {
		t.Errorf("pressed are %s", pressed)
	}
	p.look(screens[0], "ask-rated")

	p.view("#/workspaces/films", "films")
	p.see("main", "What readers say", ask, "What the model saw")
	p.look(screens[0], "workspace-feedback")
	p.run(chromedp.Click(`//article//button[. = "Delete"]`), chromedp.Click(chromedp.CSS("#confirm-yes")))
	p.see("main", "Readers have two thumbs")
	wait("deleted", `"total":0`)
}

// TestConsoleProviders chooses who answers: each says what it needs, a server on this machine is
// found, and the models are those of what the page says, not of what is saved.
func TestConsoleProviders(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	h := house.Open(t, consoleFlags, house.Shipped(t, "extract"), house.Shipped(t, "vllm"))
	models := func(names ...string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v1/models" {
				http.NotFound(w, r)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"object":"list","data":[{"id":"%s"}]}`, strings.Join(names, `"},{"id":"`))
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	fillConsole(h)
	p := b.open(h.URL, screens[0])
	p.view("#/workspaces/own", "own")
	p.see("main", "Needs: Base URL", "Needs nothing", "quotes")
	if text := p.text("main"); strings.Contains(text, "${") {
		t.Errorf("the form says %.500s", text)
	}
	p.look(screens[0], "workspace-new")
	p.run(chromedp.Click(`//label[contains(@class, "choice")][contains(., "vllm")]//input`))
	p.see("main", "Nothing answers at http://localhost:8000")
	const address, model = `//label[starts-with(., "Base URL")]//input`, `//label[starts-with(., "Default model")]//input`
	p.run(chromedp.SetValue(address, models("small")), chromedp.Focus(model))
	p.see("main", "1 model of the provider can be chosen.")
	p.run(chromedp.SetValue(address, models("large", "larger")), chromedp.Focus(address), chromedp.Focus(model))
	p.see("main", "2 models of the provider can be chosen.")
	if offered := evaluate[string](p, `[...document.querySelectorAll("#models option")].map((o) => o.value).join()`); offered != "large,larger" {
		t.Errorf("the models %s are offered", offered)
	}
	if r := h.Call("GET", "/chats/own/settings", ""); r.Status != http.StatusNotFound {
		t.Errorf("to look at models has saved the workspace: %s", r.Body)
	}
	p.run(chromedp.SetValue(model, "large"), chromedp.Click(`//button[. = "Save"]`))
	p.see("#told", "Saved.")
	if got := h.Must("GET", "/chats/own/settings", "").Body; !strings.Contains(got, `"source":"vLlm"`) || !strings.Contains(got, `"defaultModel":"large"`) {
		t.Errorf("saved are %s", got)
	}
}
