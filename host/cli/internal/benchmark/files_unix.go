//go:build unix

package benchmark

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// enoughFiles reports what stands in the way of n streams through a process
// with two connections for each. Go raises a process's own limit to the hard
// one when it starts; nobody but an administrator raises that.
func enoughFiles(n int) error {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return err
	}
	if need := uint64(2*n + 512); uint64(l.Max) < need {
		return fmt.Errorf("a process may have %d open files here and needs %d: raise it, for instance by `ulimit -Hn %d` as root", l.Max, need, need)
	}
	return nil
}
