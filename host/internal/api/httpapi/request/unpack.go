package request

import (
	"bufio"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"

	"github.com/gofiber/fiber/v2"
	"github.com/molecule-man/go-brrr" // the one that fasthttp compresses with

	"github.com/parley-search/parley/host/internal/base/apierr"
)

// unpack returns the bytes of a body that may be compressed, as its
// `Content-Encoding` says. They are bound by the limit as the packed ones are.
func unpack(r *Call, body io.Reader) (io.ReadCloser, error) {
	encoding := r.Get(fiber.HeaderContentEncoding)
	if encoding == "" || encoding == "identity" {
		return io.NopCloser(body), nil
	}
	in := bufio.NewReader(body) // of which zlib takes no byte more than it needs
	p := &unpacked{limit: r.Limit, body: in, encoding: encoding}
	var err error
	switch encoding {
	case "gzip":
		p.plain, err = gzip.NewReader(in)
	case "deflate":
		p.plain, err = zlib.NewReader(in)
	case "br":
		p.plain = brrr.NewReader(in)
	default:
		return nil, apierr.Newf(apierr.InvalidContentType, "The `Content-Encoding` %.64q is not taken: send the body as it is, or as gzip, deflate or br.", encoding)
	}
	if err != nil {
		return nil, p.unpackError(err)
	}
	return p, nil
}

// An unpacked body reads as what a packed one holds.
type unpacked struct {
	limit    BodyLimit
	encoding string
	body     io.Reader
	plain    io.ReadCloser
	read     int64
}

// Read implements [io.Reader].
func (p *unpacked) Read(b []byte) (int, error) {
	n, err := p.plain.Read(b)
	if p.read += int64(n); p.read > p.limit.Bytes {
		return n, p.limit.limitError()
	}
	if err == nil {
		return n, nil
	}
	if !errors.Is(err, io.EOF) {
		return n, p.unpackError(err)
	}
	// To the end of the request, so that the connection can go on.
	if rest, err := io.Copy(io.Discard, p.body); err != nil {
		return n, err
	} else if rest > 0 {
		return n, apierr.Newf(apierr.BadRequest, "The body continues after its end by its `Content-Encoding: %s`.", p.encoding)
	}
	return n, io.EOF
}

// unpackError is an error of unpacking as a client may see it.
func (p *unpacked) unpackError(err error) error {
	if e, ok := errors.AsType[*apierr.Error](err); ok {
		return e
	}
	return &apierr.Error{Code: apierr.BadRequest, Message: "The body is not what its `Content-Encoding: " + p.encoding + "` says, or is cut off.", Err: err}
}

// Close implements [io.Closer].
func (p *unpacked) Close() error { return p.plain.Close() }
