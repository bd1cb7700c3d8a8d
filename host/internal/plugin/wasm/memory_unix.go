//go:build unix

package wasm

import "golang.org/x/sys/unix"

// reserve returns size bytes of zeroed memory outside the host's heap, which
// take room only once they are written to; nil where the system has none.
func reserve(size int) []byte {
	b, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil
	}
	return b
}

// release gives back what reserve or mapFile returned.
func release(b []byte) {
	if len(b) == 0 {
		return
	}
	if err := unix.Munmap(b); err != nil {
		panic("wasm: release of memory that was not reserved: " + err.Error())
	}
}
