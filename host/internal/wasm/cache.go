package wasm

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tetratelabs/wazero"
)

// openCache returns a cache of compiled code in dir, or in memory where dir is
// empty. Whoever can write to dir can run code as us, so it is ours alone.
func openCache(dir string) (wazero.CompilationCache, error) {
	if dir == "" {
		return wazero.NewCompilationCache(), nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a directory", dir)
	}
	if err := checkOwner(info); err != nil {
		return nil, fmt.Errorf("use %s: %w", dir, err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(dir, 0o700); err != nil {
			return nil, err
		}
	}
	return wazero.NewCompilationCacheWithDir(dir)
}

// emptyCache removes all entries, but not the directories that wazero made.
func emptyCache(dir string) error {
	entries, err := filepath.Glob(filepath.Join(dir, "wazero-*", "*"))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.Remove(e); err != nil {
			return err
		}
	}
	return nil
}
