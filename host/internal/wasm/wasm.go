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
	"strings"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
)

// Options says how a [Runtime] works. The zero value works.
type Options struct {
	// CacheDir keeps compiled code between runs. It is made with mode 0700, for
	// what lies in it is executed as it is. Empty: compiled code is kept in
	// memory alone.
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

	temporary string        // the folder of a cache that Close removes; empty: none
	children  chan struct{} // one for each that may run

	// compiling is held while a module is compiled in process: one at a time
	// leaves the other processors to the calls under way.
	compiling sync.Mutex

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
	var err error
	if r.cache, err = openCache(r.dir); err != nil {
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
	if bin, err = boundTables(bin); err != nil {
		return nil, fmt.Errorf("check module %s: %w", name, err)
	}
	bin, data := liftData(bin, uint64(shape.MemoryMin)*pageSize)
	e, bin, state, refusal, err := r.prepare(bin)
	if err != nil {
		return nil, fmt.Errorf("meter module %s: %w", name, err)
	}
	key := e.key(bin)
	if err := r.aside(ctx, e, key, bin); err != nil {
		return nil, fmt.Errorf("compile module %s: %w", name, err)
	}
	compiled, err := r.compile(ctx, e, key, bin)
	if err != nil {
		return nil, fmt.Errorf("compile module %s: %w", name, err)
	}
	m := newModule(r, e, name, compiled, shape, l)
	m.state, m.refusal, m.key, m.image = state, refusal, key, r.newImage(data)

	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, errors.Join(ErrClosed, compiled.Close(ctx), m.image.close())
	}
	r.modules[m] = struct{}{}
	return m, nil
}

func (r *Runtime) compile(ctx context.Context, e *engine, key string, bin []byte) (wazero.CompiledModule, error) {
	if len(r.program) == 0 || r.dir == "" || !r.known(key) {
		r.compiling.Lock()
		defer r.compiling.Unlock()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ctx = experimental.WithCompilationWorkers(context.WithoutCancel(ctx), 1)
	compiled, err := e.wazero.CompileModule(ctx, bin)
	if err != nil && r.dir != "" && strings.Contains(err.Error(), "compilationcache") {
		// An entry is damaged (its checksum tells). It is no loss: compile anew.
		if err := emptyCache(r.dir); err != nil {
			return nil, err
		}
		compiled, err = e.wazero.CompileModule(ctx, bin)
	}
	return compiled, err
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

// sweep removes the cache that nobody named.
func (r *Runtime) sweep() error {
	if r.temporary == "" {
		return nil
	}
	return os.RemoveAll(r.temporary)
}
