package wasm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// LibraryConfig returns how a library that is compiled to WebAssembly and brings its own host code is
// run: with at most so many pages of memory, of 64 KiB each, ended with its context, and without files.
// Compiled code is kept in cacheDir; nowhere where that is empty or cannot be used.
func LibraryConfig(cacheDir string, memoryPages uint32) (wazero.RuntimeConfig, wazero.FSConfig) {
	c := wazero.NewRuntimeConfig().
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
		WithMemoryLimitPages(memoryPages).
		WithCloseOnContextDone(true)
	if cacheDir != "" {
		err := openCache(cacheDir)
		var cache wazero.CompilationCache
		if err == nil {
			cache, err = wazero.NewCompilationCacheWithDir(cacheDir)
		}
		if err == nil {
			c = c.WithCompilationCache(cache)
		}
	}
	return c, wazero.NewFSConfig()
}

// WithLibraryMemory returns a context to run a library in: its instances have their memory, at most so many
// pages each, outside of Go's heap, and give it back when they are closed. End calls by ending the context:
// to close an instance takes its memory away from a call that is under way.
func WithLibraryMemory(ctx context.Context, memoryPages uint32) context.Context {
	return experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(func(_, most uint64) experimental.LinearMemory {
		l := &linear{block: reserve(int(memoryPages) * pageSize), total: new(atomic.Int64)}
		return l.Allocate(0, most)
	}))
}

// CompileLibrary has the library that name says, out of the Go module at modulePath, compiled into the
// cache in dir by a child of program: see [Options].Aside and [CompileAside]. It does nothing where the
// cache has it, or where no child can be started or nothing can be kept: whoever runs the library
// compiles it then.
func CompileLibrary(ctx context.Context, program []string, dir, name, modulePath string) error {
	key := fmt.Sprintf("%s-%s-%s-%s-%s", name, path.Base(moduleVersion(modulePath)), wazeroVersion(), runtime.GOARCH, runtime.GOOS)
	if _, err := os.Lstat(filepath.Join(dir, markPrefix+key)); len(program) == 0 || dir == "" || err == nil {
		return nil
	}
	if err := runAside(ctx, program, asideJob{Dir: dir, Key: key, Library: name}, nil); !isOfCache(err) {
		return err
	}
	return nil
}

// IsDamaged reports whether err, of a library with the cache in dir, says that an entry of it is damaged
// (its checksum tells). The libraries are then gone from it: compile anew.
func IsDamaged(dir string, err error) bool {
	if err == nil || dir == "" || !strings.Contains(err.Error(), "compilationcache") {
		return false
	}
	kept, err := ListCache(dir)
	for n := range kept {
		if kept[n].Module == libraryModule {
			err = errors.Join(err, kept[n].remove())
		}
	}
	return err == nil
}
