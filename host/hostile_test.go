package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/parley-search/parley/abi"
)

// TestHostilePlugins puts every hostile module there is into a plugin directory
// beside a good one. The host starts; what cannot be loaded is left out, with a
// line that names the file and what is wrong; what can be loaded costs its own
// stream alone: a workspace on the good plugin answers all the while.
func TestHostilePlugins(t *testing.T) {
	checkLeak(t)
	w := newWire(t)
	dir := t.TempDir()
	put(t, dir, "vllm-1.0.0.wasm", shipped(t, "vllm"))
	leftOut := leftOut(t, dir)
	attacks := attacks()
	for _, a := range attacks {
		if a.guest != "" {
			put(t, dir, a.source()+"-1.0.0.wasm", a.module(t, w.url))
		}
	}

	h := openHouse(t, map[string]string{"plugin-dir": dir, "plugin-lock": "off"})
	h.addFilms(100)
	for file, reason := range leftOut {
		if !h.logs(`"message":"plugin left out"`, file, reason, "parley plugin ") {
			t.Errorf("no log line says that %s is left out since %q; there is %s", file, reason, around(h.log.String(), file))
		}
	}
	h.must("PATCH", "/chats/neighbour/settings", fmt.Sprintf(`{"source":"vLlm","baseUrl":%q,"apiKey":%q,"prompts":{"system":%q}}`, w.url, apiKey, marker))
	neighbour := func() bool {
		r, got := h.ask("neighbour", "good")
		return r.status == http.StatusOK && got["text"] == "fine" && got["finish_reason"] == "stop"
	}
	if !neighbour() {
		t.Fatal("the neighbour does not answer")
	}

	// The neighbour asks on and on while the others do harm.
	var asked atomic.Int64
	stop := make(chan struct{})
	var asking sync.WaitGroup
	asking.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if !neighbour() {
				t.Error("the neighbour got no whole answer meanwhile")
				return
			}
			asked.Add(1)
		}
	})
	w.on("/200", says(stream+delta("x")+finish))
	w.on("/500", says(answered(500, "", "boom")))
	t.Run("attacks", func(t *testing.T) {
		for _, a := range attacks {
			t.Run(a.guest+"/"+a.where, func(t *testing.T) {
				t.Parallel()
				a.check(t, h, w.url)
			})
		}
	})
	close(stop)
	asking.Wait()
	t.Logf("the neighbour had %d answers meanwhile", asked.Load())
	if asked.Load() == 0 || !neighbour() {
		t.Error("the neighbour does not answer")
	}
	h.must("GET", "/health", "")
	h.checkFilms(100)
	h.checkSecret(apiKey, marker)
}

// logs reports whether a line of the log holds all of parts.
func (h *house) logs(parts ...string) bool {
	for line := range strings.Lines(h.log.String()) {
		all := true
		for _, p := range parts {
			quoted, _ := json.Marshal(p)
			all = all && (strings.Contains(line, p) || strings.Contains(line, string(quoted[1:len(quoted)-1])))
		}
		if all {
			return true
		}
	}
	return false
}

func put(t *testing.T, dir, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// guest reads a module of the packages below, which lie beside their sources.
func guest(t *testing.T, room, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("internal", room, "testdata", name+".wasm"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// packed gives a module a manifest, whether they fit or not.
func packed(t *testing.T, module []byte, source string, change map[string]any) []byte {
	t.Helper()
	m := map[string]any{
		"abi": 1, "kind": "provider", "name": strings.ToLower(source), "version": "1.0.0", "source": source,
		"settings": map[string]any{"baseUrl": map[string]any{"required": true}, "orgId": map[string]any{}, "apiKey": map[string]any{}},
		"grants":   map[string]any{"http": []string{"${baseUrl}"}, "secrets": []string{"apiKey"}},
		"limits":   map[string]any{"memoryMiB": 8},
	}
	for k, v := range change {
		m[k] = v
	}
	manifest, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	b, err := abi.WithSection(module, abi.SectionManifest, manifest)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// leftOut puts all modules that no host may load into dir and returns, by the
// file's name, a part of the reason that the operator has to see.
func leftOut(t *testing.T, dir string) map[string]string {
	t.Helper()
	good := guest(t, "plugin", "good")
	files := map[string]struct {
		module []byte
		reason string
	}{
		"empty":      {nil, "make one with `parley plugin build DIR`"},
		"text":       {[]byte("#!/bin/sh\nexit 1\n"), "make one with `parley plugin build DIR`"},
		"component":  {guest(t, "plugin", "component"), "`parley plugin pack FILE --manifest manifest.json`"},
		"bare":       {good, "add one with `parley plugin pack FILE --manifest manifest.json`"},
		"damaged":    {packed(t, good, "damaged", nil)[:400], "the module is damaged"},
		"garbage":    {append([]byte("\x00asm\x01\x00\x00\x00"), bytes.Repeat([]byte{0xff}, 100)...), "the module is damaged"},
		"abi99":      {packed(t, good, "abi99", map[string]any{"abi": 99}), "this host speaks ABI 1"},
		"future":     {packed(t, guest(t, "plugin", "future"), "future", nil), "`parley plugin build DIR` does"},
		"noexport":   {packed(t, guest(t, "plugin", "noexport"), "noexport", nil), "it lacks the export parley_decode"},
		"signature":  {packed(t, guest(t, "plugin", "wrongsignature"), "signature", nil), "must be (i32) -> i64"},
		"import":     {packed(t, guest(t, "plugin", "unknownimport"), "import", nil), "which the host does not have"},
		"greedy":     {packed(t, good, "greedy", map[string]any{"limits": map[string]any{"memoryMiB": 2000}}), "asks for 2000 MiB"},
		"nomanifest": {packed(t, good, "nomanifest", map[string]any{"name": "", "version": "one"}), "version"},
	}
	// The guests of the sandbox's own tests are no providers: each lacks exports
	// at least.
	others, err := filepath.Glob(filepath.Join("internal", "wasm", "testdata", "*.wasm"))
	if err != nil || len(others) < 10 {
		t.Fatalf("%d guests, %v", len(others), err)
	}
	reasons := map[string]string{}
	for _, file := range others {
		name := strings.TrimSuffix(filepath.Base(file), ".wasm")
		put(t, dir, "sandbox-"+name+".wasm", packed(t, guest(t, "wasm", name), "sandbox"+name, nil))
		reasons["sandbox-"+name+".wasm"] = "sandbox" + name
	}
	for name, f := range files {
		put(t, dir, name+".wasm", f.module)
		reasons[name+".wasm"] = f.reason
	}
	return reasons
}

// An attack is a hostile guest and the call in which it does its harm.
type attack struct {
	guest, where string
	says         string // in the error
}

func attacks() []attack {
	fault := func(kind string) string { return "failed (" + kind + ")" }
	return []attack{
		{"trap", "encode", fault("trap")},
		{"trap", "decode", fault("trap")},
		{"trap", "error", "status 500"}, // the status says enough without the plugin
		{"spin", "encode", fault("deadline")},
		{"spin", "decode", fault("deadline")},
		{"flood", "encode", fault("deadline")},
		{"grow", "encode", fault("memory")},
		{"grow", "decode", fault("memory")},
		{"outside", "encode", fault("bounds")},
		{"outside", "decode", fault("bounds")},
		{"outside", "error", "status 500"},
		{"huge", "encode", fault("bounds")},
		{"huge", "decode", fault("bounds")},
		{"nojson", "encode", "an answer that cannot be used"},
		{"nojson", "decode", "an answer that cannot be used"},
		{"nojson", "error", "status 500"},
		{"mirror", "encode", "an answer that cannot be used"},
		{"good", "decode", "no such model"}, // it may refuse; that is no fault
	}
}

// source names the attack's own plugin: the breaker of one must not end another.
func (a attack) source() string { return a.guest + a.where }

// module is the guest with its evil where the attack wants it. Guests do evil
// when an organisation begins with "!" (encode), when a stream was cancelled
// (decode), and over a status of 5xx (error); the second is changed to a
// stream's first call here, and the address to base's.
func (a attack) module(t *testing.T, base string) []byte {
	t.Helper()
	const there = `"url":"https://api.example.com/v1"`
	path := "/200" // there is room for four bytes
	if a.where == "error" {
		path = "/500"
	}
	here := `"url":"` + base + path
	here += strings.Repeat("/", len(there)-1-len(here)) + `"`
	b := bytes.ReplaceAll(guest(t, "plugin", a.guest), []byte(there), []byte(here))
	if a.where == "decode" {
		const offset4 = "\x41\x80\x20\x2d\x00\x04" // i32.const 4096, i32.load8_u offset=4
		if !bytes.Contains(b, []byte(offset4+"\x41\x04")) {
			t.Fatalf("%s.wasm does not look at the flags as it did", a.guest)
		}
		b = bytes.ReplaceAll(b, []byte(offset4+"\x41\x04"), []byte(offset4+"\x41\x01"))
	}
	return packed(t, b, a.source(), nil)
}

func (a attack) check(t *testing.T, h *house, base string) {
	org := ""
	if a.where == "encode" {
		org = "!"
	}
	settings := fmt.Sprintf(`{"source":%q,"baseUrl":%q,"orgId":%q,"apiKey":%q}`, a.source(), base, org+"x", apiKey)
	if r := h.call("PATCH", "/chats/"+a.source()+"/settings", settings); r.status != http.StatusOK {
		t.Fatalf("settings: %s", r.body)
	}
	asks := 3
	if strings.Contains(a.says, "deadline") {
		asks = 1 // which takes seconds
	}
	for n := range asks {
		r, got := h.ask(a.source(), "any")
		message := r.body
		if r.status == http.StatusOK {
			e, _ := got["error"].(map[string]any)
			message = str(e["message"])
			if got["finish_reason"] != nil || message == "" {
				t.Errorf("ask %d: a clean end: %.500s", n, r.body)
			}
		}
		rests := n > 0 && r.status == http.StatusServiceUnavailable && strings.Contains(message, "rests for a while")
		if !strings.Contains(message, a.says) && !rests {
			t.Errorf("ask %d: status %d, %.500s; want %q", n, r.status, message, a.says)
		}
	}
}
