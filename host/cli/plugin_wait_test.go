package cli

import (
	"bytes"
	"strings"
	"testing"
)

// TestInstallWait returns once a running host serves what was installed, and says
// why where it does not.
func TestInstallWait(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a plugin and runs the program")
	}
	dir, shop := t.TempDir(), t.TempDir()
	h := live(t, t.TempDir(), dir)
	try := func(want int, said string, args ...string) {
		t.Helper()
		var out bytes.Buffer
		code := run(t.Context(), append([]string{"plugin", "install"}, args...), &out, &out)
		if code != want || !strings.Contains(out.String(), said) {
			t.Errorf("plugin install %s: code %d, want %d and %q\n%s", args, code, want, said, &out)
		}
	}
	try(exitOK, "serves   small 1.0.0", small(t, shop, "1.0.0"), "--plugin-dir", dir, "--wait", "--url", h.url)
	try(exitFailed, "the host does not run it", small(t, shop, "1.0.1"), "--plugin-dir", t.TempDir(), "--wait", "--url", h.url)
	try(exitFailed, "whether a host serves it is not known", small(t, shop, "1.0.2"), "--plugin-dir", dir, "--wait", "--url", "http://127.0.0.1:1")
}
