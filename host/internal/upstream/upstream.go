// Package upstream is the only way out of the host: it sends what a provider
// plugin described, if the plugin was granted it, and cuts the answer into
// events.
package upstream

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"time"

	"github.com/parley-search/parley/host/internal/outbound"
)

// Options is how a [Client] is made. The zero value works.
type Options struct {
	Limits    Limits
	UserAgent string        // default "parley"
	Resolver  *net.Resolver // default: the machine's
	TLS       *tls.Config   // default: the machine's roots, TLS 1.2 and later
	Record    *Recorder     // nil: nothing is recorded
	Private   Private       // private addresses that may be named; default none
}

// Limits bounds what one request may take. The zero value of a field means its
// default, given beside it.
type Limits struct {
	Connect   time.Duration // name, connection and TLS; default 10s
	FirstByte time.Duration // from there to the response's head; default 60s
	Silence   time.Duration // between bytes of the body; default 60s
	Whole     time.Duration // all of it; default 10 min

	MaxEvent    int   // bytes of one event; default 16 MiB
	MaxResponse int64 // bytes of a response's body, decompressed; default 256 MiB
	MaxHead     int64 // bytes of a response's head; default 64 KiB
	MaxRequest  int   // bytes of a request's body; default 64 MiB
}

const defaultMaxEvent = 16 << 20

func (l Limits) withDefaults() Limits {
	l.Connect = cmp.Or(l.Connect, 10*time.Second)
	l.FirstByte = cmp.Or(l.FirstByte, time.Minute)
	l.Silence = cmp.Or(l.Silence, time.Minute)
	l.Whole = cmp.Or(l.Whole, 10*time.Minute)
	l.MaxEvent = cmp.Or(l.MaxEvent, defaultMaxEvent)
	l.MaxResponse = cmp.Or(l.MaxResponse, 256<<20)
	l.MaxHead = cmp.Or(l.MaxHead, 64<<10)
	l.MaxRequest = cmp.Or(l.MaxRequest, 64<<20)
	return l
}

// A Client sends requests to providers. It is a [outbound.Sender], safe for
// concurrent use.
type Client struct {
	limits    Limits
	userAgent string
	record    *Recorder

	// Connections to private addresses have a pool of their own, so that none
	// is ever lent to a request that may not go there.
	public, private *http.Transport
}

// New returns a client.
func New(o Options) *Client {
	limits := o.Limits.withDefaults()
	return &Client{
		limits:    limits,
		userAgent: cmp.Or(o.UserAgent, "parley"),
		record:    o.Record,
		public:    newTransport(&o, limits, Private{}),
		private:   newTransport(&o, limits, o.Private),
	}
}

// Close closes the connections that wait for a next request. Responses under
// way go on.
func (c *Client) Close() error {
	c.public.CloseIdleConnections()
	c.private.CloseIdleConnections()
	return nil
}

// Do checks out against its grants, sends it and returns once the response's
// head is there, whatever its status but a redirect. The caller closes the
// response. An error is a [*outbound.Error].
//
// ctx ends the request and then the response: the connection is closed at
// once. A connection is kept for the next request only where the response was
// read to [io.EOF].
func (c *Client) Do(ctx context.Context, out *outbound.Request) (outbound.Response, error) {
	w, sent := newWatch(ctx, c.limits), &payload{}
	req, private, err := c.request(w.trace(sent.wrote), out, sent)
	if err != nil {
		w.stop()
		return nil, err
	}
	transport := c.public
	if private {
		transport = c.private
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		err = failure(w, req.URL.Host, out.Secrets, err)
		w.stop()
		return nil, err
	}
	w.pause()
	sent.answered()
	r := &response{
		resp:  resp,
		watch: w,
		left:  c.limits.MaxResponse,
		limit: c.limits.MaxResponse,
		scrub: newScrubber(out.Secrets),
		framer: NewFramer(FramerOptions{
			Framing:     out.Encoded.Framing,
			ContentType: resp.Header.Get("Content-Type"),
			MaxEvent:    c.limits.MaxEvent,
		}),
	}
	if err := r.open(); err != nil {
		r.Close()
		return nil, err
	}
	r.record = c.record.begin(out, req, resp, r.scrub)
	if resp.StatusCode/100 == 2 {
		resp.Header = nil
	}
	return r, nil
}
