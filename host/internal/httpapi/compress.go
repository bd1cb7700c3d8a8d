package httpapi

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// An encoding is a way to compress an answer.
type encoding struct {
	name     string
	compress func(src []byte) []byte
}

// A packer compresses what is written to it. The encoders are kept: each has
// much memory of its own.
type packer interface {
	io.WriteCloser
	Reset(to io.Writer)
}

// encodings lists those offered: of several that a client likes as well, the
// first is taken.
var encodings = []encoding{
	pooled("gzip", func() packer { w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed); return w }),
	pooled("br", func() packer { return brotli.NewWriterLevel(nil, brotli.BestSpeed) }),
	pooled("deflate", func() packer { w, _ := zlib.NewWriterLevel(nil, zlib.BestSpeed); return w }),
	{"zstd", func(src []byte) []byte {
		return fasthttp.AppendZstdBytesLevel(nil, src, fasthttp.CompressZstdBestSpeed)
	}},
}

// pooled makes an encoding of packers, which are only of known levels.
func pooled(name string, newPacker func() packer) encoding {
	spare := &sync.Pool{New: func() any { return newPacker() }}
	return encoding{name, func(src []byte) []byte {
		w := spare.Get().(packer)
		defer spare.Put(w)
		var out bytes.Buffer
		w.Reset(&out)
		_, _ = w.Write(src) // a buffer takes all
		_ = w.Close()
		return out.Bytes()
	}}
}

// compress compresses the answer as `Accept-Encoding` says. Short ones too: some
// clients unpack every answer once they asked for it. Those to chats are left
// alone, so that each event of a stream arrives when it is sent.
func compress(c *fiber.Ctx, a *access) {
	res := c.Response()
	if res.IsBodyStream() || len(res.Body()) == 0 || len(res.Header.ContentEncoding()) > 0 || a.chats() {
		return
	}
	if t := string(res.Header.ContentType()); !strings.HasPrefix(t, "application/") && !strings.HasPrefix(t, "text/") {
		return // images and fonts are compressed already
	}
	e := acceptedEncoding(c.Get(fiber.HeaderAcceptEncoding))
	if e == nil {
		return
	}
	res.SetBodyRaw(e.compress(res.Body()))
	res.Header.SetContentEncoding(e.name)
	c.Vary(fiber.HeaderAcceptEncoding)
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
