package outbox

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestEmptyLogs opens what kills leave where Badger makes a log, or removes one:
// a file without a byte.
func TestEmptyLogs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "telemetry")
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	err = s.Close()
	for _, name := range []string{"00000.mem", "00099.mem", "000099.vlog"} {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	if s, err = Open(dir); err != nil {
		t.Fatalf("open with empty logs: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
