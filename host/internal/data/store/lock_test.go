package store

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestLockDir names the process that has a directory, and takes one that is let
// go meanwhile, as by the child of a process that was killed.
func TestLockDir(t *testing.T) {
	dir := t.TempDir()
	held, err := LockDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if f, err := LockDir(dir); err == nil || !strings.Contains(err.Error(), "is in use by process "+strconv.Itoa(os.Getpid())+": stop it") {
		t.Errorf("lockDir of a directory in use: %v, %v; want the process named", f, err)
	}
	taken := make(chan error, 1)
	go func() {
		f, err := LockDir(dir)
		if err == nil {
			err = f.Close()
		}
		taken <- err
	}()
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-taken; err != nil {
		t.Errorf("lockDir of a directory that was let go: %v", err)
	}
}
