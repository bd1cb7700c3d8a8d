package wasm

import (
	"bufio"
	"bytes"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestReadMappedWithoutRoom reads the machine code into memory where the file that it was
// to be mapped from has no room, from the begin or midway.
func TestReadMappedWithoutRoom(t *testing.T) {
	want := bytes.Repeat([]byte("0123456789abcdef"), 20<<10)
	for _, room := range []int64{0, 64 << 10, 128 << 10} {
		fd, err := unix.MemfdCreate("code", unix.MFD_ALLOW_SEALING)
		if err != nil {
			t.Fatal(err)
		}
		f := os.NewFile(uintptr(fd), "code")
		defer f.Close()
		if err := f.Truncate(room); err != nil {
			t.Fatal(err)
		}
		if _, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_GROW); err != nil {
			t.Fatal(err)
		}
		k := &keptCode{unpacked: bufio.NewReader(bytes.NewReader(want))}
		got := reserve(len(want))
		defer release(got)
		if n, err := k.readMapped(f, got); n != len(want) || err != nil || !bytes.Equal(got, want) {
			t.Errorf("with room for %d bytes: read %d, %v; they are right: %v", room, n, err, bytes.Equal(got, want))
		}
		if k.code != nil {
			t.Errorf("with room for %d bytes: the code is said to be mapped", room)
		}
		cut := &keptCode{unpacked: bufio.NewReader(bytes.NewReader(want[:len(want)-1]))}
		if n, err := cut.readMapped(f, got); n != 0 || err == nil {
			t.Errorf("with room for %d bytes, of code that is cut: read %d, %v, want an error", room, n, err)
		}
	}
}
