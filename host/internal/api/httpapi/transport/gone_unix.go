//go:build unix && !linux

package transport

import (
	"errors"

	"golang.org/x/sys/unix"
)

// ClosedByPeer reports whether the other end of the socket fd has closed its
// side, without taking a byte from it. What the client sent before that and
// nobody read hides it.
func ClosedByPeer(fd uintptr) bool {
	var one [1]byte
	n, _, err := unix.Recvfrom(int(fd), one[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	switch {
	case err == nil:
		return n == 0
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
		return false
	default:
		return true
	}
}
