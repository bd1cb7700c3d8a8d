package wasm

import (
	"context"
	"runtime"
	"time"

	"github.com/parley-search/parley/host/internal/plugin/wasm/meter"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// fuelSlice is how much fuel a guest gets at once. A unit lasts 0.1 to 1 ns in
// most code and about 6 in the worst that we know (BenchmarkWeights), so a guest
// runs for less than 2 ms between two looks at the clock. A call begins with
// firstSlice, which is enough for all of a common one and lasts 6 ms at most.
const (
	fuelSlice  = 1 << 18
	firstSlice = 1 << 20
)

// longestTurn is the most that a call's clock goes on between two looks at it: twice
// what a guest may take to come back. Where more time has gone by, the machine had
// others do, and a good call must not end for that.
const longestTurn = 4 * time.Millisecond

// maxDepth is how much stack the open calls of a guest may take, in bytes as the
// meter estimates them: what a thread of a native program has by default, and
// enough for encoding/json in a Go guest down to the level where it gives up by
// itself. wazero would let it grow to 80 MiB, by a copy each time that it doubles.
const maxDepth = 8 << 20

// Metered ends a call by having the guest count what it does: modules are
// rewritten, see package meter, to come back to the host each time they have
// spent some fuel. Modules that the meter refuses are left to [ContextDone].
func Metered() Limiter { return metered{} }

type metered struct{}

func (metered) String() string { return "metered" }

func (metered) configure(c wazero.RuntimeConfig) wazero.RuntimeConfig { return c }

func (metered) rewrite(bin []byte) ([]byte, meter.State, error) { return meter.Rewrite(bin) }

func (metered) guard(l Limits) guard { return &meterGuard{budget: l.Fuel} }

func (metered) fallback() Limiter { return ContextDone() }

// A meterGuard counts what one instance spends, and ends calls that spend too
// much of it or of time.
type meterGuard struct {
	budget      int64 // of one call; 0 means that only the clock bounds it
	fuel, depth api.MutableGlobal
	// drawn less what is left in the guest's global is what the instance has
	// spent since its start; began is that at the begin of the call.
	drawn, began int64

	timeout time.Duration
	took    time.Duration // of the call, see longestTurn
	looked  time.Time     // at the clock; zero until the call first does
}

// attach tells the guard of its instance, once that is made. Until then the
// guest's global holds nothing that the guard has not given it.
func (g *meterGuard) attach(m api.Module) {
	g.fuel, _ = m.ExportedGlobal(meter.Fuel).(api.MutableGlobal)
	g.depth, _ = m.ExportedGlobal(meter.Depth).(api.MutableGlobal)
}

// begin leaves the clock alone: a short call ends before it matters, and a long
// one is late by one slice at most if it is read only then.
func (g *meterGuard) begin(base context.Context, timeout time.Duration) context.Context {
	g.timeout, g.took, g.looked = timeout, 0, time.Time{}
	if g.fuel == nil {
		return base
	}
	left := int64(int32(g.fuel.Get()))
	g.began = g.drawn - left
	// A call begins with a whole slice, so that it may spend the same each time
	// it is made.
	slice := g.slice(0)
	g.drawn += slice - left
	g.fuel.Set(uint64(slice))
	g.depth.Set(0)
	return base
}

func (g *meterGuard) end() (fuel int64) {
	if g.fuel == nil {
		return g.drawn
	}
	return g.drawn - int64(int32(g.fuel.Get())) - g.began
}

// slice is what a call that has spent so much gets next.
func (g *meterGuard) slice(spent int64) int64 {
	slice := int64(fuelSlice)
	if spent == 0 {
		slice = firstSlice
	}
	if g.budget > 0 {
		return min(slice, g.budget-spent)
	}
	return slice
}

// check ends the call by a panic, which wazero turns into its error, once its
// time is up.
func (g *meterGuard) check() {
	now := time.Now()
	if !g.looked.IsZero() {
		g.took += min(now.Sub(g.looked), longestTurn)
	}
	g.looked = now
	if g.took > g.timeout {
		panic(stopError{FaultDeadline})
	}
}

// yield answers the guest, which has left less than nothing and whose calls nest
// so many bytes deep, with what it has from now on.
func (g *meterGuard) yield(left int32, depth uint32) int32 {
	if !g.looked.IsZero() {
		// A call that has spent more than a slice is no common one: whoever waits
		// for the processor goes first. The scheduler would leave it where it is
		// for 10 ms, and several of them would hold up everybody else.
		runtime.Gosched()
	}
	g.check()
	if depth > maxDepth {
		panic(stopError{FaultStack})
	}
	spent := g.drawn - int64(left) - g.began
	if g.budget > 0 && spent >= g.budget {
		panic(stopError{FaultFuel})
	}
	slice := g.slice(spent)
	g.drawn += slice - int64(left)
	return int32(slice)
}

// A stopError is how a guest is ended that has used up what its call may.
type stopError struct{ kind FaultKind }

func (e stopError) Error() string { return "the call is over its " + e.kind.String() }

// addYield makes known to r what metered modules import. No guest can import
// it by itself: [Shape.Check] looks at modules before they are rewritten.
func addYield(ctx context.Context, r wazero.Runtime) error {
	i32 := api.ValueTypeI32
	_, err := r.NewHostModuleBuilder(meter.Module).NewFunctionBuilder().
		WithGoFunction(api.GoFunc(func(ctx context.Context, stack []uint64) {
			if g, ok := instanceOf(ctx).guard.(*meterGuard); ok {
				stack[0] = uint64(uint32(g.yield(int32(stack[0]), uint32(stack[1]))))
			}
		}), []api.ValueType{i32, i32}, []api.ValueType{i32}).Export(meter.Yield).Instantiate(ctx)
	return err
}
