package badgerdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dustin/go-humanize"

	"github.com/parley-search/parley/host/internal/base/sysinfo"
)

const (
	// ballast is a file that takes room so that it can be given up: on a full disk nothing
	// could be opened else, and nothing deleted.
	ballast      = "ballast"
	ballastBytes = 48 << 20
	// opening is how many bytes must be free for a database to be opened: what its log has is
	// written as tables then, through mapped files.
	opening = 32 << 20
)

// MakeRoom makes sure that the database below dir can be opened: where the disk is too full for
// that, it gives up the ballast, and reports so.
func MakeRoom(dir string) (released bool, err error) {
	free := FreeBelow(dir)
	left, err := free()
	if err != nil || left >= opening {
		return false, nil // what is not known is found out by writing
	}
	if released, err = ReleaseBallast(dir); err != nil {
		return false, err
	}
	if left, err = free(); released && (err != nil || left >= opening) {
		return true, nil
	}
	return released, fmt.Errorf("the disk has only %s left, of which a start needs %s: make room, by moving dumps and snapshots for instance, and start again",
		Left(left), humanize.IBytes(opening))
}

// ReleaseBallast gives up the ballast of dir, and reports whether there was one.
func ReleaseBallast(dir string) (released bool, err error) {
	err = os.Remove(filepath.Join(dir, ballast))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("give up the ballast of a full disk: %w", err)
	}
	return err == nil, nil
}

// KeepBallast makes sure that dir has its ballast, where the disk has spare bytes beside it.
// Without one everything works but a start on a full disk, so that no error is one.
func KeepBallast(dir string, spare uint64) {
	name := filepath.Join(dir, ballast)
	if left, err := sysinfo.FreeBytes(dir); err != nil || left < spare+ballastBytes {
		return
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	// Also of one that is there: a copy of the directory may have it as a hole.
	err = sysinfo.Allocate(f, ballastBytes)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(name)
	}
}
