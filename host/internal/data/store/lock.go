package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/parley-search/parley/host/internal/base/sysinfo"
)

// lockName is the file that is locked. It holds the process that has the lock and, on
// a second line, the URL where it serves.
const lockName = "parley.pid"

// ReadHolder returns the process that has dir open, or had it last, and the URL where it
// serves; empty what is not known.
func ReadHolder(dir string) (pid, url string) {
	b, _ := os.ReadFile(filepath.Join(dir, lockName))
	pid, url, _ = strings.Cut(strings.TrimSpace(string(b)), "\n")
	return pid, url
}

// NoteURL lets others know where the process that has s open serves, where the disk has room
// for that.
func (s *Store) NoteURL(url string) {
	if s.lock != nil { // it is in memory, for nobody else
		_, _ = fmt.Fprintln(s.lock, url)
	}
}

// lockWait is how long a start waits for a data directory that is in use.
const lockWait = 2 * time.Second

// Lock keeps everybody else from opening the database in dir, until release is
// called. The error names the process that has it.
func Lock(dir string) (release func() error, err error) {
	f, err := LockDir(dir)
	if err != nil {
		return nil, err
	}
	return f.Close, nil
}

// LockDir takes dir for this process, and for those that it gives the file to: until the
// last of them has closed it. The error names the process that has it.
func LockDir(dir string) (*os.File, error) {
	name := filepath.Join(dir, lockName)
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	// A process that was killed while it started another one leaves the lock to
	// that for a moment, until it has become its own program.
	err = sysinfo.LockFile(f)
	for until := time.Now().Add(lockWait); err != nil && time.Now().Before(until); time.Sleep(lockWait / 50) {
		err = sysinfo.LockFile(f)
	}
	if err != nil {
		pid, url := ReadHolder(dir)
		if url != "" {
			pid += " at " + url
		}
		return nil, errors.Join(fmt.Errorf("the data directory %s is in use by process %s: stop it, or give another --db-path", dir, pid), f.Close())
	}
	// The lock is what counts: on a full disk others are only not told who has it.
	if f.Truncate(0) == nil {
		_, _ = fmt.Fprintln(f, os.Getpid())
	}
	return f, nil
}
