package httpapi

import "golang.org/x/sys/unix"

// States of a TCP connection, as the kernel numbers them.
const (
	tcpEstablished = 1
	tcpSynRecv     = 3
)

// closedByPeer reports whether the other end of the socket fd has closed its
// side. Bytes that it sent before (the farewell of TLS, a next request) do not
// hide that, as they would from a look at what there is to read.
func closedByPeer(fd uintptr) bool {
	info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
	return err != nil || info.State != tcpEstablished && info.State != tcpSynRecv
}
