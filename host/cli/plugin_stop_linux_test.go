package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestCompileStops ends commands by SIGTERM while their child compiles a plugin
// for long: the command ends with an error, nothing is installed, and the child is
// gone.
func TestCompileStops(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("compiles for seconds")
	}
	file := slow(t, t.TempDir())
	plugins, body := t.TempDir(), filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(body, []byte("data: {}\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"install", file, "--plugin-dir", plugins},
		{"check", file},
		{"bench", file},
		{"replay", "--source", "slow", "--plugin-dir", filepath.Dir(file), body},
	} {
		var said bytes.Buffer
		cmd := exec.Command(os.Args[0], append([]string{"plugin"}, args...)...)
		cmd.Env = append(os.Environ(), reexec+"=parley", "XDG_CACHE_HOME="+t.TempDir())
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		child := 0
		if !comesTrue(func() bool { child = childOf(cmd.Process.Pid); return child != 0 }) {
			_ = cmd.Process.Kill()
			t.Fatalf("parley plugin %s: no child compiles: %v\n%s", args[0], <-ended, &said)
		}
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case err := <-ended:
			if err == nil || !strings.Contains(said.String(), "a signal ended it") {
				t.Errorf("parley plugin %s, ended by SIGTERM: %v\n%s", args[0], err, &said)
			}
		case <-time.After(time.Minute): // the child's own bound is twice that
			t.Errorf("parley plugin %s goes on a minute after SIGTERM", args[0])
			_ = cmd.Process.Kill()
			<-ended
		}
		if err := syscall.Kill(child, 0); err == nil {
			t.Errorf("parley plugin %s left its child %d", args[0], child)
			_ = syscall.Kill(child, syscall.SIGKILL)
		}
	}
	if left, _ := os.ReadDir(plugins); len(left) > 0 {
		t.Errorf("an install that was ended left %v", left)
	}
}

// childOf is a child of a process, or 0.
func childOf(pid int) int {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		b, _ := os.ReadFile(list) // threads come and go
		if fields := strings.Fields(string(b)); len(fields) > 0 {
			child, _ := strconv.Atoi(fields[0])
			return child
		}
	}
	return 0
}
