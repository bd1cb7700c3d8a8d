//go:build unix

package e2e

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// A process is one that is killed and stopped by chance.
type process struct {
	t       *testing.T
	name    string
	program string
	args    []string
	env     []string
	log     string

	mu  sync.Mutex
	cmd *exec.Cmd
}

// start starts the process, where it does not run.
func (p *process) start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil {
		return
	}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		p.t.Error(err)
		return
	}
	defer log.Close()
	p.cmd = exec.Command(p.program, p.args...)
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = p.env, log, log
	if err := p.cmd.Start(); err != nil {
		p.t.Errorf("start %s: %v", p.name, err)
		p.cmd = nil
	}
}

// signal sends one, and waits for the end where it is one that ends.
func (p *process) signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Signal(s) // it may have ended
	if s == syscall.SIGKILL || s == syscall.SIGTERM || s == syscall.SIGQUIT {
		_ = p.cmd.Wait()
		p.cmd = nil
	}
}

// quit ends the process by SIGQUIT, and returns those of its goroutines that work on tasks,
// indexes and the cluster's log.
func (p *process) quit() string {
	p.signal(syscall.SIGCONT)
	p.signal(syscall.SIGQUIT)
	b, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	_, dump, _ := strings.Cut(string(b), "\nSIGQUIT: ")
	var out []string
	for g := range strings.SplitSeq(dump, "\n\n") {
		for _, of := range []string{"/internal/task.", "/internal/cluster", "/setup/node.", "/search/index.", "/search/write.", "/data/store."} {
			if strings.Contains(g, of) {
				out = append(out, g)
				break
			}
		}
	}
	return strings.Join(out, "\n\n")
}

// saidLast returns the end of what the process wrote.
func (p *process) saidLast() string {
	b, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-3000):])
}
