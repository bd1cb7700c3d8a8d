package store

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/dgraph-io/badger/v4"
)

// TestEmptyLogs opens what kills leave where Badger makes a log, or removes one:
// a file without a byte.
func TestEmptyLogs(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir)
	must(t, err)
	must(t, s.db.Update(func(tx *badger.Txn) error { return tx.Set([]byte("w/kept"), []byte("value")) }))
	must(t, s.Close())
	for _, name := range []string{"00000.mem", "00099.mem", "000099.vlog"} {
		must(t, os.WriteFile(filepath.Join(dir, "badger", name), nil, 0o600))
	}

	s, err = Open(dir)
	if err != nil {
		t.Fatalf("open with empty logs: %v", err)
	}
	defer func() { must(t, s.Close()) }()
	must(t, s.db.View(func(tx *badger.Txn) error {
		got, err := get(tx, []byte("w/kept"))
		if string(got) != "value" {
			t.Errorf("record = %q, want what was written", got)
		}
		return err
	}))
}
