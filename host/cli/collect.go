package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// A heap may grow by half before it is collected, and a large one by the headroom,
// as long as that is enough to work with: at least by 10 %.
const (
	growth      = 50       // percent
	leastGrowth = 10       // percent
	headroom    = 24 << 20 // bytes
)

// collectEarly has the heap collected before it has doubled, as Go lets it, unless
// the operator set GOGC. Most of a small host's heap are buffers of streams and of
// the database: large, without pointers, and so nearly free to collect. A large
// heap is one of many open streams, which allocate next to nothing.
func collectEarly() {
	if os.Getenv("GOGC") == "" {
		paceHeap()
	}
}

// paceHeap says how far the heap may grow from what the last collection left, now and
// after each collection to come.
func paceHeap() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetGCPercent(growthOf(live[0].Value.Uint64()))
	// It goes with the next collection.
	runtime.AddCleanup(new([64]byte), func(struct{}) { paceHeap() }, struct{}{})
}

// growthOf is by how many percent a heap may grow of which so many bytes live.
func growthOf(live uint64) int {
	return int(min(growth, max(leastGrowth, headroom*100/max(live, 1))))
}
