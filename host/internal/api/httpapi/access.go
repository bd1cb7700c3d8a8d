package httpapi

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/rs/zerolog"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/chat"
)

// An access is what the log says of a request: no path, query, header or body,
// which may hold what is not for a log.
type access struct {
	id     string
	clock  func() time.Time
	start  time.Time
	method string
	row    *route // that answers it; nil: none
	route  string // its path, or [NoRoute]
	status int
	bytes  int
	err    *apierr.Error // that it was answered with; nil: none
	// stream: the answer goes on after the handler, and is logged at its end.
	stream bool
	// Of a stream: how long the first event took; for its events, who its client is.
	first   time.Duration
	client  string
	outcome *chat.Outcome // of an answer that was sent whole
	// Where it is traced: its step, and the trace that it is of.
	step    chat.Step
	traceID string
}

// elapsed is how long the request has taken so far.
func (a *access) elapsed() time.Duration { return a.clock().Sub(a.start) }

// isChat reports whether the request is for an answer to a chat.
func (a *access) isChat() bool { return a.row != nil && a.row.chats }

type accessKey struct{}

// accessOf returns the access of a request; a new one where the request was
// refused before it was read.
func accessOf(c *fiber.Ctx) (a *access, read bool) {
	if a, ok := c.Locals(accessKey{}).(*access); ok {
		return a, true
	}
	return &access{id: requestID(c), clock: time.Now, start: time.Now(), method: otherMethod, route: NoRoute}, false
}

// accessTo returns the access that r is the call of.
func accessTo(r *call) *access {
	a, _ := accessOf(r.Ctx)
	return a
}

// middleware does for every request what all have in common: id, who may ask, CORS, panics, errors, and the log.
func (s *Server) middleware(c *fiber.Ctx) error {
	defer overwrite(c)
	a := &access{id: requestID(c), clock: s.Now, start: s.Now(), method: strings.Clone(c.Method()), route: NoRoute}
	c.Locals(accessKey{}, a)
	c.Set(fiber.HeaderXRequestID, a.id)
	origin, err := s.checkSite(c)
	if origin != "" {
		allowOrigin(c, origin)
	}
	if err == nil {
		if c.Method() == fiber.MethodOptions {
			preflight(c)
		} else {
			err = s.runHandler(c, a)
		}
	}
	if err != nil {
		if err := s.renderError(c, err); err != nil {
			return err
		}
	}
	s.leaveBody(c)
	if onV1(c) && !a.stream {
		setProcessing(c, a)
	}
	if a.stream {
		return nil // it is the stream's now, which may have ended already
	}
	if !a.isChat() { // each event of a stream arrives when it is sent
		request.Compress(c)
	}
	a.status = c.Response().StatusCode()
	a.bytes = len(c.Response().Body())
	if a.outcome != nil {
		a.client = clientOf(c)
		s.endAnswer(a, *a.outcome)
		return nil
	}
	s.tellRequest(a, clientOf(c))
	s.logAccess(a, nil)
	s.recordServed(a, nil)
	return nil
}

// recordUnread does what middleware would have done for a request that was answered with
// an error before it got there: its head could not be read, or has a method
// that HTTP does not know.
func (s *Server) recordUnread(c *fiber.Ctx, a *access) {
	a.status, a.bytes = c.Response().StatusCode(), len(c.Response().Body())
	s.logAccess(a, nil)
	s.recordServed(a, nil)
}

// runHandler runs the handler. A panic is an error of ours and no more.
func (s *Server) runHandler(c *fiber.Ctx, a *access) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = s.panicError(a, p)
		}
	}()
	return c.Next()
}

// panicError logs where a panic came from, and returns it as an error. What it
// says is left out: it may quote a request.
func (s *Server) panicError(a *access, p any) error {
	s.Log.Error().Str("request_id", a.id).Str("panic", fmt.Sprintf("%T", p)).Bytes("stack", debug.Stack()).Msg("handler panicked")
	return fmt.Errorf("handler panicked: %T", p)
}

// logAccess writes the line of a request that was answered; more adds to it.
func (s *Server) logAccess(a *access, more func(*zerolog.Event)) {
	e := s.Log.Info()
	if e == nil {
		return
	}
	e.Str("request_id", a.id).Str("method", a.method).Str("route", a.route).Int("status", a.status).
		Float64("ms", float64(a.elapsed().Microseconds())/1000).Int("bytes", a.bytes)
	if a.err != nil {
		e.Str("code", a.err.Code.String())
	}
	if a.traceID != "" {
		e.Str("trace_id", a.traceID)
	}
	if more != nil {
		more(e)
	}
	e.Msg("request")
}

// requestID returns the client's own id of the request where it is harmless,
// else a new one.
func requestID(c *fiber.Ctx) string {
	id := c.Get(fiber.HeaderXRequestID)
	if id != "" && len(id) <= 64 && strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == "" {
		return strings.Clone(id)
	}
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// exposed are the headers that pages may read.
const exposed = "X-Request-Id, X-Parley-Workspace, Retry-After, Retry-After-Ms, X-Should-Retry, Warning, OpenAI-Processing-Ms, " +
	"X-RateLimit-Limit-Requests, X-RateLimit-Limit-Tokens, X-RateLimit-Remaining-Requests, X-RateLimit-Remaining-Tokens, X-RateLimit-Reset-Requests, X-RateLimit-Reset-Tokens"

// allowOrigin lets pages of origin read the answer; "*": of any.
func allowOrigin(c *fiber.Ctx, origin string) {
	c.Set(fiber.HeaderAccessControlAllowOrigin, origin)
	c.Set(fiber.HeaderAccessControlExposeHeaders, exposed)
}

// preflight answers what a browser asks before a request. The headers that it
// asks for are allowed by name, for "*" does not stand for Authorization.
func preflight(c *fiber.Ctx) {
	c.Status(fiber.StatusNoContent)
	c.Set(fiber.HeaderAccessControlAllowMethods, "GET, POST, PUT, PATCH, DELETE, OPTIONS")
	headers := c.Get(fiber.HeaderAccessControlRequestHeaders)
	if headers == "" || len(headers) > 4<<10 {
		headers = "Authorization, Content-Type"
	}
	c.Set(fiber.HeaderAccessControlAllowHeaders, headers)
	c.Set(fiber.HeaderAccessControlMaxAge, "86400")
	c.Vary(fiber.HeaderAccessControlRequestHeaders)
}
