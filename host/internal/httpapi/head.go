package httpapi

import (
	"bytes"

	"github.com/valyala/fasthttp"
)

// checkHead says what is wrong with the head of a request that fasthttp reads
// though another reader of HTTP, such as a proxy in front of the host, may cut
// it elsewhere or take it to be for another host; "" where nothing is. It runs
// before the body is read. What fasthttp refuses itself never gets here.
func checkHead(r *fasthttp.Request) string {
	h := &r.Header
	if p := string(h.Protocol()); p != "HTTP/1.1" && p != "HTTP/1.0" {
		return "its version of HTTP is neither 1.1 nor 1.0"
	}
	var length, encoding bool
	for rest := h.RawHeaders(); len(rest) > 0; {
		line, after, _ := bytes.Cut(rest, []byte{'\n'})
		rest = after
		line, whole := bytes.CutSuffix(line, []byte{'\r'})
		name, value, _ := bytes.Cut(line, []byte{':'})
		switch {
		case !whole:
			return "a line of its head ends without a carriage return"
		case len(line) > 0 && (line[0] == ' ' || line[0] == '\t'):
			return "a header goes on in a second line"
		case bytes.ContainsAny(name, " \t"):
			return "the name of a header holds a space"
		case bytes.EqualFold(name, []byte(fasthttp.HeaderContentLength)):
			length = true
		case bytes.EqualFold(name, []byte(fasthttp.HeaderTransferEncoding)):
			encoding = true
			if !bytes.EqualFold(bytes.Trim(value, " \t"), []byte("chunked")) {
				return "its Transfer-Encoding is not chunked"
			}
		}
	}
	switch {
	case length && encoding:
		return "it has both Content-Length and Transfer-Encoding"
	case bytes.IndexByte(h.Host(), '@') >= 0:
		return "its Host holds a user name"
	case !bytes.EqualFold(r.Host(), h.Host()):
		return "its URL and its Host name different hosts"
	}
	return ""
}
