package request

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/molecule-man/go-brrr"
)

// An encoding is a way to compress an answer.
type encoding struct {
	name    string
	packers *sync.Pool // of packer
}

// A packer writes what it is given compressed, and may be used again.
type packer interface {
	io.WriteCloser
	Reset(into io.Writer)
}

func packers[P packer](make func() (P, error)) *sync.Pool {
	return &sync.Pool{New: func() any {
		p, err := make()
		if err != nil {
			panic("request: make a packer: " + err.Error()) // its level is one of its own
		}
		return packer(p)
	}}
}

// encodings lists those offered: of several that a client likes as well, the
// first is taken. All are the quickest of their kind.
var encodings = []encoding{
	{"gzip", packers(func() (*gzip.Writer, error) { return gzip.NewWriterLevel(nil, gzip.BestSpeed) })},
	{"br", packers(func() (*brrr.Writer, error) { return brrr.NewWriter(nil, brrr.BestSpeed) })},
	{"deflate", packers(func() (*zlib.Writer, error) { return zlib.NewWriterLevel(nil, zlib.BestSpeed) })},
	{"zstd", packers(func() (*zstd.Encoder, error) {
		return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	})},
}

// Compress compresses the answer as `Accept-Encoding` says, where it is not yet. Short ones
// too: some clients unpack every answer once they asked for it.
func Compress(c *fiber.Ctx) {
	res := c.Response()
	if res.IsBodyStream() || len(res.Body()) == 0 || len(res.Header.ContentEncoding()) > 0 {
		return
	}
	if t := string(res.Header.ContentType()); !strings.HasPrefix(t, "application/") && !strings.HasPrefix(t, "text/") {
		return // images and fonts are compressed already
	}
	if p := pack(c.Get(fiber.HeaderAcceptEncoding)); p.encoding != nil {
		p.write(res.Body())
		p.send(c)
	}
}

// A packed is an answer that is compressed while it is written.
type packed struct {
	encoding *encoding // nil: none
	packer   packer    // of encoding
	body     bytes.Buffer
}

// pack begins an answer in the encoding that a header Accept-Encoding likes best.
func pack(header string) *packed {
	p := &packed{encoding: acceptedEncoding(header)}
	if p.encoding != nil {
		p.packer = p.encoding.packers.Get().(packer)
		p.packer.Reset(&p.body)
	}
	return p
}

func (p *packed) write(b []byte) {
	if p.packer == nil {
		p.body.Write(b)
	} else {
		_, _ = p.packer.Write(b) // into memory
	}
}

func (p *packed) writeText(s string) { p.write([]byte(s)) }

// send gives c what was written as its answer. p is not to be used again.
func (p *packed) send(c *fiber.Ctx) {
	if p.packer != nil {
		_ = p.packer.Close() // into memory
		p.encoding.packers.Put(p.packer)
		c.Response().Header.SetContentEncoding(p.encoding.name)
		c.Vary(fiber.HeaderAcceptEncoding)
	}
	c.Response().SetBodyRaw(p.body.Bytes())
}

// acceptedEncoding returns the encoding that a header Accept-Encoding likes best;
// nil: the answer goes as it is.
func acceptedEncoding(header string) *encoding {
	if header == "" {
		return nil
	}
	likes := map[string]float64{}
	for part := range strings.SplitSeq(header, ",") {
		name, parameter, _ := strings.Cut(part, ";")
		like := 1.0
		if q, ok := strings.CutPrefix(strings.ReplaceAll(parameter, " ", ""), "q="); ok {
			var err error
			if like, err = strconv.ParseFloat(q, 64); err != nil {
				continue
			}
		}
		likes[strings.ToLower(strings.TrimSpace(name))] = like
	}
	best, most := -1, likes["identity"]
	for i, e := range encodings {
		if like := likes[e.name]; like > 0 && (best < 0 && like >= most || like > most) {
			best, most = i, like
		}
	}
	if best < 0 {
		return nil
	}
	return &encodings[best]
}
