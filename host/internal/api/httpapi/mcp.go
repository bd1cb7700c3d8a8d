package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/api/httpapi/chatapi"
	"github.com/parley-search/parley/host/internal/api/httpapi/request"
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
	return request.SendJSON(c, e.Status, e.Body())
}

// answerMCP answers POST /mcp. What is left of the request is a copy: a tool may
// go on after answerMCP returned. A client that leaves ends it.
func (s *Server) answerMCP(r *call) error {
	read := r.ReadBody
	if n := r.Request().Header.ContentLength(); n < 0 || n > prefetched {
		// What is smaller is there already, and most of it asks for nothing that is limited.
		read = func() ([]byte, error) { return s.chats.ReadQuestion(r, limit.Party{}) }
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
	ctx, cancel := context.WithCancelCause(s.beginTrace(r.Base, r))
	st := newStream(r.Context().Conn(), cancel, s.Limits.KeepAlive, &s.chunks)
	s.streams.add(st)
	asked := &mcp.Request{Message: message, Header: headerOf(r.Ctx), Caller: r.Caller, Base: s.chats.URLOf(r), Opening: s.Limits.Opening}
	asker := s.chats.NewAsker(r)
	if chats && r.Caller.Allows(auth.ChatCompletions) {
		asked.Asker = asker
	}
	reply, err := s.mcp.Answer(ctx, asked)
	if err == nil && reply.Parts != nil {
		s.streamMCP(ctx, r, st, reply, asker)
		return nil
	}
	s.streams.remove(st)
	left := context.Cause(ctx)
	cancel(nil)
	accessTo(r).outcome = asker.Outcome
	switch {
	case errors.Is(left, errShutdown):
		return shuttingDown()
	case left != nil:
		return request.ErrClientLeft
	case err != nil:
		return err
	}
	request.SetLimits(r.Ctx, asker.Limits())
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

// A liveMCP is a reply in parts under way: it owns its client's connection.
type liveMCP struct {
	*stream
	server *Server
	access *access
	ctx    context.Context
	reply  *mcp.Reply
	asker  *chatapi.Asker
}

// streamMCP answers with the events of reply, on the connection.
func (s *Server) streamMCP(ctx context.Context, r *call, st *stream, reply *mcp.Reply, asker *chatapi.Asker) {
	request.SetLimits(r.Ctx, asker.Limits())
	l := &liveMCP{st, s, accessTo(r), ctx, reply, asker}
	l.access.client = strings.Clone(clientOf(r.Ctx))
	st.open(r.Ctx, l.access)
	s.takeOver(r.Context(), st, l)
}

// run implements [body].
func (l *liveMCP) run() error {
	defer l.server.streams.remove(l.stream)
	defer l.cancel(nil)
	l.send(l.reply.Body)
	for part := range l.reply.Parts {
		l.send(part)
	}
	l.access.bytes = l.close()
	if l.asker.Outcome != nil {
		l.server.endAnswer(l.access, *l.asker.Outcome)
	} else {
		l.server.tellRequest(l.access, l.access.client)
		l.server.logAccess(l.access, nil)
		l.server.recordServed(l.access, nil)
	}
	return context.Cause(l.ctx)
}

func (l *liveMCP) send(part []byte) {
	if l.WriteFrames(part, false) != nil {
		l.leave()
	}
}

// leave implements [body].
func (l *liveMCP) leave() { l.cancel(request.ErrClientLeft) }
