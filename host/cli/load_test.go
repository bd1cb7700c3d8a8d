package cli

import (
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/parley-search/parley/cmd/parley/bench"
)

// TestThousandStreams holds 1,000 streams open at once through the vLlm plugin
// against a slow provider: none fails, none loses a word, nothing is left.
func TestThousandStreams(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("opens 1,000 streams")
	}
	const streams = 1000
	chunks, pause := 5, 400
	if os.Getenv(longVariable) != "" {
		chunks, pause = 20, 100 // more words at a time
	}
	p := newProvider(t)
	base := demoHost(t, p.url)
	to := &bench.Target{URL: base + "/chat/completions", Client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: -1, DisableKeepAlives: true}}}
	load(t, to, "c5-d1", 20, 5) // warm: pools, instances
	before := len(hostGoroutines())

	cpu, _ := bench.CPU(os.Getpid())
	load(t, to, fmt.Sprintf("c%d-d%d", chunks, pause), streams, chunks)
	after, _ := bench.CPU(os.Getpid())
	rss, _, _ := bench.RSS(os.Getpid())
	t.Logf("%d streams of %d chunks at once: %.1f µs CPU a chunk for host, provider and load together, RSS %d MiB",
		streams, chunks, float64((after-cpu).Microseconds())/float64(streams*chunks), rss>>20)

	// An instance of a plugin may end up with a goroutine more: its own.
	if !comesTrue(func() bool { return len(hostGoroutines()) <= before+10 }) {
		left := hostGoroutines()
		t.Errorf("%d goroutines of the host after %d streams, %d before:\n%.3000s", len(left), streams, before, strings.Join(left, "\n\n"))
	}
	if !comesTrue(func() bool { return p.Open.Load() == 0 }) {
		t.Errorf("%d provider requests still open", p.Open.Load())
	}
}

// load runs n streams at once and checks each to its last word.
func load(t testing.TB, to *bench.Target, model string, n, chunks int) {
	t.Helper()
	errs := to.Streams(t.Context(), model, n, chunks)
	for _, err := range errs[:min(len(errs), 5)] {
		t.Error(err)
	}
	if len(errs) > 5 {
		t.Errorf("and %d more of %d streams failed", len(errs)-5, n)
	}
}

// hostGoroutines are the stacks of goroutines in code of the host. Those of
// libraries that keep a connection or a worker for the next request are not
// among them, and neither are instances of plugins that wait for a call.
func hostGoroutines() (stacks []string) {
	b := make([]byte, 8<<20)
	b = b[:runtime.Stack(b, true)]
	for s := range strings.SplitSeq(string(b), "\n\n") {
		if strings.Contains(s, modulePath+"/host/") && !(strings.Contains(s, "wasm.newLane.func") && strings.Contains(s, "[coroutine")) {
			stacks = append(stacks, s)
		}
	}
	return stacks
}
