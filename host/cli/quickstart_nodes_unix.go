//go:build unix

package cli

import (
	"os/exec"
	"syscall"
)

// setApart gives a process a group of its own, which an interrupt at the terminal
// does not reach.
func setApart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
