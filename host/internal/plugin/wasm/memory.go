package wasm

import (
	"sync/atomic"

	"github.com/tetratelabs/wazero/experimental"
)

// A linear is the memory of one instance: a range of addresses reserved once,
// up to the limit, of which the guest gets what it grows into. So growing moves
// nothing, the host's collector never looks at it, and closing the instance
// gives it back to the system.
type linear struct {
	block []byte        // all of the range, reserved by whoever made this
	limit uint64        // how much of it the guest may have
	size  uint64        // how much it has
	total *atomic.Int64 // of the module
	// refused says that the guest asked for more than its limit. It is read to
	// explain the trap that mostly follows.
	refused bool
}

var _ experimental.MemoryAllocator = (*linear)(nil)

// Allocate implements [experimental.MemoryAllocator], for one memory.
func (l *linear) Allocate(_, most uint64) experimental.LinearMemory {
	l.limit = min(uint64(len(l.block)), most)
	return l
}

// Reallocate implements [experimental.LinearMemory]. It returns nil where the
// limit does not allow size bytes.
func (l *linear) Reallocate(size uint64) []byte {
	if size > l.limit {
		l.refused = true
		return nil
	}
	l.total.Add(int64(size) - int64(l.size))
	l.size = size
	return l.block[:size:l.limit]
}

// Free implements [experimental.LinearMemory]. It may be called again.
func (l *linear) Free() {
	if l.block == nil {
		return
	}
	release(l.block)
	l.total.Add(-int64(l.size))
	l.block, l.size = nil, 0
}
