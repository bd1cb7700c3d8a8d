package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
