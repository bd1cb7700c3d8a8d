package cli

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/parley-search/parley/host/e2e/apart"
)

// TestMinder: what is left when the pipe ends is ended, also where it does not want to,
// and what had ended before is not looked for.
func TestMinder(t *testing.T) {
	if apart.Run(t) {
		return
	}
	t.Setenv(reexec, "parley")
	m, err := startMinder(os.Args[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	var children []*exec.Cmd
	for _, script := range []string{"sleep 1000", "trap '' INT; while :; do sleep 1; done", "exit 0", "sleep 1000"} {
		cmd := exec.Command("sh", "-c", "exec 2>/dev/null; "+script)
		setApart(cmd)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		m.started(cmd.Process.Pid)
		children = append(children, cmd)
	}
	if err := children[2].Wait(); err != nil {
		t.Fatal(err)
	}
	m.ended(children[2].Process.Pid)
	m.ended(children[3].Process.Pid) // which lives on, as another process of that number would
	ended := make(chan error, 2)
	for _, c := range children[:2] {
		go func() { ended <- c.Wait() }()
	}
	m.close()
	for range 2 {
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "signal: ") {
			t.Errorf("a child that was left: %v, want it ended by a signal", err)
		}
	}
	if err := children[3].Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("what the minder was told to forget: %v, want it alive", err)
	}
	_ = children[3].Process.Kill()
	_ = children[3].Wait()
	for _, in := range []string{"7\n", "+x\n", "\n", "+1\n", "-0\n"} {
		if err := endChildren(strings.NewReader(in)); err == nil {
			t.Errorf("%q: no error", in)
		}
	}
}

// TestQuickstartNodesKilled: nodes and servers end where the command that started them
// is killed by -9.
func TestQuickstartNodesKilled(t *testing.T) {
	t.Parallel()
	if os.Getenv("LONG") == "" {
		t.Skip("builds a server of NATS and runs seven processes: LONG=1 runs it")
	}
	data := t.TempDir()
	cmd := exec.Command(os.Args[0], "quickstart", "--nodes", "3", "--http-addr", "127.0.0.1:0", "--db-path", data)
	cmd.Env = append(os.Environ(), reexec+"=parley", "PARLEY_NO_ANALYTICS=true")
	p := startProgram(t, "quickstart", func(_ context.Context, p *process) int {
		cmd.Stdout, cmd.Stderr = p, p
		if err := cmd.Run(); err == nil || !strings.Contains(err.Error(), "signal: killed") {
			t.Errorf("quickstart: %v, want it killed", err)
		}
		return exitOK
	})
	p.waitFor("serving until interrupted")
	pids := childrenOf(t, cmd.Process.Pid)
	if len(pids) != 7 {
		t.Errorf("%d processes are its children, want three nodes, three servers and what ends them", len(pids))
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		err := new(fleet).await(t.Context(), "process "+strconv.Itoa(pid)+" ends", func() bool {
			b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
			return err != nil || strings.Contains(string(b), ") Z ")
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// childrenOf returns the processes that a process started.
func childrenOf(t *testing.T, pid int) (pids []int) {
	t.Helper()
	lists, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "children"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range lists {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		for _, f := range strings.Fields(string(b)) {
			if child, err := strconv.Atoi(f); err == nil {
				pids = append(pids, child)
			}
		}
	}
	return pids
}
