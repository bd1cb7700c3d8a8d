//go:build !unix

package transport

// ClosedByPeer cannot tell here: a client that left is noticed at the next
// write.
func ClosedByPeer(uintptr) bool { return false }
