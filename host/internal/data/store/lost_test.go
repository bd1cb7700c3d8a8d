package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/data/store"
)

// TestDatabaseGone: a directory that has what goes with a database, and none, is not taken
// for a new one: what is there would be removed as left over.
func TestDatabaseGone(t *testing.T) {
	for _, name := range []string{"indexes", "bodies"} {
		dir := t.TempDir()
		s, err := store.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		at, away, kept := filepath.Join(dir, "badger"), filepath.Join(dir, "away"), filepath.Join(dir, name, "one")
		if err := errors.Join(os.MkdirAll(filepath.Dir(kept), 0o700), os.WriteFile(kept, []byte("x"), 0o600), os.Rename(at, away)); err != nil {
			t.Fatal(err)
		}
		if s, err := store.Open(dir); err == nil || !strings.Contains(err.Error(), "the database, in badger beside it, is gone") {
			t.Errorf("%s without a database: %v, want an error", name, err)
			if err == nil {
				_ = s.Close() // of what should not be open
			}
		}
		if _, err := os.Stat(kept); err != nil {
			t.Errorf("%s lost what it had: %v", name, err)
		}
		if err := os.Rename(away, at); err != nil {
			t.Fatal(err)
		}
		if s, err = store.Open(dir); err != nil {
			t.Fatalf("once it is back: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	for _, name := range []string{"indexes", "bodies"} {
		if err := os.MkdirAll(filepath.Join(dir, name, "lost+found", "x"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	fresh, err := store.Open(dir)
	if err != nil {
		t.Fatalf("a new directory with a disk of its own for indexes: %v", err)
	}
	if err := fresh.Close(); err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	if store.Exists(dir) {
		t.Error("an empty directory has a database")
	}
	if err := os.WriteFile(filepath.Join(dir, "badger"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if !store.Exists(dir) {
		t.Error("a database that cannot be listed is taken for none, and an import would replace it")
	}
}
