package template

import (
	"context"
	"time"
)

// The time on one [Budget] is bounded too, though steps bound it well before:
// were the clock what ends a rendering, a document's text, and with it its
// vector, would depend on how busy the machine is. A pause between two looks
// counts as a short one, since it may be the machine's.
const (
	maxTime   = time.Second
	maxPause  = 20 * time.Millisecond
	lookEvery = 1024 // steps
)

// A Budget is what one or several renderings may use together. Not safe for
// concurrent use.
type Budget struct {
	ctx    context.Context
	steps  int // that are left
	memory int // bytes that are left
	unseen int // steps since the last look
	left   time.Duration
	looked time.Time
}

// NewBudget returns a whole budget for renderings that end with ctx.
func NewBudget(ctx context.Context) *Budget {
	return &Budget{ctx: ctx, steps: MaxSteps, memory: MaxMemory, left: maxTime, looked: time.Now()}
}

// spend charges steps, before they are taken.
func (b *Budget) spend(steps int) {
	if b.steps -= steps; b.steps < 0 {
		b.steps = 0
		fail(errSteps)
	}
	if b.unseen += steps; b.unseen >= lookEvery {
		b.unseen = 0
		b.look()
	}
}

// look sees what the clock and the context say.
func (b *Budget) look() {
	if err := b.ctx.Err(); err != nil {
		fail(err)
	}
	now := time.Now()
	b.left -= min(now.Sub(b.looked), maxPause)
	b.looked = now
	if b.left < 0 {
		fail(errTime)
	}
}

// read charges the reading of a text.
func (b *Budget) read(bytes int) { b.spend(1 + bytes/64) }

// makeText charges a text that is about to be made.
func (b *Budget) makeText(bytes int) {
	if bytes > MaxText {
		fail(errText)
	}
	b.read(bytes)
	b.hold(bytes)
}

// makeArray returns an empty array with room for so many elements.
func (b *Budget) makeArray(elements int) []any {
	b.holdArray(elements)
	return make([]any, 0, elements)
}

// holdArray charges an array that is about to be made.
func (b *Budget) holdArray(elements int) {
	if elements > MaxLength {
		fail(errLength)
	}
	b.spend(1 + elements)
	b.hold(16 * elements)
}

// hold charges memory that is about to be taken.
func (b *Budget) hold(bytes int) {
	if b.memory -= bytes; b.memory < 0 {
		b.memory = 0
		fail(errMemory)
	}
}
