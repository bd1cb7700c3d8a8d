package upstream

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/outbound"
)

// Bounds of what a plugin may describe, in bytes but for the first.
const (
	maxHeaders = 64
	maxHeading = 32 << 10 // of all header names and values
	maxURL     = 8 << 10
)

// request checks what a plugin described and makes it a request that ctx ends,
// with sent as its body. Secrets go in last, when nothing is left to refuse.
// private says that it may go to a private address.
func (c *Client) request(ctx context.Context, out *outbound.Request, sent *payload) (req *http.Request, private bool, err error) {
	in := out.Encoded
	method := cmp.Or(in.Method, http.MethodPost)
	if method != http.MethodPost && method != http.MethodGet {
		return nil, false, refused("the plugin asked for the method %.20q; POST and GET are allowed", method)
	}
	if !KnownFraming(in.Framing) {
		return nil, false, refused("the plugin asked for the framing %.40q; there are auto, sse, jsonLines and jsonArray", in.Framing)
	}
	u, private, err := destination(in.URL, out)
	if err != nil {
		return nil, false, err
	}
	body, isJSON, err := c.body(in.Body)
	if err != nil {
		return nil, false, err
	}
	headers, err := checkHeaders(in.Headers)
	if err != nil {
		return nil, false, err
	}
	for name, values := range headers {
		if values[0], err = expand(name, values[0], out.Grants.Secrets, out.Secrets); err != nil {
			return nil, false, err
		}
	}
	if isJSON && headers["Content-Type"] == nil {
		headers.Set("Content-Type", "application/json")
	}
	if headers["User-Agent"] == nil {
		headers.Set("User-Agent", c.userAgent)
	}
	req, err = http.NewRequestWithContext(ctx, method, u.String(), http.NoBody)
	if err != nil {
		return nil, false, refused("the plugin described a request that HTTP cannot carry")
	}
	req.Header = headers
	sent.whole = body
	sent.attach(req)
	return req, private, nil
}

// destination checks where a request goes. private says that it goes to the
// origin of the workspace's own baseUrl, which alone may be a private address.
func destination(raw string, out *outbound.Request) (u *url.URL, private bool, err error) {
	if len(raw) > maxURL {
		return nil, false, refused("the plugin asked for a URL of %d bytes; at most %d are allowed", len(raw), maxURL)
	}
	if strings.Contains(raw, "${") {
		return nil, false, refused("the plugin put a placeholder in the URL; secrets go in header values only")
	}
	u, to, err := parseOrigin(raw)
	if err != nil {
		return nil, false, refused("the plugin asked for a URL that %v", err)
	}
	if out.BaseURL != "" {
		_, base, err := parseOrigin(out.BaseURL)
		private = err == nil && base == to
	}
	for _, grant := range out.Grants.HTTP {
		if grant == abi.GrantBaseURL {
			if private {
				return u, private, nil
			}
			continue
		}
		if _, granted, err := parseOrigin(grant); err == nil && granted == to {
			return u, private, nil
		}
	}
	return nil, false, refused("the plugin asked for %s, which it has no grant for", to)
}

// body returns the bytes to send: a JSON string's text, any other value as it
// stands.
func (c *Client) body(raw abi.RawJSON) (body []byte, isJSON bool, err error) {
	body = bytes.TrimSpace(raw)
	if len(body) > c.limits.MaxRequest {
		return nil, false, refused("the request has %d bytes; at most %d are sent", len(body), c.limits.MaxRequest)
	}
	if len(body) == 0 || string(body) == "null" {
		return nil, false, nil
	}
	if body[0] == '"' {
		var text string
		if err := json.Unmarshal(body, &text); err != nil {
			return nil, false, refused("the plugin described a body that is no JSON")
		}
		return []byte(text), false, nil
	}
	if err := noPlaceholder(body); err != nil {
		return nil, false, err
	}
	return body, true, nil
}

// noPlaceholder refuses a body with a placeholder for a field of its own: its
// author takes it to be replaced. Deeper down it may be what somebody wrote to
// the model, and goes out as it stands; nothing in a body is ever replaced.
func noPlaceholder(body []byte) error {
	if !bytes.Contains(body, []byte(`"${`)) {
		return nil
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil {
		return nil
	}
	for name, value := range fields {
		var text string
		if json.Unmarshal(value, &text) != nil {
			continue
		}
		if _, ok := placeholder(text); ok {
			return refused("the plugin put a placeholder in the body's field %.40q; secrets go in header values only", name)
		}
	}
	return nil
}

func refused(format string, args ...any) error {
	return &outbound.Error{Kind: outbound.Refused, Message: fmt.Sprintf(format, args...)}
}
