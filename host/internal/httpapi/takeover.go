package httpapi

import (
	"bytes"
	"net"

	"github.com/valyala/fasthttp"
)

// An answering is an answer that writes itself to its connection.
type answering struct {
	write func(head []byte) error // the head, and the body in chunks; an error: it is not whole
	leave func()                  // the client is gone: write will find that out
}

// takeOver has a write itself to c once the handler of ctx has returned. For that time
// the connection is not the server's: the buffer of a request's head, those of
// a response, the request itself and a goroutine whose stack grew while all that
// was handled go back to their pools, and an open stream holds what it needs
// and no more. The response's head must be whole but for what says how the body
// is coded and whether the connection stays. The server has the connection
// again when the next request comes.
func (s *Server) takeOver(c *conn, ctx *fasthttp.RequestCtx, a *answering) {
	s.taken.Add(1)
	c.answer.Store(a) // Close ends it where the server never gets to what follows
	ctx.HijackSetNoResponse(true)
	ctx.Hijack(func(ahead net.Conn) {
		if c.answer.Swap(nil) == nil {
			return
		}
		c.takeBack(ahead)
		// ctx is the server's again when this function returns.
		head := &ctx.Response.Header
		head.SetContentLength(-1) // chunked
		go s.converse(c, bytes.Clone(head.Header()), !head.ConnectionClose(), a)
	})
}

// converse writes a's answer to c and gives c back to the server, or closes it.
func (s *Server) converse(c *conn, head []byte, keep bool, a *answering) {
	defer s.taken.Done()
	err := a.write(head)
	if err == nil {
		_, err = c.Write(lastChunk)
	}
	if err != nil || !keep || !c.rest() {
		_ = c.Close() // nobody is left to be told
		return
	}
	if err := s.app.Server().ServeConn(c); err != nil {
		s.Log.Debug().Err(err).Msg("connection ended")
	}
}

// unheard ends an answer whose connection ended before it began.
func (s *Server) unheard(a *answering) {
	defer s.taken.Done()
	a.leave()
	_ = a.write(nil) // it cannot be whole
}
