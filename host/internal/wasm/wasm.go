// Package wasm runs guests: it compiles modules, keeps instances of them in
// bounded pools, carries bytes in and out, and keeps whatever a guest does
// wrong from reaching anybody else. It is the one package that knows wazero,
// and knows nothing of plugins.
//
// A guest does no I/O. Its imports are [github.com/parley-search/parley/abi]'s
// log and the WASI functions that a Go reactor wants to see, most of which only
// answer an error number.
package wasm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
)

// Options says how a [Runtime] works. The zero value works.
type Options struct {
	// CacheDir keeps compiled code between runs, packed; several runtimes may share
	// it. It is made with mode 0700, for what lies in it is executed as it is.
	// Empty: compiled code is kept in memory alone.
	CacheDir string
	// Aside is a program with its arguments that does no more than to call
	// [CompileAside]. With it, modules are compiled in a process of low priority
	// and bounded memory, into CacheDir or else a folder that Close removes;
	// without, in this one, beside the calls under way.
	Aside []string
	// Limiter ends calls that take too long; default [Metered].
	Limiter Limiter
	// Log receives what guests log, within bounds. It is called during the
	// guest's call, by many goroutines; nil drops everything.
	Log func(LogLine)
}

// A LogLine is what a guest passed to parley.log.
type LogLine struct {
	Module string
	Level  int // 0 debug, 1 info, 2 warn, 3 error
	Text   string
}

// A Runtime compiles modules. Safe for concurrent use.
type Runtime struct {
	engine  *engine
	log     func(LogLine)
	dir     string
	cache   wazero.CompilationCache
	program []string // that compiles aside

	scratch   string        // what wazero's cache has: a folder in dir that Close removes
	temporary string        // the folder of a cache that Close removes; empty: none
	children  chan struct{} // one for each that may run

	// compiling is held while a module is compiled in process: one at a time
	// leaves the other processors to the calls under way.
	compiling sync.Mutex
	// loading holds a *sync.Mutex for each key. Two loads of one module would write
	// the same file, and wazero 1.12 gives the second one what the first has not
	// finished yet.
	loading sync.Map

	mu      sync.Mutex
	standIn *engine // for modules that the engine's limiter refuses; nil until there is one
	modules map[*Module]struct{}
	closed  bool
}

// Open returns a Runtime. Close it after use.
func Open(o Options) (*Runtime, error) {
	r := &Runtime{
		log: o.Log, dir: o.CacheDir, program: o.Aside, children: make(chan struct{}, runtime.GOMAXPROCS(0)),
		modules: map[*Module]struct{}{},
	}
	if r.dir == "" && len(r.program) > 0 {
		var err error
		if r.dir, err = os.MkdirTemp("", "parley-modules-"); err != nil {
			return nil, fmt.Errorf("make compilation cache: %w", err)
		}
		r.temporary = r.dir
	}
	if r.dir != "" {
		var err error
		if r.dir, err = filepath.Abs(r.dir); err != nil {
			return nil, fmt.Errorf("open compilation cache: %w", err)
		}
	}
	limiter := o.Limiter
	if limiter == nil {
		limiter = Metered()
	}
	err := r.openCache()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open compilation cache: %w", err), r.sweep())
	}
	if r.engine, err = newEngine(limiter, r.cache); err != nil {
		return nil, errors.Join(err, r.cache.Close(context.Background()), r.sweep())
	}
	return r, nil
}

// Compile turns bin into a module under limits l; name is what faults and log
// lines call it. It refuses, before any code is compiled or run, a module with
// an import that the host does not have or with no memory to speak through.
func (r *Runtime) Compile(ctx context.Context, name string, bin []byte, l Limits) (*Module, error) {
	l = l.withDefaults()
	shape, err := Describe(bin)
	if err != nil {
		return nil, fmt.Errorf("read module %s: %w", name, err)
	}
	if err := shape.Check(l); err != nil {
		return nil, fmt.Errorf("check module %s: %w", name, err)
	}
	bin, data := liftData(bin, uint64(shape.MemoryMin)*pageSize) // first: then less is copied
	if bin, err = boundTables(bin); err != nil {
		return nil, fmt.Errorf("check module %s: %w", name, err)
	}
	e, bin, state, refusal, err := r.prepare(bin)
	if err != nil {
		return nil, fmt.Errorf("meter module %s: %w", name, err)
	}
	key := e.key(bin)
	if err := r.aside(ctx, e, key, name, bin); err != nil {
		return nil, fmt.Errorf("compile module %s: %w", name, err)
	}
	compiled, err := r.load(ctx, e, key, name, bin)
	if err != nil {
		return nil, fmt.Errorf("compile module %s: %w", name, err)
	}
	m := newModule(r, e, name, compiled, shape, l)
	m.state, m.refusal, m.image = state, refusal, r.newImage(data)

	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, errors.Join(ErrClosed, compiled.Close(ctx), m.image.close())
	}
	r.modules[m] = struct{}{}
	return m, nil
}

// openCache opens the cache of compiled code, in memory where there is no folder.
func (r *Runtime) openCache() (err error) {
	if r.dir == "" {
		r.cache = wazero.NewCompilationCache()
		return nil
	}
	if err = openCache(r.dir); err != nil {
		return err
	}
	if r.scratch, err = os.MkdirTemp(r.dir, scratchPrefix); err != nil {
		return err
	}
	r.cache, err = wazero.NewCompilationCacheWithDir(r.scratch)
	return err
}

// load returns what e makes of bin: what the cache keeps, or else what is compiled
// in process, one module at a time.
func (r *Runtime) load(ctx context.Context, e *engine, key, name string, bin []byte) (wazero.CompiledModule, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ctx = experimental.WithCompilationWorkers(context.WithoutCancel(ctx), 1)
	lock, _ := r.loading.LoadOrStore(key, new(sync.Mutex))
	lock.(*sync.Mutex).Lock()
	defer lock.(*sync.Mutex).Unlock()
	if r.dir == "" {
		r.compiling.Lock()
		defer r.compiling.Unlock()
		return e.wazero.CompileModule(ctx, bin)
	}
	if r.known(key) {
		if compiled, err := r.loadKept(ctx, e, key, bin); err == nil {
			return compiled, nil
		}
		// It is damaged, of another processor, or was cleaned away.
	}
	r.compiling.Lock()
	defer r.compiling.Unlock()
	if keepIn(ctx, r.dir, key, name, e.limiter, bin) == nil {
		if compiled, err := r.loadKept(ctx, e, key, bin); err == nil {
			return compiled, nil
		}
	}
	return e.wazero.CompileModule(ctx, bin) // no room, no folder any more: it serves this process
}

// loadKept returns what the cache keeps of bin.
func (r *Runtime) loadKept(ctx context.Context, e *engine, key string, bin []byte) (wazero.CompiledModule, error) {
	folder, err := filepath.Glob(filepath.Join(r.scratch, "wazero-*"))
	if err != nil || len(folder) != 1 {
		return nil, errors.Join(fmt.Errorf("%s has no folder of wazero's", r.scratch), err)
	}
	entry, err := unpack(r.packed(key), folder[0])
	if err != nil {
		return nil, err
	}
	compiled, err := e.wazero.CompileModule(ctx, bin)
	return compiled, errors.Join(err, removeFile(entry))
}

// keepIn compiles bin for the limiter l and has the cache folder dir keep it, under
// that key and as the module of that name. It works in a folder of its own.
func keepIn(ctx context.Context, dir, key, name string, l Limiter, bin []byte) error {
	scratch, err := os.MkdirTemp(dir, scratchPrefix)
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	cache, err := wazero.NewCompilationCacheWithDir(scratch)
	if err != nil {
		return fmt.Errorf("open compilation cache: %w", err)
	}
	e, err := newEngine(l, cache)
	if err != nil {
		return errors.Join(err, cache.Close(ctx))
	}
	_, err = e.wazero.CompileModule(experimental.WithCompilationWorkers(ctx, 1), bin)
	if err = errors.Join(err, e.close(), cache.Close(ctx)); err != nil {
		return err
	}
	entries, err := filepath.Glob(filepath.Join(scratch, "wazero-*", "*"))
	if err != nil || len(entries) != 1 {
		return errors.Join(fmt.Errorf("the compiler left %d files in place of one", len(entries)), err)
	}
	if err := pack(entries[0], filepath.Join(dir, packedPrefix+key), name); err != nil {
		return fmt.Errorf("keep what was compiled: %w", err)
	}
	return nil
}

func (r *Runtime) forget(m *Module) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.modules, m)
}

// Close closes all modules, waiting for the calls under way, and lets go of
// all that the Runtime holds.
func (r *Runtime) Close() error {
	r.mu.Lock()
	r.closed = true
	modules := make([]*Module, 0, len(r.modules))
	for m := range r.modules {
		modules = append(modules, m)
	}
	r.mu.Unlock()

	var errs []error
	for _, m := range modules {
		errs = append(errs, m.Close())
	}
	ctx := context.Background()
	errs = append(errs, r.engine.close())
	if r.standIn != nil {
		errs = append(errs, r.standIn.close())
	}
	errs = append(errs, r.cache.Close(ctx), r.sweep())
	return errors.Join(errs...)
}

// sweep removes what is of no use to another runtime.
func (r *Runtime) sweep() error {
	return errors.Join(os.RemoveAll(r.scratch), os.RemoveAll(r.temporary)) // of "", nothing
}
