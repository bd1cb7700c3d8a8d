package wasm

import (
	"context"
	"fmt"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin/wasm/meter"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// start makes an instance: from the module's snapshot, where it has one. An error
// is a [*Fault].
func (m *Module) start() (*instance, error) {
	i := &instance{
		module:   m,
		linear:   &linear{block: reserve(int(m.limits.Memory)), total: &m.memory},
		guard:    m.engine.limiter.guard(m.limits),
		started:  time.Now(),
		funcs:    make([]api.Function, len(m.callable)),
		timeout:  m.limits.StartTimeout,
		snapshot: m.snapshot(),
	}
	i.base = context.WithValue(context.Background(), instanceKey{}, i)
	if i.linear.block == nil {
		return nil, &Fault{Kind: FaultMemory, Module: m.name, Export: abi.FuncInitialize, Detail: "the system gives no more memory"}
	}
	if i.snapshot == nil {
		if err := m.image.lay(i.linear.block); err != nil {
			i.linear.Free()
			return nil, &Fault{Kind: FaultMemory, Module: m.name, Export: abi.FuncInitialize, Detail: err.Error()}
		}
	}
	ctx := i.guard.begin(experimental.WithMemoryAllocator(i.base, i.linear), i.timeout)
	mod, err := i.instantiate(ctx)
	if err == nil {
		i.guard.attach(mod)
	}
	i.finish()
	if err != nil {
		err = i.fault(abi.FuncInitialize, err)
		i.linear.Free()
		return nil, err
	}
	i.api, i.memory, i.lane = mod, mod.Memory(), newLane()
	m.Rest() // what was run to start is of no more use: half of a Go guest's code
	m.instances.Add(1)
	return i, nil
}

// instantiate has wazero make the module, and its memory and globals what they
// are to be.
func (i *instance) instantiate(ctx context.Context) (mod api.Module, err error) {
	defer contain(&err)
	m := i.module
	mod, err = m.engine.wazero.InstantiateModule(ctx, m.compiled, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return nil, err
	}
	for n := range m.state.Globals {
		i.globals = append(i.globals, mod.ExportedGlobal(meter.GlobalName(n)).(api.MutableGlobal))
	}
	if i.snapshot == nil {
		err = i.initialize(ctx, mod)
	} else {
		err = i.adopt(mod)
	}
	if err != nil {
		_ = mod.Close(ctx) // the first error is the one to tell
		return nil, err
	}
	i.input = mod.ExportedFunction(abi.FuncInput)
	return mod, nil
}

// initialize makes room and runs what the guest wants to have run first.
func (i *instance) initialize(ctx context.Context, mod api.Module) error {
	l := i.module.limits
	// Half of what it may have is left to it, or it would be worn from the start.
	if room := min(int64(l.Room), int64(l.Memory/2)-int64(mod.Memory().Size())); room > 0 {
		_, _ = mod.Memory().Grow(uint32(room / pageSize)) // where the module itself allows less it has what it had
	}
	f := mod.ExportedFunction(abi.FuncInitialize)
	if f == nil {
		return nil
	}
	_, err := f.Call(ctx)
	return err
}

// adopt makes i what its snapshot is. What wazero or a start function has written
// by now is lost.
func (i *instance) adopt(mod api.Module) error {
	s := i.snapshot
	size := uint32(len(s.memory))
	if had := mod.Memory().Size(); had > size {
		return fmt.Errorf("it begins with %d bytes of memory, and its snapshot has %d", had, size)
	} else if _, ok := mod.Memory().Grow((size - had) / pageSize); !ok {
		return fmt.Errorf("its memory cannot grow to the %d bytes of its snapshot", size)
	}
	if err := mapOver(i.linear.block[:size], s.file, false); err != nil {
		return fmt.Errorf("map its snapshot: %w", err)
	}
	for n, g := range i.globals {
		g.Set(s.globals[n])
	}
	i.region, i.capacity, i.started = s.region, s.capacity, s.started
	return nil
}
