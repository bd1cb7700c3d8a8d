package wasm

import (
	"context"
	"fmt"

	"github.com/parley-search/parley/abi"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

const wasiModule = "wasi_snapshot_preview1"

// A hostFunc is a function that guests may import. It finds parameters in
// stack and leaves its result there.
type hostFunc struct {
	params, results []api.ValueType
	call            func(i *instance, memory api.Memory, stack []uint64)
}

// hostFuncs lists all that a guest may import, by module and name.
func hostFuncs() map[string]map[string]hostFunc {
	const i32, i64 = api.ValueTypeI32, api.ValueTypeI64
	result := []api.ValueType{i32}
	p := func(n int) []api.ValueType {
		return []api.ValueType{i32, i32, i32, i32}[:n]
	}
	errno := func(n int, e uint64) hostFunc {
		return hostFunc{p(n), result, func(_ *instance, _ api.Memory, stack []uint64) { stack[0] = e }}
	}
	return map[string]map[string]hostFunc{
		abi.ImportModule: {
			abi.ImportLog: {p(3), nil, guestLog},
		},
		wasiModule: {
			"args_get":            errno(2, errnoSuccess),
			"args_sizes_get":      {p(2), result, wasiNoStrings},
			"environ_get":         errno(2, errnoSuccess),
			"environ_sizes_get":   {p(2), result, wasiNoStrings},
			"clock_time_get":      {[]api.ValueType{i32, i64, i32}, result, wasiClock},
			"random_get":          {p(2), result, wasiRandom},
			"fd_write":            {p(4), result, wasiWrite},
			"poll_oneoff":         {p(4), result, wasiPoll},
			"proc_exit":           {p(1), nil, wasiExit},
			"sched_yield":         {nil, result, func(_ *instance, _ api.Memory, stack []uint64) { stack[0] = errnoSuccess }},
			"fd_close":            errno(1, errnoBadFile),
			"fd_fdstat_get":       errno(2, errnoBadFile),
			"fd_fdstat_set_flags": errno(2, errnoBadFile),
			// A Go guest lists the directories it was given until it is told that
			// there is none; another number ends it.
			"fd_prestat_get":      errno(2, errnoBadFile),
			"fd_prestat_dir_name": errno(3, errnoBadFile),
		},
	}
}

// Check refuses what can be told from the shape alone: an import that the host
// does not have, a memory that cannot be spoken through or is over l.
func (s *Shape) Check(l Limits) error {
	l = l.withDefaults()
	funcs := hostFuncs()
	for _, i := range s.Imports {
		f, ok := funcs[i.Module][i.Name]
		if !ok || i.Kind != "func" {
			return fmt.Errorf("it imports the %s %s.%s, which the host does not have; a guest may import %s.%s and the WASI functions that Go's wasip1 reactors import, nothing else",
				i.Kind, clip(i.Module, 64), clip(i.Name, 64), abi.ImportModule, abi.ImportLog)
		}
		if want := f.signature(); i.Signature != want {
			return fmt.Errorf("it imports %s.%s as %s, which is %s", i.Module, i.Name, i.Signature, want)
		}
	}
	if s.memories != 1 || !s.HasMemory() {
		return fmt.Errorf("it must have one memory and export it as %q", abi.Memory)
	}
	if need := uint64(s.MemoryMin) * pageSize; need > l.Memory {
		return fmt.Errorf("it begins with %d KiB of memory and its limit is %d KiB; ask for more in the manifest (limits.memoryMiB)", need>>10, l.Memory>>10)
	}
	return nil
}

func (f hostFunc) signature() string {
	var c []byte
	c = append(append(c, 0x60, byte(len(f.params))), f.params...)
	c = append(append(c, byte(len(f.results))), f.results...)
	return (&cursor{b: c}).funcType()
}

// addHostFunctions makes hostFuncs known to r.
func addHostFunctions(ctx context.Context, r wazero.Runtime) error {
	for module, funcs := range hostFuncs() {
		b := r.NewHostModuleBuilder(module)
		for name, f := range funcs {
			b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(ctx context.Context, m api.Module, stack []uint64) {
				i := instanceOf(ctx)
				i.guard.check()
				f.call(i, m.Memory(), stack)
			}), f.params, f.results).Export(name)
		}
		if _, err := b.Instantiate(ctx); err != nil {
			return err
		}
	}
	return nil
}
