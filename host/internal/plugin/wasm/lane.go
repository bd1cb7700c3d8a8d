package wasm

import (
	"context"
	"iter"

	"github.com/tetratelabs/wazero/api"
)

// A lane is the goroutine that all calls of one instance run on, while whoever
// makes one stands by: wazero needs more than half of a stack of 4 KiB, and of ten
// thousand streams, each with a goroutine, only a few are in a guest at any time.
// Going over to it and back is a switch between two stacks, which asks no
// scheduler.
type lane struct {
	call    laneCall
	resume  func() (struct{}, bool)
	discard func()
}

// A laneCall is what the lane does next, and what came of it.
type laneCall struct {
	function api.Function
	ctx      context.Context
	stack    []uint64
	err      error
}

// make makes the call.
func (c *laneCall) make() {
	defer contain(&c.err)
	c.err = c.function.CallWithStack(c.ctx, c.stack)
}

func newLane() *lane {
	l := &lane{}
	l.resume, l.discard = iter.Pull(func(yield func(struct{}) bool) {
		for yield(struct{}{}) {
			l.call.make()
		}
	})
	l.resume() // to where it waits for its first call
	return l
}

// run is f.CallWithStack(ctx, stack).
func (l *lane) run(ctx context.Context, f api.Function, stack []uint64) error {
	l.call = laneCall{function: f, ctx: ctx, stack: stack}
	l.resume()
	err := l.call.err
	l.call = laneCall{}
	return err
}

// close ends the goroutine.
func (l *lane) close() { l.discard() }
