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
// takes about one MiB, and each version that ever ran leaves its own.
const maxCache = 2 << 30

// boundCache empties a cache of more than limit bytes. Nobody knows which of its
// entries are of use still, and all can be made anew.
func boundCache(dir string, limit int64) error {
	entries, err := filepath.Glob(filepath.Join(dir, "wazero-*", "*"))
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
	for _, pattern := range []string{filepath.Join(dir, "wazero-*", "*"), filepath.Join(dir, markPrefix+"*")} {
		entries, err := filepath.Glob(pattern)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := os.Remove(e); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// markPrefix begins the name of an empty file which says that a module's code
// lies in the cache: wazero has no way to ask. Where the mark is there and the
// code is not, the module is compiled in process: slower, and as right.
const markPrefix = "compiled-"

func (r *Runtime) mark(e *engine, bin []byte) string {
	return filepath.Join(r.dir, fmt.Sprintf("%s%s-%s-%s-%s-%x", markPrefix, e.limiter, wazeroVersion(), runtime.GOARCH, runtime.GOOS, sha256.Sum256(bin)))
}

// known reports whether the cache holds what bin is compiled to.
func (r *Runtime) known(e *engine, bin []byte) bool {
	_, err := os.Lstat(r.mark(e, bin))
	return err == nil
}

// remember notes that the cache holds what bin is compiled to.
func (r *Runtime) remember(e *engine, bin []byte) error {
	return os.WriteFile(r.mark(e, bin), nil, 0o600)
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
