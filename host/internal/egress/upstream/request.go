package upstream

import (
	"context"
	"fmt"
	"net/http"

	"github.com/parley-search/parley/host/internal/base/outbound"
)

// request checks what was described and makes it a request that ctx ends, with
// sent as its body. private says that it may go to a private address.
func (c *Client) request(ctx context.Context, out *outbound.Request, sent *payload) (req *http.Request, private bool, err error) {
	checked, err := out.Check()
	if err != nil {
		return nil, false, err
	}
	if len(checked.Body) > c.limits.MaxRequest {
		return nil, false, refused("the request has %d bytes; at most %d are sent", len(checked.Body), c.limits.MaxRequest)
	}
	if checked.IsJSON && checked.Header["Content-Type"] == nil {
		checked.Header.Set("Content-Type", "application/json")
	}
	if checked.Header["User-Agent"] == nil {
		checked.Header.Set("User-Agent", c.userAgent)
	}
	req, err = http.NewRequestWithContext(ctx, checked.Method, checked.URL.String(), http.NoBody)
	if err != nil {
		return nil, false, refused("the plugin described a request that HTTP cannot carry")
	}
	req.Header = checked.Header
	sent.whole = checked.Body
	sent.attach(req)
	return req, checked.Private, nil
}

func refused(format string, args ...any) error {
	return &outbound.Error{Kind: outbound.Refused, Message: fmt.Sprintf(format, args...)}
}
