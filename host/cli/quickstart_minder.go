package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// minderName is the command that [startMinder] runs.
const minderName = "end-children"

// minderGrace is how long processes have to end that nobody needs any more.
const minderGrace = 10 * time.Second

// A minder ends the children of this process where it ends without doing so, as by
// `kill -9`. It is a process of its own that is told of them through a pipe, whose end
// it sees, on every system.
type minder struct {
	mu   sync.Mutex
	pipe io.WriteCloser
	cmd  *exec.Cmd
}

// startMinder starts one that keeps lock open, too: what is locked is in use until the last
// child has ended. On Windows, children take no files.
func startMinder(exe string, lock *os.File) (*minder, error) {
	cmd := exec.Command(exe, minderName)
	setApart(cmd)
	if lock != nil && runtime.GOOS != "windows" {
		cmd.ExtraFiles = []*os.File{lock}
	}
	pipe, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start what ends nodes and servers when this process is killed: %w", err)
	}
	return &minder{pipe: pipe, cmd: cmd}, nil
}

// started and ended tell it of a child. Without a minder, as where somebody ended it,
// nothing is lost but what it is for.
func (m *minder) started(pid int) { m.tell("+", pid) }
func (m *minder) ended(pid int)   { m.tell("-", pid) }

func (m *minder) tell(what string, pid int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, _ = io.WriteString(m.pipe, what+strconv.Itoa(pid)+"\n")
}

// close ends the minder, which ends the children that it was told of and that have not
// ended.
func (m *minder) close() {
	_ = m.pipe.Close()
	_ = m.cmd.Wait()
}

func endChildrenCommand() *cobra.Command {
	return &cobra.Command{
		Use: minderName, Hidden: true, Args: cobra.NoArgs,
		Short: "End processes once standard input ends (used by quickstart)",
		RunE: func(cmd *cobra.Command, _ []string) error {
			signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
			return endChildren(cmd.InOrStdin())
		},
	}
}

// endChildren reads +PID of each process that started and -PID of each that ended, a
// line each, and ends those that are left once there is no more to read.
func endChildren(in io.Reader) error {
	left := map[int]bool{}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		line := lines.Text()
		pid, err := strconv.Atoi(line[min(1, len(line)):])
		if err != nil || pid <= 1 {
			return fmt.Errorf("%q is neither +PID nor -PID", line)
		}
		if line[0] == '+' {
			left[pid] = true
		} else {
			delete(left, pid)
		}
	}
	var ending sync.WaitGroup
	errs := make(chan error, len(left))
	for pid := range left {
		ending.Go(func() { errs <- endProcess(pid) })
	}
	ending.Wait()
	close(errs)
	err := lines.Err()
	for e := range errs {
		err = errors.Join(err, e)
	}
	return err
}

// endProcess asks a process to end, and kills it where it does not.
func endProcess(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return nil // it is gone
	}
	if runtime.GOOS == "windows" { // which has only Kill
		err = p.Kill()
	} else if err = p.Signal(os.Interrupt); err == nil {
		for until := time.Now().Add(minderGrace); p.Signal(syscall.Signal(0)) == nil; time.Sleep(fleetEvery) {
			if time.Now().After(until) {
				err = p.Kill()
				break
			}
		}
	}
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}
