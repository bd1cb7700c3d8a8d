package wasm

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"

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
	if err := boundCache(dir, maxCache); err != nil {
		return nil, err
	}
	return wazero.NewCompilationCacheWithDir(dir)
}

// maxCache is how many bytes a cache may have when it is opened: a Go plugin
// takes about 20 MiB, and each version that ever ran leaves its own.
const maxCache = 2 << 30

// boundCache empties a cache of more than limit bytes. Nobody knows which of its
// entries are of use still, and all can be made anew.
func boundCache(dir string, limit int64) error {
	entries, err := entries(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if info, err := os.Stat(e); err == nil {
			limit -= info.Size()
		}
	}
	if limit < 0 {
		return emptyCache(dir)
	}
	return nil
}

// emptyCache removes all entries, but not the directories that wazero made.
func emptyCache(dir string) error {
	entries, err := entries(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.Remove(e); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// entries returns the files of a cache: compiled code as wazero keeps it, as it
// is run and with its data, and the marks.
func entries(dir string) (files []string, err error) {
	for _, pattern := range []string{filepath.Join("wazero-*", "*"), codePrefix + "*", dataPrefix + "*", markPrefix + "*"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	return files, nil
}

// markPrefix begins the name of an empty file which says that a module's code
// lies in the cache: wazero has no way to ask. Where the mark is there and the
// code is not, the module is compiled in process: slower, and as right.
const markPrefix = "compiled-"

// key names what e compiles bin to, among all files of a cache.
func (e *engine) key(bin []byte) string {
	return fmt.Sprintf("%s-%s-%s-%s-%x", e.limiter, wazeroVersion(), runtime.GOARCH, runtime.GOOS, sha256.Sum256(bin))
}

// known reports whether the cache holds what has that key.
func (r *Runtime) known(key string) bool {
	_, err := os.Lstat(filepath.Join(r.dir, markPrefix+key))
	return err == nil
}

// remember notes that the cache holds what has that key.
func (r *Runtime) remember(key string) error {
	return os.WriteFile(filepath.Join(r.dir, markPrefix+key), nil, 0o600)
}

// wazeroVersion is what keeps the code that one version made from another.
func wazeroVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == "github.com/tetratelabs/wazero" {
				return filepath.Base(d.Version)
			}
		}
	}
	return "unknown"
}
