package httpapi

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime/debug"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/parley-search/parley/host/internal/base/memory"
)

// A listener takes connections until it is closed. What the system lacks for a
// while, such as descriptors or memory, is waited out.
type listener struct {
	net.Listener
	server *Server
	tls    *tls.Config // nil: none
	closed chan struct{}
	once   sync.Once
	err    error
	warned time.Time // of what is in the way of connections; see logShortage
}

// Close implements [net.Listener]. Closing it again is not an error.
func (l *listener) Close() error {
	l.once.Do(func() {
		close(l.closed)
		l.err = l.Listener.Close()
	})
	return l.err
}

// Accept implements [net.Listener] for a server that only needs to know when there
// are no more connections: each is served here, in a goroutine of ours, so that a
// panic in the server's own code ends one connection and not the host.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.acceptConn()
		if err != nil {
			return nil, err
		}
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetWriteBuffer(sendBuffer) // where that fails, the system's own measure holds
		}
		from := clientNetwork(c.RemoteAddr())
		if l.tls != nil {
			c = tls.Server(c, l.tls) // the handshake comes with the first read, in the time that a request has
		}
		conn := &conn{Conn: c, server: l.server, from: from, loan: l.server.Memory.Lend(l.server.Limits.Answer)}
		conn.base = memory.With(l.server.ctx, conn.loan)
		conn.idle.Store(time.Now().UnixNano())
		if !l.server.conns.add(conn, l.server.Limits.Connections, l.server.behindProxy(from)) {
			l.logShortage("a connection was refused: as many are busy as --http-max-connections allows, or half of them are one client's", nil)
			l.refuseConn(c)
			continue
		}
		l.server.taken.Add(1)
		go l.server.serveNew(conn)
	}
}

// Pauses between two tries to take a connection while the system lacks something.
const (
	shortestPause = 5 * time.Millisecond
	longestPause  = time.Second
)

// acceptConn returns the next connection; an error: there will be none any more.
func (l *listener) acceptConn() (net.Conn, error) {
	for pause := shortestPause; ; pause = min(2*pause, longestPause) {
		c, err := l.Listener.Accept()
		if err == nil || isFinal(err) {
			return c, err
		}
		l.server.conns.closeIdle(nil) // descriptors are what it lacks most often
		l.logShortage("no connection can be taken for now", err)
		select {
		case <-time.After(pause):
		case <-l.closed:
		}
	}
}

// isFinal reports whether a listener that failed with err takes no connection any
// more. All else passes: limits of the system, and errors of the network that are
// those of one connection.
func isFinal(err error) bool {
	for _, final := range []error{net.ErrClosed, syscall.EBADF, syscall.EINVAL, syscall.ENOTSOCK} {
		if errors.Is(err, final) {
			return true
		}
	}
	return false
}

// logShortage logs what is in the way of connections, once a minute at most.
func (l *listener) logShortage(what string, err error) {
	if time.Since(l.warned) > time.Minute {
		l.warned = time.Now()
		l.server.Log.Warn().Err(err).Msg(what)
	}
}

// busy is the answer to a connection that there is no room for.
const busy = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"

// refuseConn ends a connection that nothing was read of.
func (l *listener) refuseConn(c net.Conn) {
	if l.tls == nil && c.SetWriteDeadline(time.Now().Add(time.Second)) == nil {
		_, _ = c.Write([]byte(busy)) // into a buffer that is empty
	}
	_ = c.Close() // nobody is left to be told
}

// clientNetwork is what connections of one client have in common: its address, or
// the network of an IPv6 one, in which it has as many as it likes.
func clientNetwork(a net.Addr) netip.Addr {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	ip := tcp.AddrPort().Addr().Unmap().WithZone("")
	if ip.Is6() {
		if p, err := ip.Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return ip
}

// behindProxy reports whether connections from an address are those of many clients.
func (s *Server) behindProxy(from netip.Addr) bool {
	return slices.ContainsFunc(s.Site.Proxies, func(p netip.Prefix) bool { return p.Contains(from) })
}

// serveNew serves a new connection.
func (s *Server) serveNew(c *conn) {
	defer s.taken.Done()
	defer s.containPanic(c)
	if s.down.Load() {
		_ = c.Close() // nobody is left to be told
		return
	}
	growStack(false)
	s.serveConn(c)
}

// serveConn serves the requests of c until it ends or an answer takes it over.
func (s *Server) serveConn(c *conn) {
	if err := s.app.Server().ServeConn(c); err != nil {
		s.Log.Debug().Err(err).Msg("connection ended")
	}
}

// containPanic is deferred where a connection is served: a panic, of whichever code, ends
// that connection alone.
func (s *Server) containPanic(c *conn) {
	if p := recover(); p != nil {
		s.Log.Error().Str("panic", fmt.Sprintf("%T", p)).Bytes("stack", debug.Stack()).Msg("connection panicked")
		_ = c.Close() // nobody is left to be told
	}
}

// conns are the open connections. Its zero value is ready.
type conns struct {
	mu   sync.Mutex
	open map[*conn]struct{}
	from map[netip.Addr]int // how many of them are each client's
	down bool               // none may rest any more
}

// add counts c among the open connections, of which there are at most most, and
// half of them of one client; shared: c is of many clients. Where there is no room,
// those are closed whose clients sent nothing for longest; false: nobody's is idle.
func (s *conns) add(c *conn, most int, shared bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open, s.from = make(map[*conn]struct{}), make(map[netip.Addr]int)
	}
	if len(s.open) >= most && !s.closeIdleLocked(nil) {
		return false
	}
	if !shared && s.from[c.from] >= max(1, most/2) && !s.closeIdleLocked(&c.from) {
		return false
	}
	s.open[c] = struct{}{}
	s.from[c.from]++
	return true
}

func (s *conns) remove(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeLocked(c)
}

func (s *conns) removeLocked(c *conn) {
	if _, ok := s.open[c]; !ok {
		return
	}
	delete(s.open, c)
	if s.from[c.from]--; s.from[c.from] == 0 {
		delete(s.from, c.from)
	}
}

// closeIdle closes connections whose clients sent nothing for longest, of one client
// or, nil, of all, and reports whether there were any.
func (s *conns) closeIdle(of *netip.Addr) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closeIdleLocked(of)
}

// idleShare is which part of the idle connections is closed at a time: to look for
// the oldest is work, which is not done anew for each.
const idleShare = 64

func (s *conns) closeIdleLocked(of *netip.Addr) bool {
	type waiting struct {
		c     *conn
		since int64
	}
	var idle []waiting
	for c := range s.open {
		if since := c.idle.Load(); since != 0 && (of == nil || c.from == *of) {
			idle = append(idle, waiting{c, since})
		}
	}
	slices.SortFunc(idle, func(a, b waiting) int { return int(min(max(a.since-b.since, -1), 1)) })
	for _, w := range idle[:(len(idle)+idleShare-1)/idleShare] {
		s.removeLocked(w.c)
		_ = w.c.Conn.Close() // not Close of conn, which takes the lock; the server calls it
	}
	return len(idle) > 0
}

// markIdle says that c waits for a next request; false: it may not.
func (s *conns) markIdle(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down || c.SetReadDeadline(time.Now().Add(c.server.Limits.Idle)) != nil {
		return false
	}
	c.resting = true
	return true
}

func (s *conns) markBusy(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.resting = false
}

// endRest has every connection that rests, now or later, end.
func (s *conns) endRest() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = true
	for c := range s.open {
		if c.resting {
			_ = c.SetReadDeadline(time.Unix(1, 0)) // long ago; an error: it has ended
		}
	}
}

// closeAll closes what is open, whatever happens on it.
func (s *conns) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.open {
		_ = c.Conn.Close() // not c.Close, which takes the lock; the server calls it
	}
}
