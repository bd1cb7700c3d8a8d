package bleveindex

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// A heapBound holds the memory of the process, while indexes are written, to
// what it was before and [Options.IndexingMemory]: the collector works harder
// the nearer it comes. Without it as much garbage as there is data, and that
// twice, would be left lying about. Safe for concurrent use; all writers share
// one bound.
//
// It bounds what Go has allocated. Files that bleve and Badger have mapped
// count in a process's RSS as well; those pages are the kernel's to take back.
type heapBound struct {
	bytes int64 // what writing may take

	mu      sync.Mutex
	writers int
	outside int64 // the runtime's limit while nobody writes
	before  int64 // memory when the first of the writers came
	limit   int64 // in force
}

// leastRoom is what the collector is left with beyond the data that is alive,
// whatever the bound: less, and it would do nothing else than collect.
const leastRoom = 32 << 20

func newHeapBound(bytes int64) *heapBound {
	return &heapBound{bytes: bytes}
}

// enter begins to write a lot; call leave at its end.
func (h *heapBound) enter() (leave func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.writers++; h.writers == 1 {
		runtime.GC() // else older garbage would count as memory of the host
		h.before = ReadMemory().Used()
		h.outside = debug.SetMemoryLimit(-1)
		h.limit = h.outside
		h.set(h.before + max(h.bytes, leastRoom))
	}
	return h.leave
}

func (h *heapBound) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.writers--; h.writers == 0 {
		h.set(h.outside)
		debug.FreeOSMemory()
	}
}

// steer is called now and then by who has entered. What others keep meanwhile,
// such as columns for searches, moves the bound: it must not starve them.
func (h *heapBound) steer() {
	m := ReadMemory()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.writers > 0 {
		h.set(max(h.before+h.bytes, m.Used()-m.objects+m.live+max(h.bytes/4, leastRoom)))
	}
}

// set puts a limit in force. Call it with h.mu held: it stops the world, if only
// for a moment, and so is not done for nothing.
func (h *heapBound) set(limit int64) {
	if limit = min(limit, h.outside); limit != h.limit {
		h.limit = limit
		debug.SetMemoryLimit(limit)
	}
}

// A memory is what Go has from the system, in bytes.
type memory struct {
	total, released, free int64
	objects               int64 // garbage included
	live                  int64 // objects that the last collection left
}

// Used is without what the system could have back.
func (m memory) Used() int64 { return m.total - m.released - m.free }

func ReadMemory() memory {
	s := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/gc/heap/live:bytes"},
	}
	metrics.Read(s)
	n := func(i int) int64 { return int64(s[i].Value.Uint64()) }
	return memory{n(0), n(1), n(2), n(3), n(4)}
}
