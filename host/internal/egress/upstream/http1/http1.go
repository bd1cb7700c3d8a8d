// Package http1 sends requests by HTTP/1.1 without TLS, over connections that have
// no goroutines of their own. Those of package net/http have two each, whose
// stacks and channels are a third of what an open stream costs, and hand each
// request and its answer over twice. What is written and read is net/http's.
package http1

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"
)

// A Transport is a pool of connections. It does for a request what [http.Transport]
// does, with two exceptions. It never sends a request again. And it reads no answer
// before all of the request is written, or cannot be: so a body has to be small
// enough to be sent before the other side reads it. A response does not hold its
// request. The fields must not change once it is in use. Safe for concurrent use.
type Transport struct {
	Dial    func(ctx context.Context, network, address string) (net.Conn, error)
	MaxHead int64 // bytes of a response's head

	ReadBuffer     int           // bytes that a connection reads at once, at least
	MaxIdle        int           // connections that wait
	MaxIdlePerHost int           // of them to one address
	IdleFor        time.Duration // how long one waits

	mu   sync.Mutex
	idle map[string][]*connection // by address, the last used at the end
	all  int                      // of idle
}

var _ http.RoundTripper = (*Transport)(nil)

// A connection is lent to one request at a time.
type connection struct {
	net.Conn
	t       *Transport
	address string
	in      *bufio.Reader
	left    int64 // bytes that may be read; more is an errHead
	timer   *time.Timer
	reused  bool

	broken error // what ended a wait, which the system says once

	full  bool    // the last read of a body filled what it was given: more waits
	store *[]byte // one of stores, while ahead is not empty
	ahead []byte  // of the body, read and not asked for yet
}

// stores hold what is read ahead. A connection has one only while something is in
// it, which a stream that waits has not.
var stores = sync.Pool{New: func() any {
	b := make([]byte, 16<<10)
	return &b
}}

// errHead is what a connection reads where the head is longer than it may be.
var errHead = errors.New("the answer's headers exceeded the limit")

// afterHangUp is how long an answer may take to be read where a request could not be
// written.
const afterHangUp = time.Second

// writers are used for as long as a request is written.
var writers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, 4<<10) }}

// RoundTrip implements [http.RoundTripper]. The trace in the request's context is
// told of the connection, the request and the first byte of the answer.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	trace := httptrace.ContextClientTrace(ctx)
	if trace == nil {
		trace = &httptrace.ClientTrace{}
	}
	c, err := t.connect(ctx, addressOf(req))
	if err != nil {
		closeBody(req)
		return nil, err
	}
	if trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{Conn: c.Conn, Reused: c.reused, WasIdle: c.reused})
	}
	stop := context.AfterFunc(ctx, func() { c.Conn.Close() })
	resp, err := c.exchange(req, trace)
	if err != nil {
		stop()
		c.Conn.Close()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	keep := !resp.Close && !req.Close && resp.StatusCode != http.StatusSwitchingProtocols
	resp.Body = &body{from: resp.Body, connection: c, stop: stop, keep: keep}
	return resp, nil
}

// addressOf is where req goes.
func addressOf(req *http.Request) string {
	port := req.URL.Port()
	if port == "" {
		port = "80"
	}
	return net.JoinHostPort(req.URL.Hostname(), port)
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		req.Body.Close()
	}
}

// connect returns a connection that waits, or a new one.
func (t *Transport) connect(ctx context.Context, address string) (*connection, error) {
	for c := t.take(address); c != nil; c = t.take(address) {
		if quiet(c.Conn) {
			return c, nil
		}
		c.Conn.Close() // by the other side, or it says what nobody asked for
	}
	raw, err := t.Dial(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: raw, t: t, address: address}
	c.in = bufio.NewReaderSize(c, t.ReadBuffer)
	return c, nil
}

// take returns the connection to address that waited last, or nil.
func (t *Transport) take(address string) *connection {
	t.mu.Lock()
	defer t.mu.Unlock()
	waiting := t.idle[address]
	if len(waiting) == 0 {
		return nil
	}
	c := waiting[len(waiting)-1]
	t.drop(c)
	return c
}

// drop takes c from those that wait, if it does. The caller holds mu.
func (t *Transport) drop(c *connection) bool {
	waiting := t.idle[c.address]
	for i := len(waiting) - 1; i >= 0; i-- {
		if waiting[i] == c {
			c.timer.Stop()
			t.all--
			if len(waiting) == 1 {
				delete(t.idle, c.address)
				return true
			}
			copy(waiting[i:], waiting[i+1:])
			waiting[len(waiting)-1] = nil
			t.idle[c.address] = waiting[:len(waiting)-1]
			return true
		}
	}
	return false
}

// put keeps c for a later request, or closes it if enough connections are kept.
func (t *Transport) put(c *connection) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all >= t.MaxIdle || len(t.idle[c.address]) >= t.MaxIdlePerHost {
		c.Conn.Close()
		return
	}
	if t.idle == nil {
		t.idle = map[string][]*connection{}
	}
	c.reused = true
	t.idle[c.address] = append(t.idle[c.address], c)
	t.all++
	if c.timer == nil {
		c.timer = time.AfterFunc(t.IdleFor, c.expire)
	} else {
		c.timer.Reset(t.IdleFor)
	}
}

// expire closes a connection that waited for too long.
func (c *connection) expire() {
	c.t.mu.Lock()
	waited := c.t.drop(c)
	c.t.mu.Unlock()
	if waited {
		c.Conn.Close()
	}
}

// CloseIdleConnections closes the connections that wait.
func (t *Transport) CloseIdleConnections() {
	t.mu.Lock()
	idle := t.idle
	t.idle, t.all = nil, 0
	t.mu.Unlock()
	for _, waiting := range idle {
		for _, c := range waiting {
			c.timer.Stop()
			c.Conn.Close()
		}
	}
}

// Read implements [io.Reader], for the connection's buffer. That is small, since each
// open stream has one. Where more came than fits, as much as there is is read.
func (c *connection) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errHead
	}
	if c.broken != nil {
		return 0, c.broken
	}
	if c.full && len(c.ahead) == 0 {
		c.store = stores.Get().(*[]byte)
		n, err := c.Conn.Read(*c.store)
		c.ahead, c.full = (*c.store)[:n], n == len(*c.store)
		if n == 0 {
			c.takeAhead(nil)
			return 0, err
		}
	}
	if len(c.ahead) > 0 {
		return c.takeAhead(p), nil
	}
	n, err := c.Conn.Read(p[:min(int64(len(p)), c.left)])
	if c.left < math.MaxInt64 {
		c.left -= int64(n)
	} else {
		c.full = n == len(p)
	}
	return n, err
}

// takeAhead moves what is read ahead to p.
func (c *connection) takeAhead(p []byte) int {
	n := copy(p, c.ahead)
	if c.ahead = c.ahead[n:]; len(c.ahead) == 0 {
		stores.Put(c.store)
		c.store, c.ahead = nil, nil
	}
	return n
}

// exchange writes req and reads the head of its answer.
func (c *connection) exchange(req *http.Request, trace *httptrace.ClientTrace) (*http.Response, error) {
	w := writers.Get().(*bufio.Writer)
	w.Reset(c.Conn)
	unwritten := req.Write(w) // which tells the trace
	if unwritten == nil {
		unwritten = w.Flush()
	}
	w.Reset(nil)
	writers.Put(w)
	if unwritten == nil {
		return c.readHead(req, trace)
	}
	// Some answer before they have read all, and hang up: then that is here already.
	_ = c.Conn.SetReadDeadline(time.Now().Add(afterHangUp))
	if resp, err := c.readHead(req, trace); err == nil {
		resp.Close = true
		return resp, nil
	}
	return nil, unwritten
}

// readHead reads the head of the answer to req.
func (c *connection) readHead(req *http.Request, trace *httptrace.ClientTrace) (*http.Response, error) {
	c.left, c.full = c.t.MaxHead, false
	if _, err := c.in.Peek(1); err != nil {
		return nil, err
	}
	if trace.GotFirstResponseByte != nil {
		trace.GotFirstResponseByte()
	}
	for {
		resp, err := http.ReadResponse(c.in, req)
		if err != nil {
			return nil, err
		}
		resp.Request = nil // a stream is open for long, and it may be large
		if resp.StatusCode/100 != 1 || resp.StatusCode == http.StatusSwitchingProtocols {
			c.left = math.MaxInt64
			return resp, nil
		}
	}
}

// A body ends the use of its connection.
type body struct {
	from       io.Reader
	connection *connection
	stop       func() bool // ends the watch over the request's context; false: that has ended
	keep       bool        // the connection is good for another request
	err        error       // what Read ended with: the connection may be another's by now
	once       sync.Once
}

// Read implements [io.Reader].
func (b *body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.from.Read(p)
	if b.err = err; err != nil {
		b.end(err == io.EOF && b.keep && b.connection.in.Buffered()+len(b.connection.ahead) == 0)
	}
	return n, err
}

// Wait waits until Read has something to begin with, an end or an error among that:
// what it is to be read into need not be there before.
func (b *body) Wait() {
	c := b.connection
	if b.err == nil && b.from != http.NoBody && c.in.Buffered()+len(c.ahead) == 0 {
		_, c.broken = c.in.Peek(1)
	}
}

// Ahead is how many bytes of the connection are read already, beside a few that are
// not counted: as long as there are more than the longest line of the chunked
// coding that anybody sends, Read does not wait.
func (b *body) Ahead() int {
	if b.err != nil {
		return 0
	}
	return len(b.connection.ahead)
}

// Close closes the connection where the body was not read to its end. It may be
// called while another goroutine is in Read, which it ends.
func (b *body) Close() error {
	b.end(false)
	return nil
}

func (b *body) end(keep bool) {
	b.once.Do(func() {
		if b.stop() && keep {
			b.connection.t.put(b.connection)
		} else {
			b.connection.Conn.Close()
		}
	})
}
