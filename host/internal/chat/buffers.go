package chat

import "sync"

// buffers are what an answer works with from one read of the provider's stream
// to the next. While it waits it has none: of ten thousand answers a few are at
// work at any time.
type buffers struct {
	in, out []byte // of a decode call
	records []byte // of events that needed none, and then of the call behind them
}

// maxSpare is how large a buffer is kept for another answer.
const maxSpare = 64 << 10

// spareBuffers keeps buffers for answers to come. Its zero value is ready.
type spareBuffers struct{ pool sync.Pool }

func (s *spareBuffers) take() *buffers {
	if b, ok := s.pool.Get().(*buffers); ok {
		return b
	}
	return &buffers{}
}

func (s *spareBuffers) put(b *buffers) {
	if max(cap(b.in), cap(b.out), cap(b.records)) <= maxSpare {
		s.pool.Put(b)
	}
}

// takeBuffers takes buffers for a if it has none.
func (a *Answer) takeBuffers() *buffers {
	if a.buffers == nil {
		a.buffers = a.spare.take()
	}
	return a.buffers
}

// returnBuffers gives them back. Nothing in them is of use any more.
func (a *Answer) returnBuffers() {
	if a.buffers == nil {
		return
	}
	a.spare.put(a.buffers)
	a.buffers = nil
}
