package badgerdir_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-search/parley/host/internal/base/badgerdir"
)

func small(dir string) badger.Options {
	return badger.DefaultOptions(dir).WithLogger(nil).WithMemTableSize(1 << 20).WithValueLogFileSize(1 << 20).WithValueThreshold(1 << 10)
}

// TestPrepare damages each file of a database, as a disk, a copy that broke off or a hand may:
// what Badger can make anew is made anew, and of the rest no value is lost without an error.
func TestPrepare(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "whole")
	open := func(dir string) (*badger.DB, error) { return badger.Open(small(dir)) }
	for _, key := range []string{"first", "second"} { // of a table each
		db, err := open(whole)
		if err == nil {
			err = db.Update(func(tx *badger.Txn) error { return tx.Set([]byte(key), []byte("value of "+key)) })
		}
		if err == nil {
			err = db.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	files, err := os.ReadDir(whole)
	if err != nil {
		t.Fatal(err)
	}
	damages := map[string]func(path string, size int64) error{
		"missing": func(path string, _ int64) error { return os.Remove(path) },
		"empty":   func(path string, _ int64) error { return os.Truncate(path, 0) },
		"half":    func(path string, size int64) error { return os.Truncate(path, size/2) },
		"zeros":   func(path string, size int64) error { return os.WriteFile(path, make([]byte, size), 0o600) },
		"text": func(path string, _ int64) error {
			return os.WriteFile(path, []byte(strings.Repeat("not this ", 99)), 0o600)
		},
		"a folder": func(path string, _ int64) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
		"a bad end": func(path string, size int64) error {
			return errors.Join(os.Truncate(path, size-3), os.Truncate(path, size))
		},
	}
	spare := map[string]bool{"KEYREGISTRY": true, "DISCARD": true}
	for _, f := range files {
		if strings.HasSuffix(f.Name(), ".vlog") {
			continue // here it holds nothing
		}
		for how, damage := range damages {
			dir := filepath.Join(t.TempDir(), "damaged")
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, f.Name())
			info, err := os.Stat(path)
			if err == nil {
				err = damage(path, info.Size())
			}
			if err != nil {
				t.Fatal(err)
			}
			err = badgerdir.Prepare(dir)
			if _, is := errors.AsType[*badgerdir.DamageError](err); is && !spare[f.Name()] {
				left, err := os.ReadDir(dir)
				if want := len(files); err != nil || len(left) != want && !(how == "missing" && len(left) == want-1) {
					t.Errorf("%s %s: %d files are left, %v, want all %d", f.Name(), how, len(left), err, want)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s %s: Prepare: %v, want a DamageError or none", f.Name(), how, err)
				continue
			}
			db, err := open(dir)
			if err != nil {
				t.Errorf("%s %s: opened after Prepare: %v", f.Name(), how, err)
				continue
			}
			err = db.View(func(tx *badger.Txn) error {
				for _, key := range []string{"first", "second"} {
					if _, err := tx.Get([]byte(key)); err != nil {
						return err
					}
				}
				return nil
			})
			if err := errors.Join(err, db.Close()); err != nil {
				t.Errorf("%s %s: a value is lost: %v", f.Name(), how, err)
			}
		}
	}
	if err := badgerdir.Prepare(filepath.Join(whole, "none")); err != nil {
		t.Errorf("Prepare of a folder that is not there: %v, want none", err)
	}
}

// TestPrepareKilled opens what a killed process left: a log of changes, and perhaps a table that
// is not listed yet.
func TestPrepareKilled(t *testing.T) {
	dir, killed := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "killed")
	db, err := badger.Open(small(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Update(func(tx *badger.Txn) error { return tx.Set([]byte("key"), []byte("value")) }); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(killed, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(killed, "000009.sst"), []byte("half a table"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := badgerdir.Prepare(killed); err != nil {
		t.Errorf("Prepare: %v, want none", err)
	}
	again, err := badger.Open(small(killed))
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if _, err := os.Stat(filepath.Join(killed, "000009.sst")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the unlisted table: %v, want none", err)
	}
	if err := again.View(func(tx *badger.Txn) error { _, err := tx.Get([]byte("key")); return err }); err != nil {
		t.Error(err)
	}
}
