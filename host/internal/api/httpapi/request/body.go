package request

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/parley-search/parley/host/internal/api/httpapi/transport"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/memory"
	"github.com/parley-search/parley/host/internal/base/rawjson"
)

// bodyPart is read of a body at a time; each must arrive within the limit for
// reading, so that a client cannot hold a connection with a byte now and then.
const bodyPart = 64 << 10

// ReadBody returns a copy of the request's body, which must be JSON by its content
// type and within the limit. It may be empty, but is not null.
func (r *Call) ReadBody() ([]byte, error) {
	b, err := r.ReadValue()
	if err == nil && string(bytes.TrimSpace(b)) == "null" {
		return nil, apierr.Newf(apierr.BadRequest, "The body is null: send the object or array that this route takes.")
	}
	return b, err
}

// ReadValue is ReadBody for a body that may be null.
func (r *Call) ReadValue() ([]byte, error) {
	if _, err := r.ContentType(MIMEJSON); err != nil {
		return nil, err
	}
	err := r.readRaw()
	r.Raw = bytes.TrimPrefix(r.Raw, byteOrderMark)
	if err == nil {
		err = r.Loan.Take(rawjson.Spread(r.Raw))
	}
	return r.Raw, err
}

// LendMade takes what the parts that were made of the body come to more than the body,
// which [Call.ReadBody] has taken.
func (r *Call) LendMade(parts [][]byte) error {
	size, spread := -len(r.Raw), -rawjson.Spread(r.Raw)
	for _, part := range parts {
		size, spread = size+len(part), spread+rawjson.Spread(part)
	}
	if err := r.Loan.TakeBody(max(size, 0)); err != nil {
		return err
	}
	return r.Loan.Take(max(spread, 0))
}

// byteOrderMark is what some editors and shells put in front of JSON, where it says
// nothing.
var byteOrderMark = []byte("\xef\xbb\xbf")

// readRaw reads the body.
func (r *Call) readRaw() error {
	body, err := r.OpenBody()
	if err != nil {
		return err
	}
	defer body.Close()
	whole := r.Lent(body)
	if n := r.Request().Header.ContentLength(); n < 0 || n > smallBody {
		var b bytes.Buffer
		b.Grow(min(max(n, 512), bodyPart)) // what the client says is not there yet
		_, err = b.ReadFrom(whole)
		r.Raw = b.Bytes()
		return err
	}
	b := bodies.Get().(*bytes.Buffer)
	b.Reset()
	_, err = b.ReadFrom(whole)
	r.Raw = bytes.Clone(b.Bytes())
	if b.Cap() <= 2*smallBody { // else it was compressed
		bodies.Put(b)
	}
	return err
}

// Lent returns a reader of what is kept of the body, for which memory is lent.
func (r *Call) Lent(body io.Reader) io.Reader { return &lent{body, r.Loan} }

// lent takes what is read of a body that is kept.
type lent struct {
	body io.Reader
	loan *memory.Loan
}

// Read implements [io.Reader].
func (l *lent) Read(p []byte) (int, error) {
	n, err := l.body.Read(p)
	if full := l.loan.TakeBody(n); full != nil {
		return n, full
	}
	return n, err
}

// smallBody is up to which length a body is copied, so that its copy has no more than
// its own size: an open stream holds it.
const smallBody = 16 << 10

var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// An arrival reads a body as it comes in. It refuses one that is too large,
// too slow, or ends too early; its errors are for the client.
type arrival struct {
	call   *Call
	stream io.Reader // nil without a body
	length int64     // that the request says; below zero: none
	read   int64
	part   int64     // bytes since the deadline was set
	until  time.Time // the deadline
	ended  bool
}

// OpenRaw returns the body's bytes as they come in, within the limit.
func (r *Call) OpenRaw() (io.Reader, error) {
	return r.receiveBody()
}

func (r *Call) receiveBody() (*arrival, error) {
	a := &arrival{call: r, stream: r.Context().RequestBodyStream(), length: int64(r.Request().Header.ContentLength())}
	if r.Unframe != nil {
		if a.stream == nil {
			a.stream = strings.NewReader("")
		}
		a.stream, a.length = r.Unframe(a.stream), -1
	}
	if a.length > r.Limit.Bytes {
		return nil, r.Limit.limitError()
	}
	return a, nil
}

// OpenBody returns the body's bytes, unpacked where they are compressed, within
// the limit in either form.
func (r *Call) OpenBody() (io.ReadCloser, error) {
	a, err := r.receiveBody()
	if err != nil {
		return nil, err
	}
	return unpack(r, a)
}

// Read implements [io.Reader].
func (a *arrival) Read(p []byte) (int, error) {
	if a.stream == nil || a.ended || a.length >= 0 && a.read == a.length {
		a.call.Locals(bodyReadKey{}, true)
		return 0, io.EOF // the stream would wait for more behind its end
	}
	if a.read == 0 || a.part >= bodyPart {
		a.until = time.Now().Add(a.call.Limit.Part)
		if err := a.call.Context().Conn().SetReadDeadline(a.until); err != nil {
			return 0, fmt.Errorf("set deadline: %w", err)
		}
		a.part = 0
	}
	n, err := a.stream.Read(p[:min(len(p), bodyPart)])
	a.read += int64(n)
	a.part += int64(n)
	switch {
	case a.read > a.call.Limit.Bytes:
		return n, a.call.Limit.limitError()
	case errors.Is(err, io.EOF) && a.length >= 0 && a.read < a.length:
		return n, apierr.Newf(apierr.BadRequest, "The body ended after %d of the %d bytes that `Content-Length` says.", a.read, a.length)
	case errors.Is(err, io.EOF) && a.brokenOff():
		return n, a.readError(err)
	case errors.Is(err, io.EOF):
		a.ended = true
		a.call.Locals(bodyReadKey{}, true)
		return n, io.EOF
	case err != nil && a.call.Unframe != nil && errors.As(err, new(*apierr.Error)):
		return n, err
	case err != nil:
		return n, a.readError(err)
	}
	return n, nil
}

// brokenOff reports whether what follows the last chunk is not HTTP.
func (a *arrival) brokenOff() bool {
	c, ok := a.call.Context().Conn().(Checked)
	return ok && a.length < 0 && c.BrokenOff()
}

// readError says why the body could not be read. Between two chunks fasthttp hides
// that the time is over in a text: so look at the clock as well.
func (a *arrival) readError(err error) error {
	if ne, ok := errors.AsType[net.Error](err); ok && ne.Timeout() || errors.Is(err, os.ErrDeadlineExceeded) || !time.Now().Before(a.until) {
		return apierr.Newf(apierr.RequestTimeout, "The body did not arrive in time: send it again.")
	}
	if conn, ok := a.call.Context().Conn().(Checked); ok {
		if why := conn.Malformed(); why != "" {
			return Unreadable(string(why))
		}
	}
	return &apierr.Error{Code: apierr.BadRequest, Message: "The body could not be read to its end.", Err: err}
}

// A Checked connection knows what was wrong in HTTP with what came in on it.
type Checked interface {
	BrokenOff() bool                // what follows the last chunk is not HTTP
	Malformed() transport.Malformed // "" where nothing was wrong
}

// A BodyLimit bounds a body, packed and unpacked.
type BodyLimit struct {
	Bytes  int64
	Option string        // that raises it
	Part   time.Duration // in which each 64 KiB must arrive
}

// Check refuses a body that says of itself to have more bytes than l lets in.
func (l BodyLimit) Check(bytes int64) error {
	if bytes > l.Bytes {
		return l.limitError()
	}
	return nil
}

func (l BodyLimit) limitError() error {
	return apierr.Newf(apierr.PayloadTooLarge, "The body is over the limit of %d bytes: send less at a time, or raise --%s.", l.Bytes, l.Option)
}

// Decode reads a JSON body into what into points at, strictly.
func (r *Call) Decode(into any, codes apierr.Fields) error {
	b, err := r.ReadBody()
	if err != nil {
		return err
	}
	return apierr.DecodeStrict(b, into, codes)
}

// The content types that a body may have: see [Call.ContentType].
const (
	MIMEJSON   = "application/json"
	MIMENDJSON = "application/x-ndjson"
	MIMECSV    = "text/csv"
	mimeForm   = "multipart/form-data"
)

// ContentType returns the request's content type, which must be one of taken.
func (r *Call) ContentType(taken ...string) (string, error) {
	list := strings.Join(taken, "`, `")
	given := r.Get(fiber.HeaderContentType)
	if given == "" {
		return "", apierr.Newf(apierr.MissingContentType, "The header `Content-Type` is missing: send `%s`.", list)
	}
	t, _, err := mime.ParseMediaType(given)
	if err != nil || !slices.Contains(taken, t) {
		return "", apierr.Newf(apierr.InvalidContentType, "The `Content-Type` %.64q is not taken here: send `%s`.", given, list)
	}
	return t, nil
}

// A Spool keeps what is written to it, on the disk where it is much. Call Discard when done.
type Spool interface {
	io.Writer
	// Open returns what was written, from its beginning. Close it before Discard.
	Open() (io.ReadCloser, error)
	Discard()
}

// SpoolForm reads a body that is a form with files to its end and calls use with its parts:
// so no slow client keeps what use needs. slot is the request's, for which use waits. Errors,
// and those of parts by way of [FormError], are for the client.
func (r *Call) SpoolForm(slot *Slot, use func(form *multipart.Reader) error) error {
	boundary, err := r.FormBoundary()
	if err != nil {
		return err
	}
	body, err := r.OpenBody()
	if err != nil {
		return err
	}
	defer body.Close()
	spool := r.NewSpool()
	defer spool.Discard()
	if _, err := io.Copy(spool, body); err != nil {
		return err
	}
	if err := slot.Wait(r.Base); err != nil {
		return err
	}
	form, err := spool.Open()
	if err != nil {
		return err
	}
	defer form.Close()
	return use(multipart.NewReader(form, boundary))
}

// FormBoundary returns what stands between the parts of the body, which must be a
// form with files by its content type.
func (r *Call) FormBoundary() (string, error) {
	if _, err := r.ContentType(mimeForm); err != nil {
		return "", err
	}
	_, parameters, _ := mime.ParseMediaType(r.Get(fiber.HeaderContentType)) // ContentType has
	if parameters["boundary"] == "" {
		return "", apierr.Newf(apierr.InvalidContentType, "The `Content-Type` names no `boundary`: send a form as clients make it, and leave the header to them.")
	}
	return parameters["boundary"], nil
}

// FormError is err, which the body had or the form in it, for the client.
func FormError(err error) error {
	if e, ok := errors.AsType[*apierr.Error](err); ok {
		return e
	}
	return apierr.Newf(apierr.MalformedPayload, "The body is not a form that can be read: %v.", err)
}

type bodyReadKey struct{}

// BodyRead reports whether the request's body was read to its end.
func BodyRead(c *fiber.Ctx) bool { return c.Locals(bodyReadKey{}) != nil }
