package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/setup/config"
)

// TestPreparesForPDF shows that a host which has served for a while has what reads PDF files compiled by its
// compiler, and before any came.
func TestPreparesForPDF(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it waits for ten seconds first")
	}
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("no /bin/sh")
	}
	dir := t.TempDir()
	c, _, err := config.Load(config.Sources{Flags: map[string]string{"http-addr": "127.0.0.1:0", "db-path": dir, "plugin-cache-dir": filepath.Join(dir, "compiled")}})
	if err != nil {
		t.Fatal(err)
	}
	asked := filepath.Join(dir, "asked")
	h, err := host.Open(t.Context(), c, host.Options{Compiler: []string{"/bin/sh", "-c", `read -r job; echo "$job" >"$0"`, asked}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	waittest.For(t, "the job", func() bool {
		job, err := os.ReadFile(asked)
		return err == nil && strings.Contains(string(job), `"library":"pdf"`)
	})
}
