package wasm

import (
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// LibraryConfig returns how a library that is compiled to WebAssembly and brings its own host code is
// run: with at most so many pages of memory, of 64 KiB each, ended with its context, and without files.
// Compiled code is kept in cacheDir; empty: nowhere.
func LibraryConfig(cacheDir string, memoryPages uint32) (wazero.RuntimeConfig, wazero.FSConfig, error) {
	c := wazero.NewRuntimeConfig().
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
		WithMemoryLimitPages(memoryPages).
		WithCloseOnContextDone(true)
	if cacheDir != "" {
		cache, err := wazero.NewCompilationCacheWithDir(cacheDir)
		if err != nil {
			return nil, nil, fmt.Errorf("open the cache of compiled modules: %w", err)
		}
		c = c.WithCompilationCache(cache)
	}
	return c, wazero.NewFSConfig(), nil
}
