package deploy

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/parley-search/parley/host/internal/base/sysinfo"
)

// How long a command waits for another one that is at work in the directory.
const (
	lockWait  = 30 * time.Second
	lockRetry = 20 * time.Millisecond
)

// A writer has a plugin directory for itself. Every change of a file is a
// rename, so that a reader, and a start after a crash, sees the old file or
// the new one; each is on the disk before what names it is.
type writer struct {
	root *os.Root // no name leads out of it
	lock *os.File // keeps other processes out of the directory until it is closed
	made string   // the directory's path, where the writer made it; or empty
}

// write makes the directory where it is missing and waits until it is this
// process's alone. The caller closes the writer, which removes a directory that it made
// and nothing was written to.
func (d Dir) write(ctx context.Context) (*writer, error) {
	made := ""
	if _, err := os.Stat(d.Path); errors.Is(err, fs.ErrNotExist) {
		made = d.Path
	}
	if err := os.MkdirAll(d.Path, 0o755); err != nil {
		return nil, fmt.Errorf("make plugin directory: %w", err)
	}
	root, err := os.OpenRoot(d.Path)
	if err != nil {
		return nil, fmt.Errorf("open plugin directory: %w", err)
	}
	lock, err := sysinfo.OpenDirLock(root)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open plugin directory: %w", err), root.Close())
	}
	w := &writer{root, lock, made}
	err = w.wait(ctx)
	if err == nil && !w.isAt(d.Path) { // who made it had nothing to write, and removed it
		if err := w.close(); err != nil {
			return nil, err
		}
		return d.write(ctx)
	}
	if cluster := d.sharedBy(); err == nil && cluster != "" && !d.Node {
		err = d.errShared(cluster)
	}
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	w.sweep()
	return w, nil
}

// wait takes the lock of the directory, which goes with the process.
func (w *writer) wait(ctx context.Context) error {
	deadline := time.Now().Add(lockWait)
	for {
		err := sysinfo.LockFile(w.lock)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, sysinfo.ErrLocked):
			return fmt.Errorf("lock plugin directory %s: %w", w.root.Name(), err)
		case time.Now().After(deadline):
			return fmt.Errorf("another `parley plugin` is at work in %s: wait until it has ended, then try again", w.root.Name())
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lockRetry):
		}
	}
}

// isAt reports whether the directory is still what its path leads to.
func (w *writer) isAt(path string) bool {
	mine, err := w.root.Stat(".")
	there, gone := os.Stat(path)
	return err == nil && gone == nil && os.SameFile(mine, there)
}

func (w *writer) close() error {
	if w.made != "" {
		_ = os.Remove(w.made) // only an empty one can be
	}
	return errors.Join(w.lock.Close(), w.root.Close())
}

// What files are called until they are whole.
const (
	partPrefix = ".parley-"
	partSuffix = ".part"
)

// sweep removes what a killed process left behind. What cannot be removed
// does no harm.
func (w *writer) sweep() {
	files, err := fs.ReadDir(w.root.FS(), ".")
	if err != nil {
		return
	}
	for _, f := range files {
		name := f.Name()
		if strings.HasPrefix(name, partPrefix) && strings.HasSuffix(name, partSuffix) {
			_ = w.root.Remove(name)
		}
	}
}

// put makes name a file that holds b.
func (w *writer) put(name string, b []byte) error {
	part := partPrefix + rand.Text() + partSuffix
	f, err := w.root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = w.root.Rename(part, name)
	}
	if err != nil {
		_ = w.root.Remove(part)
		return fmt.Errorf("write %s: %w", name, err)
	}
	return w.sync()
}

// drop removes the file called name, if it is there.
func (w *writer) drop(name string) error {
	if err := w.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", name, err)
	}
	return nil
}

// has reports whether name is a regular file that holds b.
func (w *writer) has(name string, b []byte) bool {
	st, err := w.root.Lstat(name)
	if err != nil || !st.Mode().IsRegular() || st.Size() != int64(len(b)) {
		return false
	}
	f, err := w.root.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	found, err := io.ReadAll(io.LimitReader(f, int64(len(b))+1))
	return err == nil && string(found) == string(b)
}

// sync puts the names themselves on the disk.
func (w *writer) sync() error {
	if err := sysinfo.SyncDir(w.root); err != nil {
		return fmt.Errorf("sync %s: %w", filepath.Clean(w.root.Name()), err)
	}
	return nil
}

// putLock makes l the lock.
func (w *writer) putLock(l *Lock) error {
	b, err := l.text()
	if err != nil {
		return err
	}
	return w.put(LockFile, b)
}
