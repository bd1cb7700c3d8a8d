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

	"github.com/parley-search/parley/host/e2e/apart"
	"github.com/parley-search/parley/host/e2e/house"
)

// TestHostilePlugins puts every hostile module there is into a plugin directory
// beside a good one. The host starts; what cannot be loaded is left out, with a
// line that names the file and what is wrong; what can be loaded costs its own
// stream alone: a workspace on the good plugin answers all the while. What came
// of each attack is the table in containment.md.
func TestHostilePlugins(t *testing.T) {
	if apart.Run(t) {
		return
	}
	checkLeak(t)
	w := house.NewWire(t)
	dir := t.TempDir()
	put(t, dir, "vllm-1.0.0.wasm", house.Shipped(t, "vllm"))
	files := leftOut(t)
	for _, f := range files {
		put(t, dir, f.name+".wasm", f.module)
	}
	attacks := attacks()
	for _, a := range attacks {
		put(t, dir, a.source()+"-1.0.0.wasm", a.module(t, w.URL))
	}

	h := house.Open(t, map[string]string{"plugin-dir": dir, "plugin-lock": "off"})
	h.AddFilms(100)
	for _, f := range files {
		if !hasLine(h, `"message":"plugin left out"`, f.name+".wasm", f.reason, "parley plugin ") {
			t.Errorf("no log line says that %s is left out since %q; there is %s", f.name, f.reason, house.Around(h.Log.String(), f.name))
		}
	}
	h.Must("PATCH", "/chats/neighbour/settings", fmt.Sprintf(`{"source":"vLlm","baseUrl":%q,"apiKey":%q,"prompts":{"system":%q}}`, w.URL, apiKey, marker))
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
	w.On("/200", says(house.Stream+house.Delta("x")+house.Finished))
	w.On("/500", says(house.Answered(500, "", "boom")))
	w.On("/echo", func(x *house.Exchange) {
		if !strings.Contains(x.Body, "${apiKey}") || strings.Contains(x.Body, apiKey) {
			t.Errorf("a body came with another text than the plugin's: %s", x.Body)
		}
		x.Say(house.Stream + house.Delta("x") + house.Finish)
	})
	t.Run("attacks", func(t *testing.T) {
		for i := range attacks {
			t.Run(attacks[i].guest+"/"+attacks[i].where, func(t *testing.T) {
				t.Parallel()
				attacks[i].check(t, h, w.URL)
			})
		}
	})
	close(stop)
	asking.Wait()
	t.Logf("the neighbour's answers: %d before the attacks, median %s, slowest %s; %d during them, median %s, slowest %s",
		len(quiet), middle(quiet), slices.Max(quiet), len(n.took), middle(n.took), slices.Max(n.took))
	n.ask(1)
	h.Must("GET", "/health", "")
	h.CheckFilms(100)
	h.CheckSecret(apiKey, marker)
	if !t.Failed() {
		checkPage(t, files, attacks)
	}
}

// A neighbour has a workspace on a good plugin.
type neighbour struct {
	h    *house.House
	took []time.Duration
}

// ask asks n times and wants whole answers.
func (n *neighbour) ask(times int) {
	for range times {
		began := time.Now()
		r, got := n.h.Ask("neighbour", "good")
		n.took = append(n.took, time.Since(began))
		if r.Status != http.StatusOK || got["text"] != "fine" || got["finish_reason"] != "stop" {
			n.h.T.Errorf("the neighbour got no whole answer: %.300s", r.Body)
			return
		}
	}
}

func middle(of []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(of))[len(of)/2].Round(10 * time.Microsecond)
}

// hasLine reports whether a line of the log holds all of parts.
func hasLine(h *house.House, parts ...string) bool {
	for line := range strings.Lines(h.Log.String()) {
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
