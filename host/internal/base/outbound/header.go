package outbound

import (
	"net/http"
	"strings"
	"unicode"
)

// hostHeaders are those that only the host sets, in lower case: they say how a
// request is carried, or who it is for.
var hostHeaders = map[string]bool{
	"host": true, "content-length": true, "transfer-encoding": true, "connection": true, "keep-alive": true,
	"te": true, "trailer": true, "upgrade": true, "expect": true, "http2-settings": true, "accept-encoding": true,
	"content-encoding": true,
}

// setHeader takes the headers as net/http has them.
func (c *Checked) setHeader(in map[string]string) error {
	if len(in) > maxHeaders {
		return refused("the plugin set %d headers; at most %d are allowed", len(in), maxHeaders)
	}
	out := make(http.Header, len(in)+2)
	size := 0
	for name, value := range in {
		size += len(name) + len(value)
		if !isToken(name) {
			return refused("the plugin set the header %.40q, which is not a header name", name)
		}
		lower := strings.ToLower(name)
		if hostHeaders[lower] || strings.HasPrefix(lower, "proxy-") {
			return refused("the plugin set the header %.40q, which only the host sets", name)
		}
		if len(value) > maxHeaderValue {
			return refused("the plugin set the header %.40q to %d bytes; at most %d are allowed", name, len(value), maxHeaderValue)
		}
		if strings.ContainsFunc(value, unicode.IsControl) {
			return refused("the plugin set the header %.40q to a value with a line end or another control character", name)
		}
		key := http.CanonicalHeaderKey(name)
		if out[key] != nil {
			return refused("the plugin set the header %.40q twice", name)
		}
		out[key] = []string{value}
	}
	if size > maxHeading {
		return refused("the plugin set %d bytes of headers; at most %d are allowed", size, maxHeading)
	}
	c.Header = out
	return nil
}

// isToken reports whether s is a token of RFC 9110, as header names are.
func isToken(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
			continue
		}
		if strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}

// isFieldValue reports whether HTTP can carry s as a header's value.
func isFieldValue(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}
