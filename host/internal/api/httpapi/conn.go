package httpapi

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/parley-search/parley/host/internal/api/httpapi/transport"
	"github.com/parley-search/parley/host/internal/base/memory"
)

// sendBuffer bounds, in bytes, what the system keeps for a client that does not read. An
// answer then waits where it comes from, not as megabytes in the system's buffers.
const sendBuffer = 256 << 10

// maxLinger bounds what is read of a client that is being turned away.
const maxLinger = 16 << 20

// A conn is a client's connection.
type conn struct {
	net.Conn
	server *Server
	from   netip.Addr      // whose it is; see clientNetwork
	idle   atomic.Int64    // since when the client is waited for, in Unix nanoseconds; 0: it is not
	base   context.Context // that work for its requests runs under; it has loan
	loan   *memory.Loan    // of the request under way
	asked  bool            // a request was answered since the last wait for one; the server's goroutine alone
	// unwritten: the request came together with the one before it, whose answer the
	// server writes with the next; the server's goroutine alone.
	unwritten bool
	linger    atomic.Bool       // bytes of the client are unread: see Close
	framing   transport.Framing // of the requests that were read
	closing   sync.Once
	err       error

	// Of a connection that answers take over: see takeOver.
	answer  atomic.Pointer[answering] // to begin yet
	ahead   []byte                    // of the next request, read and given back
	held    bool                      // Read has no more than ahead
	kept    atomic.Int32              // how many calls of Close are to do nothing; see takeOver
	resting bool                      // nothing is asked; guarded by conns.mu
}

// Read implements [net.Conn].
func (c *conn) Read(b []byte) (int, error) {
	if len(c.ahead) > 0 {
		n := copy(b, c.ahead)
		c.ahead = c.ahead[n:]
		return n, nil
	}
	if c.held {
		return 0, io.EOF
	}
	return c.readChecked(b)
}

// readChecked reads what comes in, up to the first byte that is wrong in HTTP: what
// is behind it never gets to the server. Its error is a [transport.Malformed] then.
func (c *conn) readChecked(b []byte) (int, error) {
	if _, bad := c.framing.Check(nil); bad != nil {
		return 0, bad
	}
	if c.asked && !c.framing.InBody() { // and the answer is written: the server waits for what comes next
		c.asked = false
		c.loan.Close()
		c.idle.Store(time.Now().UnixNano())
	}
	busy := c.idle.CompareAndSwap(0, time.Now().UnixNano()) // while a body does not come, nothing is done
	n, err := c.Conn.Read(b)
	if busy {
		c.idle.Store(0)
	}
	passed, bad := c.framing.Check(b[:n])
	switch {
	case bad == nil:
		return n, err
	case passed > 0:
		return passed, nil
	}
	return 0, bad
}

// BrokenOff reports whether what follows the last chunk is not HTTP.
func (c *conn) BrokenOff() bool { return c.framing.BrokenOff() }

// Malformed says what was wrong with what came in; "" where nothing was.
func (c *conn) Malformed() transport.Malformed {
	_, err := c.framing.Check(nil)
	why, _ := errors.AsType[transport.Malformed](err)
	return why
}

// takeBack has the next Read return what from, a buffer of this connection, has
// read ahead.
func (c *conn) takeBack(from io.Reader) {
	c.held = true
	ahead, _ := io.ReadAll(from) // ends with the EOF of Read
	c.held = false
	if len(ahead) > 0 { // else it would hold an empty buffer
		c.ahead = ahead
	}
}

// awaitRequest waits for the next request and reports whether it has begun. Until then
// the connection holds no buffer.
func (c *conn) awaitRequest() bool {
	if len(c.ahead) > 0 {
		return true
	}
	if !c.server.conns.markIdle(c) {
		return false
	}
	defer c.server.conns.markBusy(c)
	one := make([]byte, 1)
	n, _ := c.readChecked(one) // an error: there is no next request
	c.ahead = one[:n]
	return n > 0
}

// Write implements [net.Conn]. A client that does not read loses its
// connection after a while, and with it the answer under way.
func (c *conn) Write(b []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(c.server.Limits.Write)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

// Close implements [net.Conn]. Closing a socket with unread bytes resets it,
// and the client may lose the answer that told it why: so read on for a
// while where that is the case.
func (c *conn) Close() error {
	for n := c.kept.Load(); n > 0; n = c.kept.Load() {
		if c.kept.CompareAndSwap(n, n-1) {
			return nil
		}
	}
	c.closing.Do(func() {
		defer c.loan.Close()
		c.server.conns.remove(c)
		if half, ok := c.Conn.(interface{ CloseWrite() error }); ok && c.linger.Load() && half.CloseWrite() == nil {
			_ = c.SetReadDeadline(time.Now().Add(c.server.Limits.Linger))
			_, _ = io.CopyN(io.Discard, c.Conn, maxLinger)
		}
		c.err = c.Conn.Close()
		if a := c.answer.Swap(nil); a != nil {
			c.server.dropAnswer(a)
		}
	})
	return c.err
}

// isGone reports whether the client has closed its side. It never blocks, and
// says false where it cannot tell.
func (c *conn) isGone() bool {
	inner := c.Conn
	if over, ok := inner.(*tls.Conn); ok {
		inner = over.NetConn()
	}
	sys, ok := inner.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := sys.SyscallConn()
	if err != nil {
		return false
	}
	closed := false
	// Control and not Read: the deadline for reading the request may be over.
	err = raw.Control(func(fd uintptr) { closed = transport.ClosedByPeer(fd) })
	return err != nil || closed
}
