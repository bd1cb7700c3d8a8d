//go:build !unix

package httpapi

// closedByPeer cannot tell here: a client that left is noticed at the next
// write.
func closedByPeer(uintptr) bool { return false }
