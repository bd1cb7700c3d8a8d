package apart

import (
	"os"
	"strings"
	"testing"
	"time"
)

// TestRun is its own test that runs apart, and does there what the variable says.
func TestRun(t *testing.T) {
	const variable = "TEST_APART"
	switch os.Getenv(variable) {
	case "passes":
		t.Run("part", func(t *testing.T) { t.Skip("only a part of it") })
		t.Log("all is well")
		return
	case "skips":
		t.Skip("nothing to do it with")
	case "fails":
		t.Fatal("all is lost")
	case "ends":
		os.Exit(0)
	case "panics":
		go panic("somewhere else")
		select {}
	case "hangs":
		select {}
	}
	for does, want := range map[string]struct{ said, how string }{
		"passes": {"all is well", passed}, "skips": {"nothing to do it with", skipped}, "fails": {"all is lost", failed},
		"ends": {"without a word", failed}, "panics": {"somewhere else", failed}, "hangs": {"timed out", failed},
	} {
		t.Setenv(variable, does)
		timeout := time.Minute
		if does == "hangs" {
			timeout = 10 * time.Millisecond
		}
		if said, how := run(t.Context(), t.Name(), timeout); how != want.how || !strings.Contains(said, want.said) {
			t.Errorf("a test that %s: %s, %q; want %s and %q", does, how, said, want.how, want.said)
		}
	}
}
