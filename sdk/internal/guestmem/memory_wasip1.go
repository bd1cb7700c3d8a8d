package guestmem

import "unsafe"

// AddressOf returns where b lies, for the host. It stays there: Go's collector
// does not move what is in use, and what the host is told of is held by package
// variables.
func AddressOf(b []byte) uint32 {
	return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
}
