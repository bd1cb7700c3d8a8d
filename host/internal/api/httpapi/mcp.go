package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/gofiber/fiber/v2"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/api/mcp"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/feature"
)

const mcpPath = "/mcp"

// failMCP answers with e.
func failMCP(c *fiber.Ctx, e *mcp.Error) error {
	if e.Status == fiber.StatusUnauthorized {
		c.Set(fiber.HeaderWWWAuthenticate, "Bearer")
	}
	return sendJSON(c, e.Status, e.Body())
}

// answerMCP answers POST /mcp. What is left of the request is a copy: a tool may
// go on after answerMCP returned. A client that leaves ends it.
func (s *Server) answerMCP(r *call) error {
	read := r.ReadBody
	if n := r.Request().Header.ContentLength(); n < 0 || n > prefetched {
		// What is smaller is there already, and most of it asks for nothing that is limited.
		read = func() ([]byte, error) { return s.readQuestion(r, limit.Party{}) }
	}
	body, err := read()
	if err != nil {
		return err
	}
	message, err := mcp.ReadMessage(body)
	if err != nil {
		return err
	}
	chats := s.Features.Require(feature.ChatCompletions, "") == nil
	if chats && message.Asks() {
		if err := r.Caller.Require(auth.ChatCompletions); err != nil {
			return mcp.Denied(apierr.From(err))
		}
	}
	if s.down.Load() {
		return shuttingDown()
	}
	if n := s.mcp.Searches(r.Base, r.Caller, message); n > 0 {
		if err := r.CountSearches(n); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancelCause(s.trace(r.Base, r))
	c := r.Context().Conn().(*conn) // all are the listener's
	st := newStream(c, cancel, s.Limits.KeepAlive, &s.chunks)
	s.streams.add(st)
	request := &mcp.Request{Message: message, Header: headerOf(r.Ctx), Caller: r.Caller, Base: s.publicURL(r), Opening: s.Limits.Opening}
	asker := &asker{server: s, caller: r.Caller, base: request.Base, address: s.clientAddress(r.Ctx)}
	if chats && r.Caller.Allows(auth.ChatCompletions) {
		request.Asker = asker
	}
	reply, err := s.mcp.Answer(ctx, request)
	if err == nil && reply.Parts != nil {
		s.streamMCP(ctx, cancel, r, st, reply, asker)
		return nil
	}
	s.streams.remove(st)
	left := context.Cause(ctx)
	cancel(nil)
	accessTo(r).outcome = asker.outcome
	switch {
	case errors.Is(left, errShutdown):
		return shuttingDown()
	case left != nil:
		return errClientLeft
	case err != nil:
		return err
	}
	setLimits(r.Ctx, asker.limits())
	for name, values := range reply.Header {
		for _, v := range values {
			r.Set(name, v)
		}
	}
	r.Status(reply.Status)
	return r.Send(reply.Body)
}

// headerOf returns a copy of a request's headers. Who says nothing of what it
// accepts accepts all.
func headerOf(c *fiber.Ctx) http.Header {
	h := http.Header{}
	for name, value := range c.Request().Header.All() {
		h.Add(string(name), string(value))
	}
	if h.Get(fiber.HeaderAccept) == "" {
		h.Set(fiber.HeaderAccept, "*/*")
	}
	return h
}

// streamMCP answers with the events of reply, on the connection.
func (s *Server) streamMCP(ctx context.Context, cancel context.CancelCauseFunc, r *call, st *stream, reply *mcp.Reply, asker *asker) {
	r.Set(fiber.HeaderContentType, "text/event-stream")
	r.Set(fiber.HeaderCacheControl, "no-cache")
	r.Set("X-Accel-Buffering", "no")
	setLimits(r.Ctx, asker.limits())
	a := accessTo(r)
	a.stream, a.status, a.first = true, fiber.StatusOK, a.took()
	a.client = string([]byte(clientOf(r.Ctx)))
	head, plain, keep := streamHead(r.Context())
	st.begin(head, plain)
	s.takeOver(st.conn.(*conn), r.Context(), &answering{
		write: func() error {
			defer s.streams.remove(st)
			defer cancel(nil)
			send := func(part []byte) {
				if st.WriteFrames(part, false) != nil {
					cancel(errClientLeft)
				}
			}
			send(reply.Body)
			for part := range reply.Parts {
				send(part)
			}
			a.bytes = st.close()
			if asker.outcome != nil {
				s.answered(a, *asker.outcome)
			} else {
				s.tellRequest(a, a.client)
				s.logAccess(a, nil)
				s.done(a, nil)
			}
			return context.Cause(ctx)
		},
		keep: keep, plain: plain,
		leave: func() { cancel(errClientLeft) },
	})
}
