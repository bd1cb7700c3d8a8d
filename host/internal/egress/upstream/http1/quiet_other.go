//go:build !unix

package http1

import "net"

// quiet is not known here: a request over a connection that has ended fails, and
// may be sent again.
func quiet(net.Conn) bool { return true }
