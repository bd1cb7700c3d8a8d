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
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/tetratelabs/wazero"
)

// Options says how a [Runtime] works. The zero value works.
type Options struct {
	// CacheDir keeps compiled code between runs, packed; several runtimes may share
	// it. It is made with mode 0700, for what lies in it is executed as it is.
	// Empty: compiled code is kept in memory alone. So it is where CacheDir cannot be
	// used: see [Runtime.CacheProblem].
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
	// CacheLost is told why compiled code is not kept in CacheDir, each time that this
	// begins; nil drops it.
	CacheLost func(error)
}

// A LogLine is what a guest passed to parley.log.
type LogLine struct {
	Module    string
	Workspace string          // whose input the call was given; empty: nobody's
	Context   context.Context // of the call
	Level     int             // 0 debug, 1 info, 2 warn, 3 error
	Text      string
}

// A Runtime compiles modules. Safe for concurrent use.
type Runtime struct {
	engine  *engine
	log     func(LogLine)
	dir     string
	cache   wazero.CompilationCache
	program []string // that compiles aside

	machine   string        // names the processor's features, which compiled code depends on
	temporary string        // the folder of a cache that Close removes; empty: none
	children  chan struct{} // one for each that may run
	unpackers sync.Pool     // of *zstd.Decoder

	cacheLost func(error)
	problem   atomic.Pointer[error] // why compiled code is not kept; nil: it is

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
	offered map[string]*keptCode // by the name of the code: what wazero may have
	taken   map[string][]byte    // and what it last took
	closed  bool
}

// Open returns a Runtime. Close it after use.
func Open(o Options) (*Runtime, error) { return openWith(o, storeField) }

// openWith is Open for a wazero whose cache has its folder in the field of that name.
func openWith(o Options, field string) (*Runtime, error) {
	r := &Runtime{
		log: o.Log, dir: o.CacheDir, program: o.Aside, children: make(chan struct{}, runtime.GOMAXPROCS(0)),
		modules: map[*Module]struct{}{}, offered: map[string]*keptCode{}, taken: map[string][]byte{}, cacheLost: o.CacheLost,
	}
	r.findFolder()
	limiter := o.Limiter
	if limiter == nil {
		limiter = Metered()
	}
	err := r.openCache(limiter, field)
	if err != nil {
		return nil, errors.Join(err, r.sweep())
	}
	if r.engine, err = newEngine(limiter, r.cache); err != nil {
		return nil, errors.Join(err, r.cache.Close(context.Background()), r.sweep())
	}
	return r, nil
}

// findFolder makes sure that r.dir is a folder to keep compiled code in: the one that is
// wanted, or else, for a program that compiles aside, one that lasts as long as r; empty
// where there can be none. The service must not hang on it: it only saves work.
func (r *Runtime) findFolder() {
	if r.dir != "" {
		dir, err := filepath.Abs(r.dir)
		if err == nil {
			err = openCache(dir)
		}
		if err == nil {
			r.dir = dir
			return
		}
		r.dir = ""
		r.cacheFails(err)
	}
	if len(r.program) == 0 {
		return
	}
	dir, err := os.MkdirTemp("", "parley-modules-")
	if err != nil {
		r.cacheFails(err)
		return
	}
	r.dir, r.temporary = dir, dir
}

// CacheProblem is why compiled code is not kept between runs, though that is wanted; nil
// where it is.
func (r *Runtime) CacheProblem() error {
	if err := r.problem.Load(); err != nil {
		return *err
	}
	return nil
}

// cacheFails notes why code is not kept.
func (r *Runtime) cacheFails(err error) {
	if r.problem.Swap(&err) == nil && r.cacheLost != nil {
		r.cacheLost(err)
	}
}

// cacheWorks notes that code is kept: where it is wanted, what was in the way is gone.
func (r *Runtime) cacheWorks() {
	if r.temporary == "" {
		r.problem.Store(nil)
	}
}

// openCache opens the cache of compiled code, in memory where there is no folder. With a
// wazero that has no place for a store of ours it is wazero's own in that folder, which costs
// memory and the start, and modules are compiled by this process.
func (r *Runtime) openCache(l Limiter, field string) (err error) {
	if r.dir == "" {
		r.cache = wazero.NewCompilationCache()
		return nil
	}
	if r.cache, err = newCodeCache(field, &codeStore{get: r.give}); err != nil {
		r.cacheFails(err)
		if r.cache, err = wazero.NewCompilationCacheWithDir(r.dir); err != nil {
			r.cache = wazero.NewCompilationCache()
		}
		r.dir = ""
		return nil
	}
	// A name depends on the module, here always the same, and on the processor.
	least := []byte("\x00asm\x01\x00\x00\x00" + "\x01\x04\x01\x60\x00\x00" + "\x03\x02\x01\x00" + "\x0a\x04\x01\x02\x00\x0b") // one function
	name, err := codeNameOf(context.Background(), l, least)
	if err != nil {
		return err
	}
	r.machine = name[:8]
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
	return os.RemoveAll(r.temporary) // of "", nothing
}
