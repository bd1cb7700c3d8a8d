package wasm

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/parley-search/parley/host/internal/base/sysinfo"
)

// turnPause is how long a process waits for another one before it asks again: little of
// what it takes to compile a module.
const turnPause = 20 * time.Millisecond

// makeOnce calls f, which makes the file name in the cache folder dir, unless another
// process has made it meanwhile. Hosts that start side by side, as the nodes of a cluster
// do, load the same modules: one compiles each, and the others find it.
func makeOnce(ctx context.Context, dir, name string, f func() error) (err error) {
	turn, err := os.OpenFile(turnOf(dir, name), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return CacheError{err}
	}
	defer func() { err = errors.Join(err, turn.Close()) }()
	// Any other error is that of a file system without locks: it is our turn then.
	for errors.Is(sysinfo.LockFile(turn), sysinfo.ErrLocked) {
		select {
		case <-time.After(turnPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	// Those that wait hold the same file, whether it has a name or not.
	defer func() { err = errors.Join(err, removeFile(turn.Name())) }()
	if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
		return nil
	}
	return f()
}

// turnOf is the file that a process holds while it makes the file name in dir.
func turnOf(dir, name string) string { return filepath.Join(dir, scratchPrefix+name) }
