package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/e2e/house"
)

// An attack is a hostile guest and the call in which it does its harm.
type attack struct {
	what         string // for the page
	guest, where string
	in           string // the call, for the page, where it is not where
	says         string // in the error that the client gets; empty: every answer is whole
	does         string // the host, for the page
	counts       bool   // the guest goes by how often it was called, not by what it is given
	saw          string // by the client, at the first harm: filled in by check
}

func attacks() []attack {
	fault := func(kind string) string { return "failed (" + kind + ")" }
	const (
		again    = "the call is made again on another instance, once; both are closed"
		ended    = "the guest is stopped at its deadline of 2 s, its instance is closed"
		denied   = "no more memory than was granted; after the trap as above"
		useless  = "the answer is thrown away"
		refuses  = "no request is sent"
		literal  = "nothing is put in its place"
		statused = "the provider's status says enough without the plugin"
	)
	return []attack{
		{what: "a trap", guest: "trap", where: "encode", says: fault("trap"), does: again},
		{what: "a trap", guest: "trap", where: "decode", says: fault("trap"), does: again},
		{what: "a trap", guest: "trap", where: "error", says: "status 500", does: again + "; " + statused},
		{what: "a trap in parley_input", guest: "inputtrap", where: "any", says: fault("trap"), does: again},
		{what: "it leaves the process", guest: "exit", where: "encode", says: fault("exit"), does: again},
		{what: "it leaves the process", guest: "exit", where: "decode", says: fault("exit"), does: again},
		{what: "an endless loop", guest: "spin", where: "encode", says: fault("deadline"), does: ended},
		{what: "an endless loop", guest: "spin", where: "decode", says: fault("deadline"), does: ended},
		{what: "mutual recursion without a loop", guest: "mutual", where: "encode", says: fault("deadline"), does: ended},
		{what: "a storm of bulk memory instructions", guest: "bulk", where: "decode", says: fault("deadline"), does: ended},
		{what: "a flood of log lines", guest: "flood", where: "encode", says: fault("deadline"), does: ended + "; of its lines 64 KiB a minute are kept, and one says that there were more"},
		{what: "a stack bomb", guest: "recurse", where: "encode", says: fault("stack"), does: "the guest is stopped where its calls nest deeper than 8 MiB, its instance is closed"},
		{what: "a stack bomb", guest: "recurse", where: "decode", says: fault("stack"), does: "the guest is stopped where its calls nest deeper than 8 MiB, its instance is closed"},
		{what: "a memory bomb", guest: "grow", where: "encode", says: fault("memory"), does: denied},
		{what: "a memory bomb", guest: "grow", where: "decode", says: fault("memory"), does: denied},
		{what: "its input outside its memory", guest: "inputout", where: "any", says: fault("input"), does: again},
		{what: "an answer outside its memory", guest: "outside", where: "encode", says: fault("bounds"), does: again},
		{what: "an answer outside its memory", guest: "outside", where: "decode", says: fault("bounds"), does: again},
		{what: "an answer outside its memory", guest: "outside", where: "error", says: "status 500", does: again + "; " + statused},
		{what: "an answer of 2 GiB", guest: "huge", where: "encode", says: fault("bounds"), does: again},
		{what: "an answer of 2 GiB", guest: "huge", where: "decode", says: fault("bounds"), does: again},
		{what: "an answer within memory and over its bounds", guest: "overlong", where: "encode", says: "an answer that cannot be used", does: useless},
		{what: "an answer within memory and over its bounds", guest: "overlong", where: "decode", says: "an answer that cannot be used", does: useless},
		{what: "an answer of another form", guest: "nojson", where: "encode", says: "an answer that cannot be used", does: useless},
		{what: "an answer of another form", guest: "nojson", where: "decode", says: "an answer that cannot be used", does: useless},
		{what: "an answer of another form", guest: "nojson", where: "error", says: "status 500", does: useless + "; " + statused},
		{what: "nothing for an answer", guest: "mirror", where: "encode", says: "an answer that cannot be used", does: useless},
		{what: "its own input for an answer", guest: "mirror", where: "decode", says: "an answer that cannot be used", does: useless},
		{what: "nonsense in an answer's second call", guest: "unstable", where: "decode", says: "an answer that cannot be used", does: useless, counts: true},
		{what: "a trap in an answer's second call", guest: "timebomb", where: "decode", does: "the call is made again on another instance, which counts anew", counts: true},
		{what: "an endless loop in an answer's second call", guest: "timespin", where: "decode", says: fault("deadline"), does: ended, counts: true},
		{what: "it fails with a code that the contract does not have", guest: "good", where: "decode", says: "could not go on", does: "it counts as a failure, whose words are for the log"},
		{what: "`${apiKey}` in the URL", guest: "keyurl", where: "any", in: "encode", says: "secrets go in header values only", does: refuses},
		{what: "`${apiKey}` in a field of the body", guest: "keybody", where: "any", in: "encode", says: "secrets go in header values only", does: refuses},
		{what: "`${apiKey}` deep in the body", guest: "keydeep", where: "any", in: "encode", does: literal},
		{what: "`${apiKey}` in a header to another host", guest: "keyhost", where: "any", in: "encode", says: "which it has no grant for", does: refuses},
		{what: "another secret in a header", guest: "keyother", where: "any", in: "encode", says: "its grants name no such secret", does: refuses},
		{what: "`${apiKey}` in the model's text", guest: "keytext", where: "any", in: "decode", does: literal},
	}
}

// source names the attack's own plugin: the breaker of one must not end another.
func (a *attack) source() string { return a.guest + a.where }

// module is the guest with its evil where the attack wants it. Guests do evil
// when an organisation begins with "!" (encode), when a stream was cancelled
// (decode), and over a status of 5xx (error); the second is changed to a
// stream's first call here, and the address to base's.
func (a *attack) module(t *testing.T, base string) []byte {
	t.Helper()
	const there = `https://api.example.com/v1`
	path := "/200" // there is room for four bytes
	if a.where == "error" {
		path = "/500"
	}
	here := base + path
	here += strings.Repeat("/", len(there)-len(here))
	b := bytes.ReplaceAll(guest(t, "plugin", a.guest), []byte(there), []byte(here))
	if a.where == "decode" && !a.counts {
		const offset4 = "\x41\x80\x20\x2d\x00\x04" // i32.const 4096, i32.load8_u offset=4
		if !bytes.Contains(b, []byte(offset4+"\x41\x04")) && a.guest != "mirror" {
			t.Fatalf("%s.wasm does not look at the flags as it did", a.guest)
		}
		b = bytes.ReplaceAll(b, []byte(offset4+"\x41\x04"), []byte(offset4+"\x41\x09")) // first, patterns
	}
	return house.Packed(t, b, a.source(), nil)
}

func (a *attack) check(t *testing.T, h *house.House, base string) {
	org := ""
	if a.where == "encode" {
		org = "!"
	}
	settings := fmt.Sprintf(`{"source":%q,"baseUrl":%q,"orgId":%q,"apiKey":%q}`, a.source(), base, org+"x", apiKey)
	if r := h.Call("PATCH", "/chats/"+a.source()+"/settings", settings); r.Status != http.StatusOK {
		t.Fatalf("settings: %s", r.Body)
	}
	asks := 3
	if strings.Contains(a.says, "deadline") {
		asks = 1 // which takes seconds
	}
	whole := 0
	for n := range asks {
		r, got := h.Ask(a.source(), "any")
		shown, message := shownOf(r, got)
		if message == "" {
			whole++
			if a.says == "" {
				a.saw = shown
			}
			continue
		}
		rests := n > 0 && r.Status == http.StatusServiceUnavailable && strings.Contains(message, "rests for a while")
		if a.says == "" || !strings.Contains(message, a.says) && !rests {
			t.Errorf("ask %d: status %d, %.500s; want %q", n, r.Status, message, a.says)
		}
		if a.saw == "" {
			a.saw = strings.ReplaceAll(shown, a.source()+" 1.0.0", "NAME 1.0.0")
		}
	}
	if whole > 0 != (a.says == "") {
		t.Errorf("%d of %d answers were whole", whole, asks)
	}
}

// shownOf says what a client saw, and the message of the error, if it was one.
func shownOf(r house.Reply, got map[string]any) (shown, message string) {
	if r.Status != http.StatusOK {
		e := decodeError(r.Body)
		return fmt.Sprintf("%d `%s`: %s", r.Status, e.Code, e.Message), e.Message
	}
	if e, ok := got["error"].(map[string]any); ok {
		if got["text"] == "" {
			// Of attacks side by side on a busy machine some take so long that the stream opens
			// before it is known that there will be none.
			return fmt.Sprintf("%d `%s`: %s", http.StatusBadGateway, house.Text(e["code"]), house.Text(e["message"])), house.Text(e["message"])
		}
		return fmt.Sprintf("a stream that ends with an error, `%s`: %s", house.Text(e["code"]), house.Text(e["message"])), house.Text(e["message"])
	}
	if got["finish_reason"] == nil {
		return "a stream without an end", "no end"
	}
	return "a whole answer", ""
}
