//go:build unix

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A service whose data directory is gone cannot write what it holds in memory. It
// ends at SIGTERM all the same, and says what it waited for.
func TestShutdownDirectoryGone(t *testing.T) {
	for name, args := range map[string][]string{
		"the store of telemetry": nil,
		"the database":           {"--no-analytics"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program, log := withoutDirectory(t, append(args, "--shutdown-grace", "1s")...)
			if err := program.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if err := waitFor(program); err == nil || program.ProcessState.ExitCode() != exitFailed {
				t.Errorf("the program ended with %v, want the exit code %d", err, exitFailed)
			}
			if said := log.String(); !strings.Contains(said, `"waited_for":"`+name+`"`) || !strings.Contains(said, "no such file") {
				t.Errorf("the log does not say that it waited for %s, and why:\n%s", name, said)
			}
		})
	}
}

// A second SIGTERM ends a shutdown at once, however long its grace is.
func TestShutdownTwice(t *testing.T) {
	program, _ := withoutDirectory(t, "--shutdown-grace", "1h")
	ended := make(chan error, 1)
	go func() { ended <- waitFor(program) }()
	for tick := time.NewTicker(10 * time.Millisecond); ; {
		select {
		case <-tick.C:
			_ = program.Process.Signal(syscall.SIGTERM) // it may have ended just now
		case <-ended:
			tick.Stop()
			status, ok := program.ProcessState.Sys().(syscall.WaitStatus)
			if !ok || !status.Signaled() || status.Signal() != syscall.SIGTERM {
				t.Errorf("the program ended with %v, want the signal itself", program.ProcessState)
			}
			return
		}
	}
}

// withoutDirectory is a service that took documents, and lost its data directory
// then.
func withoutDirectory(t *testing.T, args ...string) (*exec.Cmd, *lockedText) {
	t.Helper()
	data, log := filepath.Join(t.TempDir(), "data"), &lockedText{}
	program, url := reexecServe(t, log, append([]string{"--db-path", data, "--plugin-dir", t.TempDir()}, args...)...)
	change(t, url+"/indexes/notes/settings", `{"rankingRules":["words"]}`)
	if err := os.Rename(data, data+".gone"); err != nil {
		t.Fatal(err)
	}
	return program, log
}

// waitFor waits until program has ended, and fails where that takes minutes.
func waitFor(program *exec.Cmd) error {
	timer := time.AfterFunc(3*time.Minute, func() { _ = program.Process.Kill() })
	defer timer.Stop()
	if err := program.Wait(); err != nil {
		return fmt.Errorf("wait for program: %w", err)
	}
	return nil
}

// lockedText is text that several goroutines write and read.
type lockedText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedText) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
