package telemetry

import (
	"sync"

	"github.com/parley-search/parley/abi/event"
)

// wakeAt is how many events are worth a call of a collector.
const wakeAt = 64

// DefaultRingSize holds some 1,800 searches, or 6,000 chats, in bytes.
const DefaultRingSize = 512 << 10

// A Ring keeps events until the engine takes them. It is bounded and never
// waits: where it is full, events are dropped and counted. It is two buffers
// that take turns: one is written to while the other one is read, so that what
// was written need not be written again. Safe for concurrent use; a nil Ring
// takes nothing.
type Ring struct {
	wake chan struct{}

	mu      sync.Mutex
	records []byte
	count   int
	dropped uint64
}

// NewRing returns a ring of two times size bytes; 0 means [DefaultRingSize].
func NewRing(size int) *Ring {
	if size == 0 {
		size = DefaultRingSize
	}
	return &Ring{wake: make(chan struct{}, 1), records: make([]byte, 0, size)}
}

// Emit appends e to r.
func Emit[E event.Type](r *Ring, e *E) {
	if r == nil {
		return
	}
	r.mu.Lock()
	if len(r.records)+event.Size[E]() > cap(r.records) {
		r.dropped++
		r.mu.Unlock()
		return
	}
	r.records = event.Append(r.records, e)
	r.count++
	wake := r.count == wakeAt
	r.mu.Unlock()
	if wake {
		select {
		case r.wake <- struct{}{}:
		default:
		}
	}
}

// take returns what was emitted, and has spare written to from now on. spare
// must have the capacity of what is returned, or be nil the first time.
func (r *Ring) take(spare []byte) (records []byte, count int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	records, count = r.records, r.count
	if spare == nil {
		spare = make([]byte, 0, cap(records))
	}
	r.records, r.count = spare[:0], 0
	return records, count
}

// Dropped is how many events found no room.
func (r *Ring) Dropped() uint64 {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.dropped
}
