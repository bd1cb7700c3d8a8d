package wasm

import (
	"context"
	"time"

	"github.com/parley-search/parley/host/internal/plugin/wasm/meter"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// A Limiter sees to it that every call ends. It is chosen once for a
// [Runtime], since it may change both how modules are compiled and the modules
// themselves. See [Metered], [ContextDone] and [Unlimited].
type Limiter interface {
	// String names the limiter, for logs and status.
	String() string
	// configure sets what the limiter needs in how wazero compiles.
	configure(c wazero.RuntimeConfig) wazero.RuntimeConfig
	// rewrite returns the module to compile in place of bin, which it leaves as
	// it is, and what its instances keep. An error is why it cannot.
	rewrite(bin []byte) ([]byte, meter.State, error)
	// fallback returns the limiter of modules that rewrite refuses; nil where
	// it refuses none.
	fallback() Limiter
	// guard returns what bounds the calls of one new instance.
	guard(l Limits) guard
}

// A guard bounds the calls of one instance, one call at a time.
type guard interface {
	// begin returns the context to make a call with, derived from base, such
	// that the call ends by an error after timeout at the latest.
	begin(base context.Context, timeout time.Duration) context.Context
	// attach gives the guard its instance as soon as it is made: after begin of
	// the call that starts it, and before that call's end.
	attach(m api.Module)
	// check ends the call, by a panic, if it is over its time. Host functions
	// ask, for they may take long.
	check()
	// end lets go of what begin took, once the call has returned, and returns
	// the fuel that it spent, 0 where that is not counted.
	end() (fuel int64)
}

// unmetered is what is known of a module that was not rewritten.
var unmetered = meter.State{Other: "globals: it is not metered"}

// ContextDone ends a call by wazero's own means: compiled code looks at every
// turn of a loop whether its context is done. Guests run several times slower
// for it.
func ContextDone() Limiter { return contextDone{} }

type contextDone struct{}

func (contextDone) String() string { return "context-done" }

func (contextDone) configure(c wazero.RuntimeConfig) wazero.RuntimeConfig {
	return c.WithCloseOnContextDone(true)
}

func (contextDone) rewrite(bin []byte) ([]byte, meter.State, error) { return bin, unmetered, nil }

func (contextDone) fallback() Limiter { return nil }

func (contextDone) guard(Limits) guard { return &contextGuard{} }

type contextGuard struct{ cancel context.CancelFunc }

func (g *contextGuard) begin(base context.Context, timeout time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(base, timeout)
	g.cancel = cancel
	return ctx
}

func (g *contextGuard) attach(api.Module) {}

func (g *contextGuard) check() {}

func (g *contextGuard) end() int64 {
	g.cancel()
	return 0
}

// Unlimited ends nothing: a guest that loops stalls the whole host at its next
// garbage collection. It is for tests and for measuring.
func Unlimited() Limiter { return unlimited{} }

type unlimited struct{}

func (unlimited) String() string { return "none" }

func (unlimited) configure(c wazero.RuntimeConfig) wazero.RuntimeConfig { return c }

func (unlimited) rewrite(bin []byte) ([]byte, meter.State, error) { return bin, unmetered, nil }

func (unlimited) fallback() Limiter { return nil }

func (unlimited) guard(Limits) guard { return unlimited{} }

func (unlimited) begin(base context.Context, _ time.Duration) context.Context { return base }

func (unlimited) attach(api.Module) {}

func (unlimited) check() {}

func (unlimited) end() int64 { return 0 }
