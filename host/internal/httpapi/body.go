package httpapi

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"os"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/parley-search/parley/host/internal/apierr"
)

// bodyPart is read of a body at a time; each must arrive within the limit for
// reading, so that a client cannot hold a connection with a byte now and then.
const bodyPart = 64 << 10

// body returns a copy of the request's body, which must be JSON by its content
// type and within the limit. It may be empty.
func (s *Server) body(r *call) ([]byte, error) {
	if err := checkContentType(r.Ctx); err != nil {
		return nil, err
	}
	length := r.Request().Header.ContentLength()
	if int64(length) > s.Limits.Body {
		return nil, s.tooLarge()
	}
	stream := r.Context().RequestBodyStream()
	if stream == nil {
		return nil, nil
	}
	body := make([]byte, 0, min(max(length, bodyPart), 1<<20))
	for length < 0 || len(body) < length {
		if err := r.Context().Conn().SetReadDeadline(time.Now().Add(s.Limits.Read)); err != nil {
			return nil, fmt.Errorf("set deadline: %w", err)
		}
		if len(body) == cap(body) {
			body = slices.Grow(body, bodyPart)
		}
		n, err := readPart(stream, body[len(body):min(cap(body), len(body)+bodyPart)])
		body = body[:len(body)+n]
		if int64(len(body)) > s.Limits.Body {
			return nil, s.tooLarge()
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, unread(err)
		}
	}
	return s.whole(r, body, length)
}

// readPart fills p, or returns why not. Unlike [io.ReadFull] it tells the end
// of the body (io.EOF) from a connection that broke (io.ErrUnexpectedEOF).
func readPart(stream io.Reader, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var m int
		m, err = stream.Read(p[n:])
		n += m
	}
	return n, err
}

// whole returns body if it is as long as the request said.
func (s *Server) whole(r *call, body []byte, length int) ([]byte, error) {
	if length >= 0 && len(body) < length {
		return nil, apierr.Newf(apierr.BadRequest, "The body ended after %d of the %d bytes that `Content-Length` says.", len(body), length)
	}
	r.Locals(bodyReadKey{}, true)
	return body, nil
}

// unread says why a body could not be read.
func unread(err error) error {
	if ne, ok := errors.AsType[net.Error](err); ok && ne.Timeout() || errors.Is(err, os.ErrDeadlineExceeded) {
		return apierr.Newf(apierr.RequestTimeout, "The body did not arrive in time: send it again.")
	}
	return &apierr.Error{Code: apierr.BadRequest, Message: "The body could not be read to its end.", Err: err}
}

func (s *Server) tooLarge() error {
	return apierr.Newf(apierr.PayloadTooLarge, "The body is over the limit of %d bytes: send less at a time, or raise --http-payload-size-limit.", s.Limits.Body)
}

// decode reads a JSON body into what into points at, strictly.
func (s *Server) decode(r *call, into any, codes apierr.Fields) error {
	b, err := s.body(r)
	if err != nil {
		return err
	}
	return apierr.DecodeStrict(b, into, codes)
}

func checkContentType(c *fiber.Ctx) error {
	if e := c.Get(fiber.HeaderContentEncoding); e != "" && e != "identity" {
		return apierr.Newf(apierr.InvalidContentType, "The `Content-Encoding` %.64q is not taken: send the body as it is.", e)
	}
	given := c.Get(fiber.HeaderContentType)
	if given == "" {
		return apierr.Newf(apierr.MissingContentType, "The header `Content-Type` is missing: send `Content-Type: application/json`.")
	}
	if t, _, err := mime.ParseMediaType(given); err != nil || t != "application/json" {
		return apierr.Newf(apierr.InvalidContentType, "The `Content-Type` %.64q is not taken here: send JSON with `Content-Type: application/json`.", given)
	}
	return nil
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
	c.Context().SetConnectionClose()
	if conn, ok := c.Context().Conn().(*conn); ok {
		conn.linger.Store(true)
	}
}
