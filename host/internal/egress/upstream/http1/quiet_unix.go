//go:build unix

package http1

import (
	"errors"
	"net"
	"syscall"
)

// quiet reports whether nothing came over c while it waited, not even its end. Go's
// sockets never block, so that neither does this.
func quiet(c net.Conn) bool {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return true // of a test
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return false
	}
	var came error
	err = raw.Read(func(fd uintptr) bool {
		_, _, came = syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK)
		return true
	})
	return err == nil && errors.Is(came, syscall.EAGAIN)
}
