package httpapi

import (
	"bytes"

	"github.com/valyala/fasthttp"
)

// checkHead says what is wrong with the head of a request that fasthttp reads
// though another reader of HTTP, such as a proxy in front of the host, may take
// it to be for another host, or speak another version; "" where nothing is. It runs
// before the body is read. What is wrong with lines and lengths never gets here:
// see [transport.Framing].
func checkHead(r *fasthttp.Request) string {
	h := &r.Header
	if p := string(h.Protocol()); p != "HTTP/1.1" && p != "HTTP/1.0" {
		return "its version of HTTP is neither 1.1 nor 1.0"
	}
	switch {
	case bytes.IndexByte(h.Host(), '@') >= 0:
		return "its Host holds a user name"
	case !bytes.EqualFold(r.Host(), h.Host()):
		return "its URL and its Host name different hosts"
	}
	return ""
}
