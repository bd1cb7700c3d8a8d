package wasm

import (
	"context"
	"sync"
	"time"

	"github.com/tetratelabs/wazero/api"
)

// Bounds of what a guest may say.
const (
	maxOutput     = 4 << 10  // of stdout and stderr, a call
	maxLine       = 1 << 10  // of one log line
	maxLogMinute  = 64 << 10 // of all log lines of a module, a minute
	lineOverheads = 64       // what an empty line counts
)

// A transcript keeps the beginning of what a guest writes during one call.
type transcript struct{ b []byte }

func (t *transcript) write(b []byte) {
	t.b = append(t.b, b[:min(len(b), maxOutput-len(t.b))]...)
}

func (t *transcript) reset() { t.b = t.b[:0] }

func (t *transcript) text() string { return clip(string(t.b), maxOutput) }

// A logBudget bounds what a module logs.
type logBudget struct {
	mu    sync.Mutex
	since time.Time
	spent int
}

// spend reports whether n more bytes may be logged; over says that this is the
// first time in this minute that they may not.
func (b *logBudget) spend(n int) (ok, over bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now := time.Now(); now.Sub(b.since) > time.Minute {
		b.since, b.spent = now, 0
	}
	before := b.spent
	b.spent = min(before+n+lineOverheads, maxLogMinute+1)
	return b.spent <= maxLogMinute, b.spent > maxLogMinute && before <= maxLogMinute
}

// guestLog answers parley.log(level, ptr, len).
func guestLog(i *instance, memory api.Memory, stack []uint64) {
	m := i.module
	if m.runtime.log == nil {
		return
	}
	line := LogLine{Module: m.name, Context: context.Background()}
	if i.ctx != nil {
		line.Context = i.ctx
	}
	if i.client != nil {
		line.Workspace = i.client.Workspace
	}
	level, size := int(min(uint32(stack[0]), 3)), uint32(stack[2])
	ok, over := m.logs.spend(int(min(size, maxLine)))
	switch {
	case over:
		line.Level, line.Text = 2, "it logs too much; the rest of this minute is dropped"
		m.runtime.log(line)
	case !ok:
		m.dropped.Add(1)
	default:
		text, ok := memory.Read(uint32(stack[1]), min(size, maxLine))
		if !ok {
			text = []byte("(a log line outside the guest's memory)")
		}
		line.Level, line.Text = level, clip(string(text), maxLine)
		m.runtime.log(line)
	}
}
