package house

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-search/parley/host/internal/base/waittest"
)

// CheckSecret makes sure that secret stands in no answer, no log line and no
// file of the data directory, where plain, which was stored along with it,
// does. The host is closed, so that all is on the disk.
func (h *House) CheckSecret(secret, plain string) {
	h.T.Helper()
	h.Must("GET", "/plugins", "")
	h.Must("GET", "/stats", "")
	h.Close()
	if strings.Contains(h.Saw(), secret) {
		h.T.Error("an answer holds the API key")
	}
	if log := h.Log.String(); strings.Contains(log, secret) {
		h.T.Errorf("the log holds the API key: %s", Around(log, secret))
	}
	err := filepath.WalkDir(h.Dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(name)
		if bytes.Contains(b, []byte(secret)) {
			h.T.Errorf("%s holds the API key", name)
		}
		return err
	})
	if err != nil {
		h.T.Errorf("read data directory: %v", err)
	}
	// The files are compressed, and might hide both.
	values, found := 0, false
	h.Values(func(key, value []byte) {
		values++
		found = found || bytes.Contains(value, []byte(plain))
		if bytes.Contains(value, []byte(secret)) || bytes.Contains(key, []byte(secret)) {
			h.T.Errorf("the database holds the API key, under %q", key)
		}
	})
	if !found {
		h.T.Errorf("%q is not among the %d values of the database", plain, values)
	}
}

// Values calls f with all that the database of a closed host holds.
func (h *House) Values(f func(key, value []byte)) {
	h.T.Helper()
	db := OpenDatabase(h.T, h.Dir)
	defer db.Close()
	err := db.View(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{AllVersions: true, PrefetchValues: true, PrefetchSize: 100})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			if err := it.Item().Value(func(v []byte) error { f(it.Item().Key(), v); return nil }); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		h.T.Error(err)
	}
}

// Around is the part of text about the first occurrence of what.
func Around(text, what string) string {
	at := strings.Index(text, what)
	if at < 0 {
		return "nothing"
	}
	return text[max(at-300, 0):min(at+300, len(text))]
}

// OpenDatabase opens the database of a closed host, below dir, for reading. A
// process that another test starts has the lock of it until it runs its own program.
func OpenDatabase(t testing.TB, dir string) (db *badger.DB) {
	t.Helper()
	var err error
	if !waittest.Until(func() bool {
		db, err = badger.Open(badger.DefaultOptions(filepath.Join(dir, "badger")).WithLogger(nil).WithReadOnly(true))
		return err == nil
	}) {
		t.Fatal(err)
	}
	return db
}
