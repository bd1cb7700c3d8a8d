package wasm

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/tetratelabs/wazero/api"
)

// An instance is one module with its memory. Whoever holds it, holds it alone:
// the pool gives it to one call at a time, and nobody else may call or close
// it.
type instance struct {
	module  *Module
	api     api.Module
	memory  api.Memory
	linear  *linear
	guard   guard
	base    context.Context // leads host functions back to the instance
	started time.Time

	input    api.Function
	region   uint32 // where input goes
	capacity uint32 // how much of it fits
	globals  []api.MutableGlobal
	funcs    []api.Function
	stack    [1]uint64
	lane     *lane

	timeout time.Duration   // of the call under way
	ctx     context.Context // of the call under way, for its log lines; nil: none
	client  *Client         // whose input it has; nil: nobody
	calls   int
	output  transcript

	tag       Tag       // of the last call
	used      bool      // called since it began or was reset
	lastUse   uint64    // pool.uses when it was last lent
	snapshot  *snapshot // what it began as or was frozen to; nil: it cannot be reset
	own       ownPages
	idle      []uint8 // for each page, how many resets in a row found it own and as it should be
	unchanged int     // own pages that were found so again and again, see maxUnchanged
}

type instanceKey struct{}

// instanceOf returns the instance that ctx leads back to.
func instanceOf(ctx context.Context) *instance {
	return ctx.Value(instanceKey{}).(*instance)
}

// close lets go of the instance.
func (i *instance) close() {
	i.lane.close()
	_ = i.api.Close(context.Background()) // there is no file that could fail to close
	// wazero leaves the memory to us where a deadline had closed the instance
	// while it was trapping.
	i.linear.Free()
	i.module.instances.Add(-1)
}

// worn reports whether the instance should be replaced: it cannot give memory
// back, and nobody knows what else it gathers.
func (i *instance) worn() bool {
	return i.calls >= i.module.limits.Calls || uint64(i.memory.Size()) > i.module.limits.Memory/4*3 || i.api.IsClosed()
}

// grown reports whether the instance has more memory than it began with, or
// cannot be brought back to that.
func (i *instance) grown() bool {
	return i.snapshot == nil || int(i.memory.Size()) != len(i.snapshot.memory)
}

// begin readies the instance for a call.
func (i *instance) begin() context.Context {
	i.timeout = i.module.limits.CallTimeout
	i.calls++
	i.output.reset()
	i.linear.refused = false
	return i.guard.begin(i.base, i.timeout)
}

// finish counts what the call took and returns its fuel.
func (i *instance) finish() int64 {
	fuel := i.guard.end()
	if fuel > 0 {
		i.module.fuel.Add(fuel)
	}
	return fuel
}

// settle is finish for a call that is like all others of its module, as a
// start is not.
func (i *instance) settle() {
	if fuel := i.finish(); fuel > 0 {
		i.module.perCall.add(fuel)
	}
}

func (i *instance) function(n int) api.Function {
	if i.funcs[n] == nil {
		// Kept, since wazero makes a stack of 10 KiB each time it is asked.
		i.funcs[n] = i.api.ExportedFunction(i.module.callable[n].Name)
	}
	return i.funcs[n]
}

// call passes in to the nth callable export and appends its answer to dst. An
// error is a [*Fault], after which the instance is of no use, or a
// [*GuestError].
func (i *instance) call(n int, in, dst []byte) ([]byte, error) {
	ctx := i.begin()
	defer i.settle()
	if err := i.write(ctx, in); err != nil {
		return dst, err
	}
	f, export := i.function(n), i.module.callable[n].Name
	i.stack[0] = uint64(len(in))
	if err := i.lane.run(ctx, f, i.stack[:]); err != nil {
		return dst, i.fault(export, err)
	}
	return i.read(export, abi.Span(i.stack[0]), dst)
}

// number calls the nth callable export, which takes nothing.
func (i *instance) number(n int) (uint32, error) {
	ctx := i.begin()
	defer i.finish()
	if err := i.lane.run(ctx, i.function(n), i.stack[:]); err != nil {
		return 0, i.fault(i.module.callable[n].Name, err)
	}
	return uint32(i.stack[0]), nil
}

// write puts in where the guest wants it. It asks where that is only for more
// than ever before, as the ABI allows.
func (i *instance) write(ctx context.Context, in []byte) error {
	if len(in) == 0 {
		return nil
	}
	if len(in) > int(i.capacity) {
		if err := i.widen(ctx, regionSize(len(in))); err != nil {
			return err
		}
	}
	i.memory.Write(i.region, in) // within memory, which never shrinks
	return nil
}

// widen has the guest give an input region of size bytes. An error is a [*Fault].
func (i *instance) widen(ctx context.Context, size uint32) error {
	at, err := i.inputRegion(ctx, size)
	if err == nil {
		i.region, i.capacity = at, size
	}
	return err
}

// inputRegion returns the address of an input region of size bytes. An error
// is a [*Fault].
func (i *instance) inputRegion(ctx context.Context, size uint32) (address uint32, err error) {
	i.stack[0] = uint64(size)
	if err := i.lane.run(ctx, i.input, i.stack[:]); err != nil {
		return 0, i.fault(abi.FuncInput, err)
	}
	at := uint32(i.stack[0])
	if at == 0 {
		return 0, i.faultf(FaultInput, abi.FuncInput, "it gave no region for %d bytes", size)
	}
	if end := uint64(at) + uint64(size); end > uint64(i.memory.Size()) {
		return 0, i.faultf(FaultInput, abi.FuncInput, "its region of %d bytes at %d ends outside its memory of %d bytes", size, at, i.memory.Size())
	}
	return at, nil
}

// regionSize is how much to ask for when n bytes are to be written: enough not
// to ask for every input that is a little larger than the last, little enough
// not to waste a large one.
func regionSize(n int) uint32 {
	const least, fine = 8 << 10, 256 << 10
	if n <= fine {
		return max(least, uint32(1)<<bits.Len(uint(n-1)))
	}
	return uint32((n + fine - 1) / fine * fine)
}

// read appends to dst what s spans.
func (i *instance) read(export string, s abi.Span, dst []byte) ([]byte, error) {
	if s == 0 {
		return dst, nil
	}
	if n := s.Len(); int(n) > i.module.limits.Output {
		if uint64(s.Address())+uint64(n) <= uint64(i.memory.Size()) {
			return dst, i.faultf(FaultOutput, export, "its answer has %d bytes and may have %d", n, i.module.limits.Output)
		}
	}
	b, ok := i.memory.Read(s.Address(), s.Len())
	if !ok {
		return dst, i.faultf(FaultBounds, export, "its answer of %d bytes at %d lies outside its memory of %d bytes", s.Len(), s.Address(), i.memory.Size())
	}
	if !s.Declared() {
		return append(dst, b...), nil
	}
	if len(b) < 4 {
		return dst, i.faultf(FaultError, export, "its error has %d bytes, too few for a code", len(b))
	}
	return dst, &GuestError{Code: binary.LittleEndian.Uint32(b), Message: clip(string(b[4:min(len(b), 4<<10)]), 4<<10)}
}

func (i *instance) faultf(k FaultKind, export, format string, args ...any) *Fault {
	return &Fault{Kind: k, Module: i.module.name, Export: export, Detail: fmt.Sprintf(format, args...), Output: i.output.text()}
}
