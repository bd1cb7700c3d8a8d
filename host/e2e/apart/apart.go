// Package apart runs a test in a process of its own: for tests that count what
// their process has, such as goroutines, and would otherwise have to wait for all
// others.
package apart

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Run has t run by a process of its own, beside other tests, and reports whether it
// did: the caller then returns. Call it first.
//
// Where -run names tests, they run here, one after the other: a debugger sees them.
func Run(t *testing.T) bool {
	t.Helper()
	if flag.Lookup("test.run").Value.String() != "" {
		return false
	}
	t.Parallel()
	timeout := time.Duration(0) // none
	if deadline, ok := t.Deadline(); ok {
		timeout = time.Until(deadline)
	}
	switch said, how := run(t.Context(), t.Name(), timeout); how {
	case passed:
		t.Log(said)
	case skipped:
		t.Skip(said) // its last line is the reason
	default:
		t.Error(said)
	}
	return true
}

// How a test ended.
const (
	passed  = "PASS"
	skipped = "SKIP"
	failed  = "FAIL"
)

// run runs the test of that name in a process of its own, and returns what it said
// and how it ended. A process that says nothing of its test's end has failed.
func run(ctx context.Context, name string, timeout time.Duration) (said, how string) {
	args := []string{"-test.run=^" + name + "$", "-test.v", "-test.timeout=" + timeout.String()}
	if testing.Short() {
		args = append(args, "-test.short")
	}
	out, err := exec.CommandContext(ctx, os.Args[0], args...).CombinedOutput()
	if err == nil {
		for _, how := range []string{passed, skipped} {
			if said, _, ok := strings.Cut(string(out), "\n--- "+how+": "+name+" ("); ok {
				return said, how
			}
		}
	}
	return strings.TrimSpace(string(out)) + "\nThe process that ran it: " + text(err), failed
}

// text is what err says, or that there is none.
func text(err error) string {
	if err == nil {
		return "it ended well, without a word on the test"
	}
	return err.Error()
}
