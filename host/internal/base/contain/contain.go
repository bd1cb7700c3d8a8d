// Package contain keeps a panic of one piece of work from ending the process: it becomes an
// error of who waits for the work. A goroutine that works on an index, a plugin, a task or
// the log of a cluster is started so that one of these functions is on its stack.
package contain

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// A Panic is the error of work that panicked.
type Panic struct {
	value any
	stack []byte
}

// Error says what panicked and where. Of a value that is not of Go's runtime, only the
// type: its text may quote what a client sent.
func (p *Panic) Error() string {
	if e, ok := p.value.(runtime.Error); ok {
		return fmt.Sprintf("panic: %v\n%s", e, p.stack)
	}
	return fmt.Sprintf("panic: %T\n%s", p.value, p.stack)
}

// Is reports whether err is, or wraps, a [Panic].
func Is(err error) bool {
	_, ok := errors.AsType[*Panic](err)
	return ok
}

// caught is the error of a panic with v.
func caught(v any) *Panic {
	if p, ok := v.(*Panic); ok { // of a [Group], whose stack says more
		return p
	}
	return &Panic{v, debug.Stack()}
}

// Call calls f. A panic of f is a [Panic].
func Call(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = caught(v)
		}
	}()
	return f()
}

// Keep calls f until it returns or ctx ends. After a panic it tells failed, rests, and calls
// f again.
func Keep(ctx context.Context, f func(context.Context), failed func(error)) {
	for pause := time.Second; ; pause = min(2*pause, time.Minute) {
		err := Call(func() error { f(ctx); return nil })
		if err == nil {
			return
		}
		failed(err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// Background runs f, as [Keep] does, until what it returns is called.
func Background(f func(context.Context), failed func(error)) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		Keep(ctx, f, failed)
	}()
	return func() error {
		cancel()
		<-done
		return nil
	}
}

// A Group runs functions side by side. A panic of one of them goes on in Wait, and so where
// it can be contained. The zero value is ready.
type Group struct {
	running sync.WaitGroup
	mu      sync.Mutex
	first   *Panic
}

// Go runs f in a goroutine.
func (g *Group) Go(f func()) {
	g.running.Go(func() {
		defer func() {
			if v := recover(); v != nil {
				g.mu.Lock()
				defer g.mu.Unlock()
				if g.first == nil {
					g.first = caught(v)
				}
			}
		}()
		f()
	})
}

// Wait waits for all functions.
func (g *Group) Wait() {
	g.running.Wait()
	if g.first != nil {
		panic(g.first)
	}
}
