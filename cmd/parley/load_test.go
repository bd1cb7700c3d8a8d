package main

import (
	"fmt"
	"net/http"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/cmd/parley/bench"
)

// TestThousandStreams holds 1,000 streams open at once through the vLlm plugin
// against a slow provider: none fails, none loses a word, nothing is left.
func TestThousandStreams(t *testing.T) {
	if testing.Short() {
		t.Skip("opens 1,000 streams")
	}
	const streams, chunks = 1000, 20
	p := newProvider(t)
	base := demoHost(t, p.url)
	to := &bench.Target{URL: base + "/chat/completions", Client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: -1, DisableKeepAlives: true}}}
	load(t, to, "c5-d1", 20, 5) // warm: pools, instances
	before := settled(func() int { return runtime.NumGoroutine() }, 0)

	cpu, _ := bench.CPU(os.Getpid())
	load(t, to, fmt.Sprintf("c%d-d100", chunks), streams, chunks)
	after, _ := bench.CPU(os.Getpid())
	rss, _, _ := bench.RSS(os.Getpid())
	t.Logf("%d streams of %d chunks at once: %.1f µs CPU a chunk for host, provider and load together, RSS %d MiB",
		streams, chunks, float64((after-cpu).Microseconds())/float64(streams*chunks), rss>>20)

	// net/http and Fiber keep a few idle workers; streams must keep none.
	if left := settled(func() int { return runtime.NumGoroutine() }, before+50); left > before+50 {
		var b strings.Builder
		pprof.Lookup("goroutine").WriteTo(&b, 1)
		t.Errorf("%d goroutines after %d streams, want about the %d from before:\n%.3000s", left, streams, before, b.String())
	}
	if open := settled(func() int { return int(p.Open.Load()) }, 0); open != 0 {
		t.Errorf("%d provider requests still open", open)
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

// settled reads a count until it is at most want, or for a few seconds.
func settled(read func() int, want int) int {
	got := read()
	for range 300 {
		if got <= want {
			break
		}
		time.Sleep(100 * time.Millisecond)
		runtime.GC()
		n := read()
		if want == 0 && n == got && n > 0 { // a start value: steady is good
			break
		}
		got = n
	}
	return got
}
