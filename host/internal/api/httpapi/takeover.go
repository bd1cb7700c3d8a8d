package httpapi

import (
	"bytes"
	"net"

	"github.com/valyala/fasthttp"
)

// A body writes itself to its connection, which it owns meanwhile.
type body interface {
	// run writes what the handler left. An error says that the body is not whole.
	run() error
	// leave says that the client is gone: run will find that out.
	leave()
}

// An answering is a body that is to take over the connection of its stream.
type answering struct {
	body
	stream *stream
}

// streamHead is the head of a response whose length is not known, once its other
// headers are there. Its body comes in chunks, unless plain: HTTP/1.0 has none. keep
// says whether the connection stays.
func streamHead(ctx *fasthttp.RequestCtx) (head []byte, plain, keep bool) {
	h := &ctx.Response.Header
	if !ctx.Request.Header.IsHTTP11() {
		h.SetContentLength(-2) // none
		h.Del(fasthttp.HeaderTransferEncoding)
		h.SetConnectionClose()
		return bytes.Clone(h.Header()), true, false
	}
	h.SetContentLength(-1) // chunked
	keep = !ctx.Request.Header.ConnectionClose() && !h.ConnectionClose()
	if !keep {
		h.SetConnectionClose()
	}
	return bytes.Clone(h.Header()), false, keep
}

// takeOver has b write itself to the connection of st, which is that of ctx, once the
// handler of ctx has returned. For that time the connection is not the server's: the buffer of a request's head, those of
// a response, the request itself and a goroutine whose stack grew while all that
// was handled go back to their pools, and an open stream holds what it needs
// and no more. The server has the connection again when the next request comes.
func (s *Server) takeOver(ctx *fasthttp.RequestCtx, st *stream, b body) {
	s.taken.Add(1)
	c, a := st.conn.(*conn), &answering{b, st} // all connections are the listener's
	c.answer.Store(a)                          // Close ends it where the server never gets to what follows
	ctx.HijackSetNoResponse(true)
	ctx.Hijack(func(ahead net.Conn) {
		if c.answer.Swap(nil) == nil {
			return
		}
		c.takeBack(ahead)
		if ctx.Response.Header.ConnectionClose() { // what is left of the body lies before the next request
			st.keep = false
		}
		// When this function returns, ctx is the server's again, and so is the
		// buffer that it read from, as long as the server is told to close the
		// connection: with KeepHijackedConns each answer would leave 16 KiB behind.
		c.kept.Add(1)
		go s.writeAnswer(c, a)
	})
}

// writeAnswer writes a's answer to c and gives c back to the server, or closes it.
func (s *Server) writeAnswer(c *conn, a *answering) {
	defer s.taken.Done()
	defer s.containPanic(c)
	err := a.run()
	if err == nil && !a.stream.out.plain {
		_, err = c.Write(lastChunk)
	}
	if err != nil || !a.stream.keep || !c.awaitRequest() {
		_ = c.Close() // nobody is left to be told
		return
	}
	growStack(false)
	s.serveConn(c)
}

// growStack has the stack of its goroutine grow at once to what it takes to answer a
// request, 16 KiB, while there is next to nothing on it that must be moved. It would
// come to that in the middle of each answer otherwise. Nobody uses the room: it is
// enough that it would fit.
//
//go:noinline
func growStack(use bool) {
	if use {
		var room [9 << 10]byte
		occupy(&room)
	}
}

//go:noinline
func occupy(*[9 << 10]byte) {}

// dropAnswer ends an answer whose connection ended before it began.
func (s *Server) dropAnswer(a *answering) {
	defer s.taken.Done()
	a.leave()
	_ = a.run() // it cannot be whole
}
