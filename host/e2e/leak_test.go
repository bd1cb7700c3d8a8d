package e2e

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/base/waittest"
)

// checkLeak fails the test where, after all cleanups that come later, more
// goroutines run than at its call. Call it first, in a test that runs apart.
func checkLeak(t *testing.T) {
	t.Helper()
	before := len(goroutines())
	t.Cleanup(func() {
		if !waittest.Until(func() bool { return len(goroutines()) <= before }) {
			all := goroutines()
			t.Errorf("%d goroutines at the end, %d at the start:\n%s", len(all), before, strings.Join(all, "\n\n"))
		}
	})
}

// Goroutines of libraries that live as long as the process: a clock, and those that
// pack answers once one was packed; and of a server the sweeper of its workers, which
// looks only every ten seconds whether it is still wanted.
var lingering = []string{"fasthttp.updateServerDate", "fasthttp/stackless.funcWorker", "fasthttp.(*workerPool).Start.func"}

// goroutines returns the stack of each, but of lingering ones, and of a server's
// workers that wait for their sweeper.
func goroutines() (stacks []string) {
	b := make([]byte, 4<<20)
	b = b[:runtime.Stack(b, true)]
	for s := range strings.SplitSeq(string(b), "\n\n") {
		_, top, _ := strings.Cut(s, "\n")
		lingers := slices.ContainsFunc(lingering, func(of string) bool { return strings.Contains(s, of) })
		if !lingers && !strings.HasPrefix(top, "github.com/valyala/fasthttp.(*workerPool).workerFunc(") {
			stacks = append(stacks, s)
		}
	}
	return stacks
}

// atWork returns those that do not only wait for a plugin's next call: each
// instance has one, and a pool starts instances as it likes.
func atWork() []string {
	return slices.DeleteFunc(goroutines(), func(s string) bool {
		return strings.Contains(s, "wasm.newLane.func") && strings.Contains(s, "[coroutine")
	})
}
