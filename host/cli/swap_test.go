package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/cmd/parley/bench"
	"github.com/parley-search/parley/host/internal/plugin"
)

// swapsVariable says how often TestHammerSwaps swaps, 4 times otherwise and 12
// with LONG=1: the long form, which also judges memory and latency, is 1000.
const swapsVariable = "SWAPS"

// TestHammerSwaps swaps two versions of a provider again and again under 50
// streams of two rounds each. No stream fails, loses a word, or sees more than
// the version that it began with. Host, and provider with clients, are a process
// each.
func TestHammerSwaps(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds a plugin and runs the program")
	}
	swaps, long := 4, false
	if os.Getenv(longVariable) != "" {
		swaps = 12
	}
	if v := os.Getenv(swapsVariable); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil {
			t.Fatalf("%s is %q: want a number", swapsVariable, v)
		}
		swaps, long = n, true
	}
	dir := t.TempDir()
	versions := twoVersions(t, filepath.Join("testdata", "versioned"))
	program, base := serveUnlocked(t, t.TempDir(), dir)
	use := func(n int) reloaded {
		t.Helper()
		return swapPlugin(t, base, filepath.Join(dir, "versioned.wasm"), versions[n%2])
	}
	words := httptest.NewServer(http.HandlerFunc(sendWords))
	defer words.Close()
	use(0)
	_, summary := send(t, http.MethodPost, base+"/indexes/notes/documents", `[{"id":1,"text":"a note"}]`)
	waitForTask(t, base, []byte(summary))
	change(t, base+"/chats/swap/settings", fmt.Sprintf(`{"source":"versioned","baseUrl":%q}`, words.URL))

	clients := newSwapClients(base)
	use(1)
	use(0) // both are compiled
	clients.run(50)
	clients.wait(t, 100)

	// Each swap has a window without one before it, of the same length, so that
	// what else the machine does meets both alike.
	var quiet, busy []time.Duration
	var memory []int64
	var length time.Duration
	for n := range swaps {
		clients.latencies()
		time.Sleep(max(length, 50*time.Millisecond))
		quiet = append(quiet, clients.latencies()...)
		began := time.Now()
		// The watcher may have been first: then the route finds nothing to do.
		if r := use(n + 1); (len(r.Loaded) != 1 || len(r.Retired) != 1) && r.Unchanged != 1 {
			t.Errorf("swap %d: %+v", n, r)
		}
		length = time.Since(began)
		busy = append(busy, clients.latencies()...)
		if n%10 == 9 {
			memory = append(memory, rss(t, program.Process.Pid))
		}
	}
	clients.stop(t)
	swapped := metric(t, base, `parley_plugin_swaps_total{plugin="versioned"}`)

	p := func(of []time.Duration, part float64) time.Duration {
		if len(of) == 0 {
			return 0
		}
		slices.Sort(of)
		return of[int(part*float64(len(of)-1))].Round(10 * time.Microsecond)
	}
	t.Logf("%d swaps under 50 streams, %d streams in all: %d saw version A, %d version B, 0 failed or were wrong", swaps, clients.count(), clients.saw[0].Load(), clients.saw[1].Load())
	t.Logf("a word from provider to client, between swaps: p50 %s, p99 %s; while a swap is under way: p50 %s, p99 %s", p(quiet, 0.5), p(quiet, 0.99), p(busy, 0.5), p(busy, 0.99))
	if clients.saw[0].Load() == 0 || clients.saw[1].Load() == 0 {
		t.Error("the streams did not see both versions")
	}
	if want := float64(swaps + 2); swapped != want {
		t.Errorf("%g swaps counted, want %g", swapped, want)
	}
	if !long {
		return
	}
	q := len(memory) / 4
	early, late := mean(memory[q:2*q]), mean(memory[3*q:])
	t.Logf("RSS of the host: %d MiB in the second quarter, %d MiB in the last (%+.1f %%)", early>>20, late>>20, 100*float64(late-early)/float64(early))
	if late > early*105/100 {
		t.Errorf("RSS grew by more than 5 %%: %d, then %d bytes", early, late)
	}
	if a, b := p(quiet, 0.99), p(busy, 0.99); b > 2*a {
		t.Errorf("p99 of a word %s during swaps, more than twice the %s without", b, a)
	}
}

// metric reads one sample of GET /metrics.
func metric(t *testing.T, base, name string) float64 {
	t.Helper()
	if status, body := send(t, http.MethodPatch, base+"/experimental-features", `{"metrics":true}`); status != http.StatusOK {
		t.Fatalf("switch metrics on: status %d, %s", status, body)
	}
	status, body := send(t, http.MethodGet, base+"/metrics", "")
	for line := range strings.Lines(body) {
		if v, ok := strings.CutPrefix(line, name+" "); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("GET /metrics: status %d, no %s", status, name)
	return 0
}

func mean(of []int64) (sum int64) {
	for _, v := range of {
		sum += v
	}
	return sum / int64(max(len(of), 1))
}

type reloaded struct {
	Loaded, Retired, Refused []struct{ Version string }
	Unchanged                int
}

// swapPlugin has the host at base use module, as the plugin that file holds.
func swapPlugin(t *testing.T, base, file string, module []byte) (r reloaded) {
	t.Helper()
	if err := os.WriteFile(file+".part", module, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".part", file); err != nil {
		t.Fatal(err)
	}
	status, body := send(t, http.MethodPost, base+"/plugins/reload", "")
	if err := json.Unmarshal([]byte(body), &r); err != nil || status != http.StatusOK || len(r.Refused) > 0 {
		t.Fatalf("POST /plugins/reload: %d %s", status, body)
	}
	return r
}

// twoVersions builds the plugin in dir, which is version 1.0.0, and makes a
// version 1.1.0 of it. Where it says version-A, that says version-B.
func twoVersions(t *testing.T, dir string) [2][]byte {
	t.Helper()
	a, err := os.ReadFile(built(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	b := bytes.ReplaceAll(a, []byte("version-A"), []byte("version-B"))
	if b, err = plugin.Pack(b, bytes.Replace(manifest, []byte(`"1.0.0"`), []byte(`"1.1.0"`), 1)); err != nil {
		t.Fatal(err)
	}
	return [2][]byte{a, b}
}

// sendWords answers as the provider does: ten words, 10 ms apart, each with its
// number and the time at which it is sent; then the ask for a search, or the
// end.
func sendWords(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	w.Header().Set("content-type", "text/event-stream")
	for n := range 10 {
		fmt.Fprintf(w, "data: %d %d\n\n", n, time.Now().UnixNano())
		w.(http.Flusher).Flush()
		time.Sleep(10 * time.Millisecond)
	}
	last := "end"
	if strings.HasSuffix(r.URL.Path, "/search") {
		last = "search"
	}
	fmt.Fprintf(w, "data: %s\n\n", last)
}

// rss is the resident memory of a process in bytes.
func rss(t *testing.T, pid int) int64 {
	t.Helper()
	now, _, ok := bench.RSS(pid)
	if !ok {
		t.Skip("no /proc here: the memory of a process cannot be read")
	}
	return now
}
