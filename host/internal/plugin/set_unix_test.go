//go:build unix

package plugin_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/parley-search/parley/host/internal/plugin"
)

// TestReadPipe: a named pipe in the plugin folder is refused, not waited for.
func TestReadPipe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pipe.wasm")
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Skipf("no named pipe can be made here: %v", err)
	}
	if _, err := plugin.ReadFile(file); err == nil || !strings.Contains(err.Error(), "is no regular file") {
		t.Errorf("ReadFile of a named pipe: %v, want that it is no regular file", err)
	}
}
