package outbox

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/parley-search/parley/host/internal/base/badgerdir"
)

// inMountSpace runs the test that calls it again, as a process with mounts of
// its own, and reports whether this is that process. It skips where that takes
// rights that the test does not have.
func inMountSpace(t *testing.T) bool {
	t.Helper()
	const inside = "TEST_MOUNT_SPACE"
	if os.Getenv(inside) == t.Name() {
		if err := syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
			t.Fatal(err)
		}
		return true
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root: it mounts a small disk of its own")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), inside+"="+t.Name())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSYS) {
		t.Skipf("cannot make a mount namespace: %v", err)
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// fillDisk writes zeros to file until the disk takes no more than least bytes.
func fillDisk(t *testing.T, file string, least uint64) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	free := badgerdir.FreeBelow(filepath.Dir(file))
	for piece := make([]byte, 64<<10); ; {
		left, err := free()
		if err != nil {
			t.Fatal(err)
		}
		if left <= least {
			return
		}
		if _, err := f.Write(piece[:min(left-least, uint64(len(piece)))]); errors.Is(err, syscall.ENOSPC) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestSpoolFullDisk fills a real disk below the spool: nothing is lost but what
// could not be kept, the process lives, and all goes on once there is room.
func TestFullDisk(t *testing.T) {
	if !inMountSpace(t) {
		return
	}
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=64m"); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) }()
	dir := filepath.Join(disk, "telemetry")
	s := openSpool(t, dir)
	keep(t, s, "one", spoolTime, message("a", 5000))
	for _, left := range []uint64{reserve - 1, 0} {
		fillDisk(t, filepath.Join(disk, "filler"), left)
		err := s.Keep(t.Context(), []byte("two"), nil, spoolTime)
		if err == nil || !strings.Contains(err.Error(), "the disk has only") {
			t.Errorf("Keep with %d bytes left: %v, want an error that says so", left, err)
		}
		if err := s.Delete(t.Context(), []string{"a"}); err == nil {
			t.Errorf("Delete with %d bytes left: no error", left)
		}
	}
	if got := pending(t, s); len(got) != 1 || got[0] != "a" {
		t.Errorf("on a full disk %q are pending, want a", got)
	}
	if _, err := Open(filepath.Join(disk, "another")); err == nil || !strings.Contains(err.Error(), "the disk has only") {
		t.Errorf("OpenSpool on a full disk: %v, want an error that says so", err)
	}
	if err := os.Remove(filepath.Join(disk, "filler")); err != nil {
		t.Fatal(err)
	}
	keep(t, s, "two", spoolTime, message("b", 5000))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openSpool(t, dir)
	if state, err := s.State(t.Context()); string(state) != "two" || err != nil || len(pending(t, s)) != 2 {
		t.Errorf("opened again: state %q, %v, pending %q, want two and both messages", state, err, pending(t, s))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestSpoolReadOnly opens a spool on a disk that takes nothing.
func TestReadOnly(t *testing.T) {
	if !inMountSpace(t) {
		return
	}
	dir := filepath.Join(t.TempDir(), "telemetry")
	s := openSpool(t, dir)
	keep(t, s, "one", spoolTime, message("a", 5000))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, flags := range []uintptr{syscall.MS_BIND, syscall.MS_BIND | syscall.MS_REMOUNT | syscall.MS_RDONLY} {
		if err := syscall.Mount(dir, dir, "", flags, ""); err != nil {
			t.Fatal(err)
		}
	}
	if s, err := Open(dir); err == nil {
		_ = s.Close()
		t.Error("OpenSpool on a read-only disk: no error")
	} else if !errors.Is(err, syscall.EROFS) && !strings.Contains(err.Error(), "read-only") {
		t.Errorf("OpenSpool on a read-only disk: %v, want an error that says so", err)
	}
	if err := syscall.Unmount(dir, 0); err != nil {
		t.Fatal(err)
	}
	s = openSpool(t, dir)
	if got := pending(t, s); len(got) != 1 || got[0] != "a" {
		t.Errorf("afterwards %q are pending, want a", got)
	}
}
