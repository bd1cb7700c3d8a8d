package wasm

import (
	"context"
	"fmt"
	"strings"

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
	types := map[rune]api.ValueType{'i': i32, 'I': i64}
	result := []api.ValueType{i32}
	wasi := map[string]hostFunc{
		"args_sizes_get":    {[]api.ValueType{i32, i32}, result, wasiNoStrings},
		"environ_sizes_get": {[]api.ValueType{i32, i32}, result, wasiNoStrings},
		"clock_res_get":     {[]api.ValueType{i32, i32}, result, wasiResolution},
		"clock_time_get":    {[]api.ValueType{i32, i64, i32}, result, wasiClock},
		"random_get":        {[]api.ValueType{i32, i32}, result, wasiRandom},
		"fd_write":          {[]api.ValueType{i32, i32, i32, i32}, result, wasiWrite},
		"poll_oneoff":       {[]api.ValueType{i32, i32, i32, i32}, result, wasiPoll},
		"proc_exit":         {[]api.ValueType{i32}, nil, wasiExit},
	}
	for number, names := range constantWASI {
		for f := range strings.FieldsSeq(names) {
			name, params, _ := strings.Cut(f, ":")
			fixed := hostFunc{results: result, call: func(_ *instance, _ api.Memory, stack []uint64) { stack[0] = number }}
			for _, p := range params {
				fixed.params = append(fixed.params, types[p])
			}
			wasi[name] = fixed
		}
	}
	return map[string]map[string]hostFunc{
		abi.ImportModule: {abi.ImportLog: {[]api.ValueType{i32, i32, i32}, nil, guestLog}},
		wasiModule:       wasi,
	}
}

// constantWASI are the functions that answer a number alone, each with its parameters, i for
// 32 bits and I for 64. Runtimes of languages import them whether they are called or not: C
// libraries what a stream may need, Zig's all of files. A guest has no file, folder or
// socket, so that each descriptor is a bad one.
var constantWASI = map[uint64]string{
	errnoSuccess: "args_get:ii environ_get:ii sched_yield:",
	errnoBadFile: `fd_advise:iIIi fd_allocate:iII fd_close:i fd_datasync:i fd_fdstat_get:ii fd_fdstat_set_flags:ii
		fd_fdstat_set_rights:iII fd_filestat_get:ii fd_filestat_set_size:iI fd_filestat_set_times:iIIi fd_pread:iiiIi
		fd_prestat_get:ii fd_prestat_dir_name:iii fd_pwrite:iiiIi fd_read:iiii fd_readdir:iiiIi fd_renumber:ii
		fd_seek:iIii fd_sync:i fd_tell:ii
		path_create_directory:iii path_filestat_get:iiiii path_filestat_set_times:iiiiIIi path_link:iiiiiii
		path_open:iiiiiIIii path_readlink:iiiiii path_remove_directory:iii path_rename:iiiiii path_symlink:iiiii
		path_unlink_file:iii
		sock_accept:iii sock_recv:iiiiii sock_send:iiiii sock_shutdown:ii`,
	errnoUnknown: "proc_raise:i",
}

// foreign is what to do about an import of other modules, by how their names begin.
var foreign = []struct{ begin, advice string }{
	{"wasi:", "it is of WASI preview 2: build for wasm32-wasip1"},
	{"wasi_unstable", "it is of WASI before preview 1: build for wasm32-wasip1"},
	{"wasi_", "it is of another version of WASI: build for wasm32-wasip1"},
	{"wasi", "it is of threads, which hosts do not run: build for wasm32-wasip1"},
	{"__wbindgen", "wasm-bindgen makes modules for browsers: build without it"},
	{"gojs", "it is of GOOS=js: build with GOOS=wasip1 -buildmode=c-shared"},
	{"env", "nothing that was linked defines it: in C, C++, Rust and Zig, link what does; in AssemblyScript, build with --use abort="},
}

// Check refuses what can be told from the shape alone: an import that the host
// does not have, a memory that cannot be spoken through or is over l.
func (s *Shape) Check(l Limits) error {
	l = l.withDefaults()
	funcs := hostFuncs()
	for _, i := range s.Imports {
		f, ok := funcs[i.Module][i.Name]
		if !ok || i.Kind != "func" {
			advice := fmt.Sprintf("a guest may import %s.%s and the functions of %s, nothing else", abi.ImportModule, abi.ImportLog, wasiModule)
			for _, f := range foreign {
				if i.Module != wasiModule && strings.HasPrefix(i.Module, f.begin) {
					advice = f.advice
					break
				}
			}
			return fmt.Errorf("it imports the %s %s.%s, which the host does not have; %s", i.Kind, clip(i.Module, 64), clip(i.Name, 64), advice)
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
