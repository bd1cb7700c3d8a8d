package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/parley-search/parley/host/internal/plugin"
)

// built builds the plugin in dir, or finds it built, and returns its module's
// file in the checkout's plugins/dist: all tests share what is there.
func built(t testing.TB, dir string) string {
	t.Helper()
	file, err := plugin.Build(t.Context(), dir, filepath.Join(root(t), distDir), nil)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// TestBuilt wants a plugin built once for all tests. It runs before those that run
// beside each other: with an empty cache each of them would have Go compile the
// library that all plugins share.
func TestBuilt(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a plugin")
	}
	dir := filepath.Join(root(t), "plugins", "provider", "vllm")
	before, err := os.Stat(built(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(built(t, dir))
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("a plugin that was built is built again: %v", err)
	}
}

// buildProvider puts a shipped plugin into dir.
func buildProvider(t testing.TB, name, dir string) {
	t.Helper()
	file := built(t, filepath.Join(root(t), "plugins", "provider", name))
	b, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, filepath.Base(file)), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// longVariable switches on the tests that mostly compile what others wrote;
// .ci/run sets it.
const longVariable = "LONG"

// skipUnlessLong skips a test that takes long, unless it is asked for.
func skipUnlessLong(t *testing.T, why string) {
	t.Helper()
	if os.Getenv(longVariable) == "" {
		t.Skipf("%s: %s=1 runs it", why, longVariable)
	}
}

// killRounds is how often a test kills the program: as often as KILLS says, else
// many times where long tests are switched on, else a few.
func killRounds(t *testing.T, few, many uint64) int {
	t.Helper()
	if os.Getenv(longVariable) == "" {
		many = few
	}
	return int(envNumber(t, "KILLS", many))
}

// root is the folder of go.mod.
func root(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err == nil {
		_, err = os.Stat(filepath.Join(dir, "go.mod"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
