package badgerdir_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/parley-search/parley/host/internal/base/badgerdir"
)

// TestBallastAgain makes the ballast of a directory, that which was given up, and that which
// copying the directory has left as a hole.
func TestBallastAgain(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "ballast")
	taken := func() int64 {
		var st syscall.Stat_t
		if err := syscall.Stat(name, &st); err != nil {
			return 0
		}
		return st.Blocks * 512
	}
	badgerdir.KeepBallast(dir, 0)
	want := taken()
	if want < 48<<20 {
		t.Skipf("no file of 48 MiB can be made here: it takes %d bytes", want)
	}
	if released, err := badgerdir.ReleaseBallast(dir); !released || err != nil || taken() != 0 {
		t.Fatalf("released %v, %v; %d bytes are taken, want none", released, err, taken())
	}
	badgerdir.KeepBallast(dir, 0)
	if got := taken(); got < 48<<20 {
		t.Errorf("after it was given up it takes %d bytes, want %d", got, want)
	}
	if err := errors.Join(os.Truncate(name, 0), os.Truncate(name, 48<<20)); err != nil || taken() >= 48<<20 {
		t.Fatalf("a hole: %v, %d bytes", err, taken())
	}
	badgerdir.KeepBallast(dir, 1<<60)
	if got := taken(); got >= 48<<20 {
		t.Errorf("without room it takes %d bytes, want the hole", got)
	}
	badgerdir.KeepBallast(dir, 0)
	if got := taken(); got < 48<<20 {
		t.Errorf("as a hole it takes %d bytes, want %d", got, want)
	}
}
