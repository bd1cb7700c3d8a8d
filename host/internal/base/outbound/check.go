package outbound

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/parley-search/parley/abi"
)

// Bounds of what may be described, in bytes but for the first.
const (
	maxHeaders     = 64
	maxHeaderValue = 8 << 10  // before secrets are put in
	maxHeading     = 32 << 10 // of all header names and values
	maxURL         = 8 << 10
)

var (
	methods  = []string{http.MethodPost, http.MethodGet}
	framings = []string{abi.FramingAuto, abi.FramingSSE, abi.FramingJSONLines, abi.FramingJSONArray, abi.FramingAWSEventStream}
)

// Checked is a request that may be sent.
type Checked struct {
	Method string
	URL    *url.URL
	Header http.Header
	Body   []byte // as it goes out
	IsJSON bool   // Body is a JSON value, not a text
	// Private: it goes to the origin of BaseURL, which alone may be a private address.
	Private bool

	origin origin
}

// Check makes what was described a request that may be sent: it refuses what
// cannot be sent, or has no grant, and puts the secrets in. It is the only such
// check, for plugins and for what the host describes itself. An error is an
// [*Error] of kind [Refused]; none holds a secret.
func (r *Request) Check() (*Checked, error) {
	if r.Credential == nil {
		if err := checkPlaceholders(r.Encoded); err != nil {
			return nil, err
		}
	}
	c, err := CheckForm(r.Encoded)
	if err != nil {
		return nil, err
	}
	if err := r.checkGrant(c); err != nil {
		return nil, err
	}
	for name, values := range c.Header {
		if r.Credential != nil {
			break // nothing is replaced, so that a ${ may stand there
		}
		if values[0], err = expand(name, values[0], r.Grants.Secrets, r.Secrets); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// CheckForm is the part of [Request.Check] that asks for nothing but e: whatever
// it is granted, and whatever the workspace. Placeholders stay.
func CheckForm(e *abi.EncodeResponse) (*Checked, error) {
	c := &Checked{Method: cmp.Or(e.Method, http.MethodPost)}
	if !slices.Contains(methods, c.Method) {
		return nil, refused("the plugin asked for the method %.20q; POST and GET are allowed", c.Method)
	}
	if !slices.Contains(framings, cmp.Or(e.Framing, abi.FramingAuto)) {
		return nil, refused("the plugin asked for the framing %.40q; there are auto, sse, jsonLines, jsonArray and awsEventStream", e.Framing)
	}
	switch {
	case len(e.Head) > abi.MaxHead:
		return nil, refused("the plugin asked for %d headers of the response; at most %d are given", len(e.Head), abi.MaxHead)
	case e.FirstByteSeconds < 0 || e.FirstByteSeconds > abi.MaxTimeoutSeconds:
		return nil, refused("the plugin gave its provider %d seconds; 1 to %d are allowed, or 0 for none", e.FirstByteSeconds, abi.MaxTimeoutSeconds)
	}
	err := c.setURL(e.URL)
	if err == nil {
		err = c.setHeader(e.Headers)
	}
	if err == nil {
		err = c.setBody(e.Body)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Checked) setURL(raw string) (err error) {
	switch {
	case len(raw) > maxURL:
		return refused("the plugin asked for a URL of %d bytes; at most %d are allowed", len(raw), maxURL)
	case strings.ContainsFunc(raw, isUnfitForURL):
		return refused("the plugin asked for a URL that holds a space or a control character")
	}
	if c.URL, c.origin, err = parseOrigin(raw); err != nil {
		return refused("the plugin asked for a URL that %v", err)
	}
	return nil
}

func isUnfitForURL(r rune) bool { return r <= ' ' || unicode.IsControl(r) || r == utf8.RuneError }

// checkGrant refuses a destination that r has no grant for.
func (r *Request) checkGrant(c *Checked) error {
	if r.BaseURL != "" {
		_, base, err := parseOrigin(r.BaseURL)
		c.Private = err == nil && base == c.origin
	}
	for _, grant := range r.Grants.HTTP {
		if grant == abi.GrantBaseURL {
			if c.Private {
				return nil
			}
			continue
		}
		if _, granted, err := parseOrigin(grant); err == nil && granted == c.origin {
			return nil
		}
	}
	return refused("the plugin asked for %s, which it has no grant for", c.origin)
}

// setBody takes the bytes to send: a JSON string's text, any other value as it
// stands.
func (c *Checked) setBody(raw abi.RawJSON) error {
	body := bytes.TrimSpace(raw)
	if len(body) == 0 || string(body) == "null" {
		return nil
	}
	if body[0] == '"' {
		var text string
		if err := json.Unmarshal(body, &text); err != nil {
			return refused("the plugin described a body that is not JSON")
		}
		c.Body = []byte(text)
		return nil
	}
	c.Body, c.IsJSON = body, true
	return nil
}

// checkPlaceholders refuses placeholders where none is replaced, for those who
// write them.
func checkPlaceholders(e *abi.EncodeResponse) error {
	if strings.Contains(e.URL, "${") {
		return refused("the plugin put a placeholder in the URL; secrets go in header values only")
	}
	for name := range e.Headers {
		if strings.Contains(name, "${") {
			return refused("the plugin put a placeholder in a header's name; secrets go in header values only")
		}
	}
	return checkBodyFields(e.Body)
}

// checkBodyFields refuses a body with a placeholder for a field of its own: its
// author takes it to be replaced. Deeper down it may be what somebody wrote to
// the model, and goes out as it stands; nothing in a body is ever replaced.
func checkBodyFields(body []byte) error {
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
		if isPlaceholder(text) {
			return refused("the plugin put a placeholder in the body's field %.40q; secrets go in header values only", name)
		}
	}
	return nil
}

func refused(format string, args ...any) error {
	return &Error{Kind: Refused, Message: fmt.Sprintf(format, args...)}
}
