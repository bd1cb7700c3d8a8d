package console

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/waittest"
)

// consoleMaster is the master key of hosts whose page asks for a key.
const consoleMaster = "a master key of the console's tests"

// lockedConsole is consoleHost with that key, and with its films.
func lockedConsole(t testing.TB) *house.House {
	t.Helper()
	h := consoleHost(t, map[string]string{"master-key": consoleMaster})
	h.Key = consoleMaster
	fillConsole(h)
	return h
}

// signIn gives the page the key that it asks for.
func (p *page) signIn(key string) {
	p.t.Helper()
	p.run(chromedp.WaitVisible(chromedp.CSS("#key-value")), chromedp.SendKeys(chromedp.CSS("#key-value"), key+kb.Enter))
}

// madeKey is a key that makeKey made.
type madeKey struct{ Key, UID string }

// makeKey makes a key; expires is JSON.
func makeKey(h *house.House, actions, index, expires string) (made madeKey) {
	h.T.Helper()
	r := h.Must("POST", "/keys", fmt.Sprintf(`{"name":"made","actions":%s,"indexes":[%q],"expiresAt":%s}`, actions, index, expires))
	if err := json.Unmarshal([]byte(r.Body), &made); err != nil {
		h.T.Fatal(err)
	}
	return made
}

// tenantToken is one of key k with these rules, as JSON.
func tenantToken(k madeKey, rules string) string {
	part := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	signed := part(`{"alg":"HS256","typ":"JWT"}`) + "." + part(fmt.Sprintf(`{"apiKeyUid":%q,"searchRules":%s}`, k.UID, rules))
	mac := hmac.New(sha256.New, []byte(k.Key))
	mac.Write([]byte(signed))
	return signed + "." + part(string(mac.Sum(nil)))
}

// changing are labels of buttons that change what the service has.
var changing = regexp.MustCompile(`^(Delete|Create|Make the|Save$|Review|New workspace|Cancel|Forget|Rename|Swap|Install|Look at|Roll back|Use |Remove|Add to|Reset|Switch|Test the|Apply)`)

// TestConsoleKindsOfKeys opens, on each screen, every view that keys of each kind are
// offered: they are those that the key may use, none asks for what it may not do, and
// whoever may only read sees no button that changes something.
func TestConsoleKindsOfKeys(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	h := lockedConsole(t)
	searches := makeKey(h, `["search"]`, "films", "null")
	kinds := []struct {
		name, key string
		views     string // of the page's list
		reads     bool   // and nothing else
	}{
		{"admin", makeKey(h, `["*"]`, "*", "null").Key, "ask search documents start workspaces plugins indexes tasks keys cluster usage telemetry", false},
		{"search", searches.Key, "search start", true},
		{"chat", makeKey(h, `["search","chatCompletions"]`, "films", "null").Key, "ask search start", true},
		{"tenant", tenantToken(searches, `{"films":{"filter":"year = 1979"}}`), "search start", true},
		{"reads", makeKey(h, `["*.get","search"]`, "*", "null").Key, "search documents start workspaces plugins indexes tasks cluster usage telemetry", true},
		{"documents", makeKey(h, `["documents.*","indexes.create","tasks.get"]`, "*", "null").Key, "documents start tasks", false},
		{"collection", makeKey(h, `["indexes.*","documents.*","settings.*","tasks.*","stats.get","search"]`, "fil*", "null").Key, "search documents start indexes tasks usage", false},
	}
	for _, s := range screens {
		t.Run(s.name, func(t *testing.T) {
			if s.dark && !house.Long() {
				t.Skip("the theme changes colours alone: LONG=1 looks at the dark one, too")
			}
			for _, kind := range kinds {
				p := (&browser{t, b.ctx}).open(h.URL, s)
				p.signIn(kind.key)
				p.see("nav", "Administration")
				p.view("#/start", "Overview")
				p.see("nav", "Overview")
				offered := evaluate[[]string](p, `[...document.querySelectorAll("nav a[data-view]")].map((a) => a.dataset.view)`)
				if got := strings.Join(offered, " "); got != kind.views {
					t.Errorf("%s is offered %q, want %q", kind.name, got, kind.views)
				}
				for _, view := range offered {
					hash := "#/" + view
					if view == "search" || view == "documents" || view == "indexes" || view == "workspaces" {
						hash += "/films"
					}
					p.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("location.hash = %q", hash)), chromedp.WaitVisible(`main h1`))
					evaluate[bool](p, `new Promise((done) => { let n = -1; const look = () => { const now = performance.getEntriesByType("resource").length; now === n ? done(true) : (n = now, setTimeout(look, 150)); }; look(); })`)
					if view == "search" {
						p.see("main", "Stalker")
					}
					if kind.name != "admin" && !s.dark { // which TestConsoleViews shows
						p.look(s, "key-"+kind.name+"-"+view)
					}
					if alerts := evaluate[[]string](p, `[...document.querySelectorAll("main [role=alert]")].map((a) => a.innerText)`); len(alerts) > 0 {
						t.Errorf("%s sees in %s: %q", kind.name, view, alerts)
					}
					for _, label := range evaluate[[]string](p, `[...document.querySelectorAll("main button, main input[type=file]")].map((b) => b.type === "file" ? "Add to" : b.textContent)`) {
						if kind.reads && changing.MatchString(label) && (view != "ask" || label != "Rename" && label != "Delete") {
							t.Errorf("%s is offered %q in %s", kind.name, label, view)
						}
					}
				}
				if kind.name == "tenant" && strings.Contains(p.text("main"), "Solaris") {
					t.Error("a tenant sees what its rules leave out")
				}
				p.mu.Lock()
				if len(p.refused) > 0 {
					t.Errorf("for %s the page asks what the key may not: %q", kind.name, p.refused)
				}
				p.mu.Unlock()
			}
		})
	}
}

// TestConsoleKeys signs in with keys of several kinds; each is shown what it may
// do and nothing else.
func TestConsoleKeys(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	h := consoleHost(t, map[string]string{"master-key": consoleMaster})
	p := b.open(h.URL, screens[0])
	p.signIn("no key of this service")
	p.see("#ask-key", "does not know this key")
	p.audit("the question for a key")
	p.signIn(consoleMaster)
	p.see("nav", "Administration")
	p.view("#/keys", "Keys")
	p.see("nav", "Keys", "Workspaces")
	p.run(chromedp.SendKeys(`//label[starts-with(., "Name")]//input`, "Front end"), chromedp.Click(`//button[. = "Make the key"]`))
	p.see("dialog[open]", "Copy it now")
	narrow := strings.TrimSpace(p.text("dialog[open] pre"))
	if len(narrow) < 32 {
		t.Fatalf("the new key is %q", narrow)
	}
	p.run(chromedp.KeyEvent(kb.Escape))
	p.see("main", "Front end")
	p.look(screens[0], "keys-signed-in")
	if kept := evaluate[string](p, "JSON.stringify(localStorage) + location.href + document.body.innerText"); strings.Contains(kept, consoleMaster) {
		t.Error("the key stays where it was not asked to")
	}

	p.run(chromedp.Click(chromedp.CSS("#key")))
	p.signIn(narrow)
	p.see("nav", "Search")
	if nav := p.text("nav"); strings.Contains(nav, "Keys") || strings.Contains(nav, "Workspaces") {
		t.Errorf("a key that may search is offered %q", nav)
	}
	p.view("#/keys", "Keys")
	p.see("main", "keys.get")
}

// TestConsoleKeyRevoked deletes the key of somebody who is typing: the page asks
// for another one, and what was typed is still there.
func TestConsoleKeyRevoked(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	h := lockedConsole(t)
	for _, how := range []string{"deleted", "expired"} {
		expires := "null"
		if how == "expired" {
			expires = strconv.Quote(time.Now().Add(3 * time.Second).UTC().Format(time.RFC3339))
		}
		made := makeKey(h, `["search","chatCompletions"]`, "*", expires)
		p := b.open(h.URL, screens[0])
		if how == "deleted" {
			p.signIn(made.Key)
			p.run(chromedp.WaitVisible(question))
			p.view("#/ask/films", "Ask")
			h.Must("DELETE", "/keys/"+made.UID, "")
		} else {
			p.run(chromedp.WaitVisible(chromedp.CSS("#key-value")))
			h.Key = made.Key
			if !waittest.Until(func() bool { return h.Call("GET", "/keys/current", "").Status != http.StatusOK }) {
				t.Fatal("the key does not expire")
			}
			h.Key = consoleMaster
			p.signIn(consoleMaster)
			p.run(chromedp.WaitVisible(question))
			p.view("#/ask/films", "Ask")
			p.see("main", "What is “Solaris” about?") // and nothing more is asked for
			p.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("sessionStorage.setItem('parley-key', %q)", made.Key)))
		}
		p.run(chromedp.WaitVisible(question), chromedp.SendKeys(question, "Who leads a writer?"), chromedp.Click(`//button[@type="submit" and . = "Ask"]`))
		p.see("#ask-key", "does not know this key, or it has expired")
		p.look(screens[0], "key-"+how)
		p.run(chromedp.KeyEvent(kb.Escape))
		p.see(".turn:last-child [role=alert]", "key")
		if typed := evaluate[string](p, "document.querySelector('textarea').value"); typed != "Who leads a writer?" {
			t.Errorf("%s: the question is %q", how, typed)
		}
		p.run(chromedp.Click(`//button[@type="submit" and . = "Ask"]`))
		p.signIn(consoleMaster)
		p.see(".turn:last-child", "a room that grants wishes")
	}
}

// TestConsoleKeyGivenMeanwhile gives the key while a request without one is under
// way. It is made again with that key: the dialog does not open a second time.
func TestConsoleKeyGivenMeanwhile(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	h := consoleHost(t, map[string]string{"master-key": consoleMaster})
	p := b.open(h.URL, screens[0])
	p.run(chromedp.WaitVisible(chromedp.CSS("#key-value")))
	name := evaluate[string](p, fmt.Sprintf(`import("/console/api.js").then(({ call }) => {
		const asked = call("GET", "/keys/current");
		document.getElementById("key-value").value = %q;
		document.querySelector("#ask-key form").requestSubmit();
		document.getElementById("ask-key").showModal = () => { throw new Error("asks again"); };
		return asked;
	}).then(() => "answered", (err) => err.message)`, consoleMaster))
	if name != "answered" {
		t.Errorf("the request ended with %q, want %q", name, "answered")
	}
}
