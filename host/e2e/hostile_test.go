package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-search/parley/abi"
)

// TestHostilePlugins puts every hostile module there is into a plugin directory
// beside a good one. The host starts; what cannot be loaded is left out, with a
// line that names the file and what is wrong; what can be loaded costs its own
// stream alone: a workspace on the good plugin answers all the while. What came
// of each attack is the table in containment.md.
func TestHostilePlugins(t *testing.T) {
	checkLeak(t)
	w := newWire(t)
	dir := t.TempDir()
	put(t, dir, "vllm-1.0.0.wasm", shipped(t, "vllm"))
	files := leftOut(t)
	for _, f := range files {
		put(t, dir, f.name+".wasm", f.module)
	}
	attacks := attacks()
	for _, a := range attacks {
		put(t, dir, a.source()+"-1.0.0.wasm", a.module(t, w.url))
	}

	h := openHouse(t, map[string]string{"plugin-dir": dir, "plugin-lock": "off"})
	h.addFilms(100)
	for _, f := range files {
		if !h.logs(`"message":"plugin left out"`, f.name+".wasm", f.reason, "parley plugin ") {
			t.Errorf("no log line says that %s is left out since %q; there is %s", f.name, f.reason, around(h.log.String(), f.name))
		}
	}
	h.must("PATCH", "/chats/neighbour/settings", fmt.Sprintf(`{"source":"vLlm","baseUrl":%q,"apiKey":%q,"prompts":{"system":%q}}`, w.url, apiKey, marker))
	n := neighbour{h: h}
	n.ask(50)
	quiet := n.took
	n.took = nil

	// The neighbour asks on and on while the others do harm.
	stop := make(chan struct{})
	var asking sync.WaitGroup
	asking.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				n.ask(1)
			}
		}
	})
	w.on("/200", says(stream+delta("x")+finish))
	w.on("/500", says(answered(500, "", "boom")))
	w.on("/echo", func(x *exchange) {
		if !strings.Contains(x.body, "${apiKey}") || strings.Contains(x.body, apiKey) {
			t.Errorf("a body came with another text than the plugin's: %s", x.body)
		}
		x.say(stream + delta("x") + finish)
	})
	t.Run("attacks", func(t *testing.T) {
		for i := range attacks {
			t.Run(attacks[i].guest+"/"+attacks[i].where, func(t *testing.T) {
				t.Parallel()
				attacks[i].check(t, h, w.url)
			})
		}
	})
	close(stop)
	asking.Wait()
	t.Logf("the neighbour's answers: %d before the attacks, median %s, slowest %s; %d during them, median %s, slowest %s",
		len(quiet), middle(quiet), slices.Max(quiet), len(n.took), middle(n.took), slices.Max(n.took))
	n.ask(1)
	h.must("GET", "/health", "")
	h.checkFilms(100)
	h.checkSecret(apiKey, marker)
	if !t.Failed() {
		checkPage(t, files, attacks)
	}
}

// A neighbour has a workspace on a good plugin.
type neighbour struct {
	h    *house
	took []time.Duration
}

// ask asks n times and wants whole answers.
func (n *neighbour) ask(times int) {
	for range times {
		began := time.Now()
		r, got := n.h.ask("neighbour", "good")
		n.took = append(n.took, time.Since(began))
		if r.status != http.StatusOK || got["text"] != "fine" || got["finish_reason"] != "stop" {
			n.h.t.Errorf("the neighbour got no whole answer: %.300s", r.body)
			return
		}
	}
}

func middle(of []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(of))[len(of)/2].Round(10 * time.Microsecond)
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
	b, err := os.ReadFile(filepath.Join("..", "internal", room, "testdata", name+".wasm"))
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
