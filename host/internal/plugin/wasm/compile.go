package wasm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
)

// Compile turns bin into a module under limits l; name is what faults and log
// lines call it. It refuses, before any code is compiled or run, a module with
// an import that the host does not have or with no memory to speak through.
func (r *Runtime) Compile(ctx context.Context, name string, bin []byte, l Limits) (*Module, error) {
	return r.compileModule(ctx, name, bin, l, false)
}

// CompileAnew is Compile for a module whose code out of the cache is not what it should
// be: whatever is kept of it is dropped.
func (r *Runtime) CompileAnew(ctx context.Context, name string, bin []byte, l Limits) (*Module, error) {
	return r.compileModule(ctx, name, bin, l, true)
}

func (r *Runtime) compileModule(ctx context.Context, name string, bin []byte, l Limits, anew bool) (*Module, error) {
	l = l.withDefaults()
	shape, err := Describe(bin)
	if err != nil {
		return nil, fmt.Errorf("read module %s: %w", name, err)
	}
	if err := shape.Check(l); err != nil {
		return nil, fmt.Errorf("check module %s: %w", name, err)
	}
	begin, end, data := findData(bin, uint64(shape.MemoryMin)*pageSize)
	c, err := r.compile(ctx, name, sumCode(bin), anew, func() ([]byte, error) {
		return boundTables(slices.Concat(bin[:begin], bin[end:]))
	})
	if err != nil {
		return nil, fmt.Errorf("compile module %s: %w", name, explain(bin, err))
	}
	m := newModule(r, c.engine, name, c.module, shape, l)
	m.state, m.refusal, m.code, m.kept, m.image = c.State, c.Refusal, c.code, c.kept, r.newImage(data)

	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, errors.Join(ErrClosed, c.module.Close(ctx), m.image.close())
	}
	r.modules[m] = struct{}{}
	return m, nil
}

// A compiled is what wazero makes of a module.
type compiled struct {
	recast
	engine *engine
	module wazero.CompiledModule
	code   []byte // mapped from a file; nil: in memory of wazero's
	kept   bool   // it is of the cache
}

func isOfCache(err error) bool {
	_, ok := errors.AsType[CacheError](err)
	return ok
}

// compile returns what the cache keeps of the code with that sum, but where it is wanted
// anew, or else what plain returns, compiled by a child or in process.
func (r *Runtime) compile(ctx context.Context, name, sum string, anew bool, plain func() ([]byte, error)) (compiled, error) {
	if r.dir == "" {
		return r.compileHere(ctx, plain)
	}
	key := r.key(sum)
	if anew && removeFile(r.packed(key)) != nil {
		return r.compileHere(ctx, plain)
	}
	if err := r.aside(ctx, key, name, plain); isOfCache(err) {
		r.cacheFails(err)
		return r.compileHere(ctx, plain)
	} else if err != nil {
		return compiled{}, err
	}
	if err := ctx.Err(); err != nil {
		return compiled{}, err
	}
	ctx = context.WithoutCancel(ctx)
	lock, _ := r.loading.LoadOrStore(key, new(sync.Mutex))
	lock.(*sync.Mutex).Lock()
	defer lock.(*sync.Mutex).Unlock()
	if r.known(key) {
		if c, err := r.loadKept(ctx, key); err == nil {
			return c, nil
		}
		// It is damaged, or was cleaned away.
	}
	bin, err := plain()
	if err != nil {
		return compiled{}, err
	}
	r.compiling.Lock()
	err = keepIn(ctx, r.dir, key, name, r.engine.limiter, bin)
	r.compiling.Unlock()
	if isOfCache(err) {
		r.cacheFails(err)
	}
	if err == nil {
		if c, err := r.loadKept(ctx, key); err == nil {
			return c, nil
		}
	}
	return r.compileHere(ctx, plain) // no room, no folder any more: it serves this process
}

// compileHere compiles what plain returns for this process alone, one module at a time.
func (r *Runtime) compileHere(ctx context.Context, plain func() ([]byte, error)) (c compiled, err error) {
	if err := ctx.Err(); err != nil {
		return c, err
	}
	bin, err := plain()
	if err != nil {
		return c, err
	}
	if c.recast, bin, err = recastFor(r.engine.limiter, bin); err != nil {
		return c, err
	}
	if c.engine, err = r.engineOf(c.Limiter); err != nil {
		return c, err
	}
	r.compiling.Lock()
	defer r.compiling.Unlock()
	c.module, err = c.engine.compile(context.WithoutCancel(ctx), bin)
	return c, err
}

// loadKept returns what the cache keeps under that key.
//
// wazero gets the module's shell, and asks for the code of the whole one as that of the
// shell: nothing is metered, validated or held of bodies that were compiled before.
func (r *Runtime) loadKept(ctx context.Context, key string) (c compiled, err error) {
	kept, err := r.openKept(key)
	if err != nil {
		return c, err
	}
	defer kept.close()
	c.recast = kept.head.recast
	if c.engine, err = r.engineOf(c.Limiter); err != nil {
		return c, err
	}
	r.offer(kept)
	c.module, err = c.engine.compile(ctx, kept.shell)
	code, notTaken := r.withdraw(kept)
	if err == nil && notTaken != nil {
		err = errors.Join(notTaken, c.module.Close(ctx))
	}
	if err != nil {
		return c, err
	}
	r.cacheWorks()
	c.code, c.kept = code, true
	unload(code) // it was read to be checked, and little of it is run
	return c, nil
}

// keepIn compiles bin for the limiter l and has the cache folder dir keep it, under
// that key and as the module of that name.
func keepIn(ctx context.Context, dir, key, name string, l Limiter, bin []byte) error {
	how, bin, err := recastFor(l, bin)
	if err != nil {
		return err
	}
	if l, err = limiterNamed(how.Limiter); err != nil {
		return err
	}
	shell := shellOf(bin, key)
	head := packedHead{Key: key, Shell: len(shell), recast: how}
	if head.Entry, err = codeNameOf(ctx, l, shell); err != nil {
		return err
	}
	var packed error // of the cache, whatever wazero makes of it
	err = compileFor(ctx, l, bin, &codeStore{add: func(_ codeKey, code io.Reader) error {
		if err := pack(filepath.Join(dir, packedPrefix+key), name, head, shell, code); err != nil {
			packed = CacheError{fmt.Errorf("keep what was compiled: %w", err)}
		}
		return packed
	}})
	if packed != nil {
		return packed
	}
	return err
}

// codeNameOf returns the name under which wazero asks for the code of bin.
func codeNameOf(ctx context.Context, l Limiter, bin []byte) (name string, err error) {
	err = compileFor(ctx, l, bin, &codeStore{get: func(key codeKey) (io.ReadCloser, bool) {
		name = codeName(key)
		return nil, false
	}})
	if err == nil && name == "" {
		err = errors.New("wazero asks for no code before it compiles")
	}
	return name, err
}

// compileFor has wazero compile bin with s, and holds nothing of it.
func compileFor(ctx context.Context, l Limiter, bin []byte, s *codeStore) error {
	cache, err := newCodeCache(storeField, s)
	if err != nil {
		return err
	}
	e, err := newEngine(l, cache)
	if err == nil {
		_, err = e.compile(ctx, bin)
		err = errors.Join(err, e.close())
	}
	return errors.Join(err, cache.Close(ctx))
}

func (e *engine) compile(ctx context.Context, bin []byte) (wazero.CompiledModule, error) {
	return e.wazero.CompileModule(experimental.WithCompilationWorkers(ctx, 1), bin)
}
