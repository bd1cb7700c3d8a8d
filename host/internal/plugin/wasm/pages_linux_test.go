package wasm

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestUnnamedInMemory: what is mapped does not lie on a tmpfs, which may be full once a page is
// read that was never written to.
func TestUnnamedInMemory(t *testing.T) {
	var of unix.Statfs_t
	if err := unix.Statfs("/dev/shm", &of); err != nil || of.Type != unix.TMPFS_MAGIC {
		t.Skipf("/dev/shm is no tmpfs: %v", err)
	}
	dir, err := os.MkdirTemp("/dev/shm", "parley-test-*")
	if err != nil {
		t.Skipf("no folder can be made in /dev/shm: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for dir, want := range map[string]bool{dir: true, t.TempDir(): false} {
		if err := unix.Statfs(dir, &of); err != nil {
			t.Fatal(err)
		}
		if !want && of.Type == unix.TMPFS_MAGIC {
			continue // all of this machine is one
		}
		f, err := makeUnnamed(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
		if got := strings.HasPrefix(name, "/memfd:"); err != nil || got != want {
			t.Errorf("a file in %s is %s, %v; want one of memory: %t", dir, name, err, want)
		}
	}
}
