//go:build unix

package wasm

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// separate gives the child a group of its own: so stepBack reaches all of its
// threads, and an interrupt at the terminal only us.
func separate(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// stepBack lowers the priority of this process, which must be the only one of
// its group, and bounds its memory.
func stepBack(nice int, memory uint64) error {
	// By the group, since Linux would take a process's number for its first
	// thread alone.
	if err := unix.Setpriority(unix.PRIO_PGRP, 0, nice); err != nil {
		return err
	}
	var l unix.Rlimit
	setBound(&l.Cur, memory)
	setBound(&l.Max, memory)
	return unix.Setrlimit(unix.RLIMIT_DATA, &l)
}

// setBound sets a limit, whose type systems differ in.
func setBound[N int64 | uint64](bound *N, n uint64) { *bound = N(n) }
