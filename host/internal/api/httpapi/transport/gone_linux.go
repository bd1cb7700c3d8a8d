package transport

import "golang.org/x/sys/unix"

// ClosedByPeer reports whether the other end of the socket fd has closed its
// side. Bytes that it sent before (the farewell of TLS, a next request) do not
// hide that, as they would from a look at what there is to read. It allocates
// nothing: it is asked of every open stream, twice a second.
func ClosedByPeer(fd uintptr) bool {
	look := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
	n, err := unix.Poll(look[:], 0)
	return err == nil && n > 0 // an error: a signal came; the next look tells
}
