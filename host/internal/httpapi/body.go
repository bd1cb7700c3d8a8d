package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/auth"
)

// bodyPart is read of a body at a time; each must arrive within the limit for
// reading, so that a client cannot hold a connection with a byte now and then.
const bodyPart = 64 << 10

// body returns a copy of the request's body, which must be JSON by its content
// type and within the limit. It may be empty.
func (s *Server) body(r *call) ([]byte, error) {
	if _, err := contentType(r.Ctx, mimeJSON); err != nil {
		return nil, err
	}
	body, err := s.openBody(r)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	var b bytes.Buffer
	b.Grow(min(max(r.Request().Header.ContentLength(), 512), 1<<20))
	_, err = b.ReadFrom(body)
	r.raw = b.Bytes()
	return r.raw, err
}

// An arrival reads a body as it comes in. It refuses one that is too large,
// too slow, or ends too early; its errors are for the client.
type arrival struct {
	server *Server
	call   *call
	stream io.Reader // nil without a body
	length int64     // that the request says; below zero: none
	read   int64
	part   int64     // bytes since the deadline was set
	until  time.Time // the deadline
	ended  bool
}

// openBody returns the body's bytes, unpacked where they are compressed, within
// the limit in either form.
func (s *Server) openBody(r *call) (io.ReadCloser, error) {
	a := &arrival{server: s, call: r, stream: r.Context().RequestBodyStream(), length: int64(r.Request().Header.ContentLength())}
	if a.length > r.limit.bytes {
		return nil, r.limit.exceeded()
	}
	return s.unpack(r, a)
}

// Read implements [io.Reader].
func (a *arrival) Read(p []byte) (int, error) {
	if a.stream == nil || a.ended || a.length >= 0 && a.read == a.length {
		a.call.Locals(bodyReadKey{}, true)
		return 0, io.EOF // the stream would wait for more behind its end
	}
	if a.read == 0 || a.part >= bodyPart {
		a.until = time.Now().Add(a.server.Limits.Read)
		if err := a.call.Context().Conn().SetReadDeadline(a.until); err != nil {
			return 0, fmt.Errorf("set deadline: %w", err)
		}
		a.part = 0
	}
	n, err := a.stream.Read(p[:min(len(p), bodyPart)])
	a.read += int64(n)
	a.part += int64(n)
	switch {
	case a.read > a.call.limit.bytes:
		return n, a.call.limit.exceeded()
	case errors.Is(err, io.EOF) && a.length >= 0 && a.read < a.length:
		return n, apierr.Newf(apierr.BadRequest, "The body ended after %d of the %d bytes that `Content-Length` says.", a.read, a.length)
	case errors.Is(err, io.EOF):
		a.ended = true
		a.call.Locals(bodyReadKey{}, true)
		return n, io.EOF
	case err != nil:
		return n, a.unread(err)
	}
	return n, nil
}

// unread says why the body could not be read. Between two chunks fasthttp hides
// that the time is over in a text: so look at the clock as well.
func (a *arrival) unread(err error) error {
	if ne, ok := errors.AsType[net.Error](err); ok && ne.Timeout() || errors.Is(err, os.ErrDeadlineExceeded) || !time.Now().Before(a.until) {
		return apierr.Newf(apierr.RequestTimeout, "The body did not arrive in time: send it again.")
	}
	return &apierr.Error{Code: apierr.BadRequest, Message: "The body could not be read to its end.", Err: err}
}

// A bodyLimit bounds a body, packed and unpacked.
type bodyLimit struct {
	bytes  int64
	option string // that raises it
}

// bodyLimit is that of a route. What a search says is held in
// memory several times over while it runs, and any key of a front end may
// search.
func (s *Server) bodyLimit(rt *route) bodyLimit {
	if len(rt.actions) > 0 && rt.actions[0] == auth.Search && s.Limits.Search < s.Limits.Body {
		return bodyLimit{s.Limits.Search, "http-search-payload-size-limit"}
	}
	return bodyLimit{s.Limits.Body, "http-payload-size-limit"}
}

func (l bodyLimit) exceeded() error {
	return apierr.Newf(apierr.PayloadTooLarge, "The body is over the limit of %d bytes: send less at a time, or raise --%s.", l.bytes, l.option)
}

// decode reads a JSON body into what into points at, strictly.
func (s *Server) decode(r *call, into any, codes apierr.Fields) error {
	b, err := s.body(r)
	if err != nil {
		return err
	}
	return apierr.DecodeStrict(b, into, codes)
}

// The content types that a body may have.
const (
	mimeJSON   = "application/json"
	mimeNDJSON = "application/x-ndjson"
	mimeCSV    = "text/csv"
)

// contentType returns the request's content type, which must be one of taken.
func contentType(c *fiber.Ctx, taken ...string) (string, error) {
	list := strings.Join(taken, "`, `")
	given := c.Get(fiber.HeaderContentType)
	if given == "" {
		return "", apierr.Newf(apierr.MissingContentType, "The header `Content-Type` is missing: send `%s`.", list)
	}
	t, _, err := mime.ParseMediaType(given)
	if err != nil || !slices.Contains(taken, t) {
		return "", apierr.Newf(apierr.InvalidContentType, "The `Content-Type` %.64q is not taken here: send `%s`.", given, list)
	}
	return t, nil
}

type bodyReadKey struct{}

// prefetched is how much of a body the server reads before any handler.
const prefetched = 8 << 10

// leaveBody closes the connection after the answer where the body was not read:
// its rest would be taken for the next request.
func (s *Server) leaveBody(c *fiber.Ctx) {
	length := c.Request().Header.ContentLength()
	if length >= 0 && int64(length) <= min(prefetched, s.Limits.Body) || c.Context().RequestBodyStream() == nil || c.Locals(bodyReadKey{}) != nil {
		return
	}
	hangUpAfter(c.Context())
}
