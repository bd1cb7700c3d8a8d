package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPluginSync restores the file of a shipped plugin from this program, leaves the lock
// as it is, and ends with 1 where a file cannot be had.
func TestPluginSync(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds a plugin")
	}
	dir := filepath.Join(t.TempDir(), "plugins")
	plugin := func(want int, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if code := run(t.Context(), append(append([]string{"plugin"}, args...), "--plugin-dir", dir), &out, &errs); code != want {
			t.Fatalf("plugin %s: code %d, %s%s", args, code, &out, &errs)
		}
		return out.String() + errs.String()
	}
	if said := plugin(exitFailed, "sync"); !strings.Contains(said, "no plugins.lock in "+dir+": put it back") {
		t.Errorf("sync without a lock said %s", said)
	}
	plugin(exitOK, "install", "extract")
	plugin(exitOK, "install", small(t, t.TempDir(), "1.0.0"))
	lock := readFile(t, filepath.Join(dir, "plugins.lock"))
	files, err := filepath.Glob(filepath.Join(dir, "*.wasm"))
	if err != nil || len(files) != 2 {
		t.Fatalf("the directory has %q, %v", files, err)
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	said := plugin(exitFailed, "sync")
	if !strings.Contains(said, "fetched  extract ") || !strings.Contains(said, "failed ") || !strings.Contains(said, "copy the file with sha256 ") || !strings.Contains(said, "1 pinned plugin is not as the lock says") {
		t.Errorf("sync said\n%s", said)
	}
	if now := readFile(t, filepath.Join(dir, "plugins.lock")); now != lock {
		t.Errorf("sync changed the lock to\n%s", now)
	}
	if said := plugin(exitFailed, "verify"); strings.Count(said, "ok  ") != 1 || !strings.Contains(said, "`parley plugin sync --plugin-dir "+dir+"`") {
		t.Errorf("verify said\n%s", said)
	}
}
