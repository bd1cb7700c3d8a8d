package store

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/dgraph-io/badger/v4"
)

// TestLargerMemtables opens what a build with larger memtables left when it was
// killed.
func TestLargerMemtables(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	db, err := badger.Open(badger.DefaultOptions(filepath.Join(from, "badger")).WithLogger(nil).WithMemTableSize(16 << 20).WithValueLogFileSize(1 << 20))
	must(t, err)
	defer func() { must(t, db.Close()) }()
	value := make([]byte, 100<<10)
	const n = 100 // more than ours hold
	for i := range n {
		must(t, db.Update(func(tx *badger.Txn) error { return tx.Set(fmt.Appendf(nil, "w/%d", i), value) }))
	}
	// As it is, in the middle: nothing of it was closed.
	must(t, os.CopyFS(to, os.DirFS(from)))
	must(t, os.Remove(filepath.Join(to, "badger", "LOCK")))

	s, err := Open(to)
	must(t, err)
	defer func() { must(t, s.Close()) }()
	got := 0
	must(t, s.db.View(func(tx *badger.Txn) error {
		return eachKey(tx, []byte("w/"), func(*badger.Item) error { got++; return nil })
	}))
	if got != n {
		t.Errorf("%d of %d records are there", got, n)
	}
}
