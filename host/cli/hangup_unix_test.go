//go:build unix

package cli

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestHangup shows that SIGHUP makes a running host look at its plugins again.
// Nothing in its directory has changed, so that nothing else does.
func TestHangup(t *testing.T) {
	p := start(t, "serve", "--http-addr", "127.0.0.1:0", "--db-path", t.TempDir(), "--plugin-dir", t.TempDir(), "--plugin-lock=off")
	p.waitFor(" serving ") // from now on it listens for the signal
	p.waitFor("plugins applied")
	applied := func() int { return strings.Count(p.text(), "plugins applied") }
	if n := applied(); n != 1 {
		t.Fatalf("plugins were applied %d times at the start, want once", n)
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(time.Minute); applied() < 2; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("SIGHUP was not heeded: %s", p.text())
		}
	}
}
