package backup

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/data/archive"
	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/setup/config"
)

// TestCheckArchive refuses files that are no archive, naming the file.
func TestCheckArchive(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"empty": "", "text": "no archive at all\n", "gzip": "\x1f\x8b\x08rest"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := checkArchive("dump", path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want an error that names the file", name, err)
		}
	}
	if err := checkArchive("dump", filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// TestRestoreKeepsData restores nothing over a database that is there.
func TestRestoreKeepsData(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "kept"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(t.TempDir(), "x.dump")
	if err := os.WriteFile(archive, []byte("no archive"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), config.Config{DBPath: dir}, "dump", archive); err == nil {
		t.Error("what is no archive is restored")
	}
	if b, err := os.ReadFile(filepath.Join(dir, "kept")); err != nil || string(b) != "mine" {
		t.Errorf("the directory has %q, %v, want it as it was", b, err)
	}
}

// TestHostileArchives: an archive that is whole, and was made to do harm, is refused, and
// nothing of it is left.
func TestHostileArchives(t *testing.T) {
	index := func(uid, folder string) map[string]string {
		return map[string]string{"indexes": fmt.Sprintf(`{"key":%q,"value":{"UID":%q,"Folder":%q,"Settings":{}}}`+"\n", uid, uid, folder)}
	}
	part := func(length uint64) map[string]string {
		return map[string]string{streamDatabase: string(binary.LittleEndian.AppendUint64(nil, length)) + "x"}
	}
	for name, tt := range map[string]struct {
		kind    string
		streams map[string]string
		want    string
	}{
		"a folder outside":           {archive.Dump, index("films", "../../victim"), "names the folder"},
		"the folder of all":          {archive.Dump, index("films", "."), "names the folder"},
		"a uid that is a path":       {archive.Dump, index("../victim", ""), "has one name"},
		"a record that is null":      {archive.Dump, map[string]string{"indexes": `{"key":"films","value":null}` + "\n"}, "has one name"},
		"a body outside":             {archive.Dump, map[string]string{streamBodies + "../victim/x": "x"}, "is not a path"},
		"a file outside":             {archive.Snapshot, map[string]string{streamFolders + "../../victim/x": "x"}, "outside the indexes"},
		"a switch of its own":        {archive.Dump, map[string]string{"switches": `{"key":"format","value":9}` + "\n"}, "a database's own"},
		"a part as long as can be":   {archive.Snapshot, part(math.MaxUint64), "there are none over"},
		"a part of terabytes":        {archive.Snapshot, part(1 << 42), "there are none over"},
		"a part longer than what is": {archive.Snapshot, part(100), "unexpected EOF"},
		"a part that is none":        {archive.Snapshot, part(1), "restore database"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			victim, db, path := filepath.Join(dir, "victim"), filepath.Join(dir, "a", "data"), filepath.Join(dir, "x.archive")
			if err := os.Mkdir(victim, 0o700); err != nil {
				t.Fatal(err)
			}
			err := archive.Create(path, archive.Head{Kind: tt.kind, Version: "0.0.0", Data: store.Format}, func(w *archive.Writer) error {
				for name, text := range tt.streams {
					if err := w.Stream(name, copied(strings.NewReader(text))); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			_, err = Restore(t.Context(), config.Config{DBPath: db, PluginDir: filepath.Join(dir, "plugins")}, tt.kind, path)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Restore: error %v, want one with %q", err, tt.want)
			}
			if left, err := os.ReadDir(victim); err != nil || len(left) > 0 || store.Exists(db) {
				t.Errorf("left beside the data: %v, %v; a database: %v", left, err, store.Exists(db))
			}
		})
	}
}

// TestSweep removes what a crash left of snapshots, and nothing else.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{snapshotFolders + "123", "indexes"} {
		if err := os.MkdirAll(filepath.Join(dir, name, "a"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(Sweep(dir), Sweep(filepath.Join(dir, "none"))); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) != 1 || filepath.Base(left[0]) != "indexes" {
		t.Errorf("left are %q, %v, want the indexes alone", left, err)
	}
}

// TestErrorsForClients shows what went wrong, without the paths of this machine.
func TestErrorsForClients(t *testing.T) {
	err := fmt.Errorf("write dump: %w", &fs.PathError{Op: "write", Path: "/data/secret/x", Err: errors.New("no space left")})
	if got := plain(err); got != "write: no space left" {
		t.Errorf("clients see %q", got)
	}
	c := config.Config{DBPath: "/var/lib/parley", SnapshotDir: "/backup"}
	if got, want := snapshotFile(c), filepath.Join("/backup", "parley"+snapshotSuffix); got != want {
		t.Errorf("the snapshot is %s, want %s", got, want)
	}
}
