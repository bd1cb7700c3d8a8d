package wasm

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// reserve returns size bytes of zeroed memory outside the host's heap, which
// take room only once they are written to; nil where the system has none.
func reserve(size int) []byte {
	at, err := windows.VirtualAlloc(0, uintptr(size), windows.MEM_RESERVE|windows.MEM_COMMIT, windows.PAGE_READWRITE)
	if err != nil {
		return nil
	}
	// Not memory of Go's, so that its rules of pointers do not hold for it.
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), size)
}

// release gives back what reserve or mapFile returned.
func release(b []byte) {
	if len(b) == 0 {
		return
	}
	if err := windows.VirtualFree(uintptr(unsafe.Pointer(unsafe.SliceData(b))), 0, windows.MEM_RELEASE); err != nil {
		panic("wasm: release of memory that was not reserved: " + err.Error())
	}
}
