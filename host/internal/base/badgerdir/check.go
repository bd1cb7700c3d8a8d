package badgerdir

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/ristretto/v2/z"

	"github.com/parley-search/parley/host/internal/base/sysinfo"
)

// A DamageError says that a file of a database is not as it was written, or is gone.
type DamageError struct {
	File string
	Err  error
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("%s: %v: restore the data directory from a backup", e.File, e.Err)
}

func (e *DamageError) Unwrap() error { return e.Err }

// Prepare makes dir, a folder of Badger's that need not be there, fit to be opened, or returns a
// [*DamageError] where it must not be: Badger takes tables that its list lacks for left over and
// removes them, goes on without those whose checksum is wrong, and ends the process for others.
func Prepare(dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := errors.Join(sweepEmpty(dir), sweepSpare(dir)); err != nil {
		return err
	}
	listed, err := listTables(dir)
	if err != nil {
		return err
	}
	for id, t := range listed.Tables {
		name := table.NewFilename(id, dir)
		if err := checkTable(name, t); err != nil {
			return &DamageError{name, err}
		}
	}
	return nil
}

// sweepSpare removes what Badger makes anew, where it could not read it: its list of keys, which
// is empty, since nothing is encrypted by it, and its notes on what can be removed.
func sweepSpare(dir string) error {
	registry, notes := filepath.Join(dir, "KEYREGISTRY"), filepath.Join(dir, "DISCARD")
	var err error
	if b, readErr := os.ReadFile(registry); readErr != nil || len(b) != 28 || !bytes.HasSuffix(b, []byte("Hello Badger")) {
		err = os.RemoveAll(registry)
	}
	if info, statErr := os.Stat(notes); statErr != nil || !info.Mode().IsRegular() {
		err = errors.Join(err, os.RemoveAll(notes))
	}
	return err
}

// listTables reads which tables belong to the database in dir.
func listTables(dir string) (listed badger.Manifest, err error) {
	name := filepath.Join(dir, badger.ManifestFilename)
	f, err := os.Open(name)
	if err == nil {
		listed, _, err = badger.ReplayManifestFile(f, 0, badger.DefaultOptions(dir).WithLogger(nil))
		err = errors.Join(err, f.Close())
	}
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return listed, &DamageError{name, err}
	}
	tables, err := sysinfo.Glob(dir, "*.sst")
	logs, err2 := sysinfo.Glob(dir, "*.mem")
	if err := errors.Join(err, err2); err != nil {
		return listed, err
	}
	if missing && len(tables)+len(logs) > 0 {
		return listed, &DamageError{name, errors.New("it is missing, and lists what belongs to the database")}
	}
	// A process that was killed while it wrote a table leaves it unlisted, and with it the log
	// that the table was made of.
	unlisted := slices.IndexFunc(tables, func(path string) bool {
		id, ok := table.ParseFileID(filepath.Base(path))
		_, is := listed.Tables[id]
		return ok && !is
	})
	if unlisted >= 0 && len(logs) == 0 {
		return listed, &DamageError{name, fmt.Errorf("it is not whole: %s belongs to the database, and is not listed", filepath.Base(tables[unlisted]))}
	}
	return listed, nil
}

// checkTable opens a table as Badger does, which checks its index. Badger does so in a goroutine
// of its own, whose panic ends the process.
func checkTable(name string, t badger.TableManifest) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = errors.New("its index cannot be read")
		}
	}()
	f, err := z.OpenMmapFile(name, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	opened, err := table.OpenTable(f, table.Options{ReadOnly: true, BlockSize: 4 << 10, Compression: t.Compression})
	if err != nil {
		return errors.Join(err, f.Close(-1))
	}
	return opened.Close(-1)
}
