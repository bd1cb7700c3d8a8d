package request

import (
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// An encoding is a way to compress an answer.
type encoding struct {
	name     string
	compress func(src []byte) []byte
}

// encodings lists those offered: of several that a client likes as well, the
// first is taken. All are the quickest of their kind, with encoders that fasthttp
// keeps.
var encodings = []encoding{
	{"gzip", func(src []byte) []byte {
		return fasthttp.AppendGzipBytesLevel(nil, src, fasthttp.CompressBestSpeed)
	}},
	{"br", func(src []byte) []byte {
		return fasthttp.AppendBrotliBytesLevel(nil, src, fasthttp.CompressBrotliBestSpeed)
	}},
	{"deflate", func(src []byte) []byte {
		return fasthttp.AppendDeflateBytesLevel(nil, src, fasthttp.CompressBestSpeed)
	}},
	{"zstd", func(src []byte) []byte {
		return fasthttp.AppendZstdBytesLevel(nil, src, fasthttp.CompressZstdBestSpeed)
	}},
}

// Compress compresses the answer as `Accept-Encoding` says. Short ones too: some
// clients unpack every answer once they asked for it.
func Compress(c *fiber.Ctx) {
	res := c.Response()
	if res.IsBodyStream() || len(res.Body()) == 0 || len(res.Header.ContentEncoding()) > 0 {
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
