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

	"github.com/parley-search/parley/host/internal/base/framing"
	"github.com/parley-search/parley/host/internal/base/outbound"
)

// Options is how a [Client] is made. The zero value works.
type Options struct {
	Limits    Limits
	UserAgent string        // default "parley"
	Resolver  *net.Resolver // default: the machine's
	TLS       *tls.Config   // default: the machine's roots, TLS 1.2 and later
	Record    *Recorder     // nil: nothing is recorded
	Private   Private       // private addresses that may be named; default none
	// Signer signs requests with a credential in; nil: those are refused.
	Signer outbound.Signer
}

// Limits bounds what one request may take. The zero value of a field means its
// default, given beside it.
type Limits struct {
	Connect   time.Duration // name, connection and TLS; default 10s
	FirstByte time.Duration // from there to the response's head; default 60s
	Silence   time.Duration // between bytes of the body; default 60s
	Whole     time.Duration // all of it; default 10 min
	// Most bounds what a plugin may say of FirstByte and Silence; default 10 min.
	Most time.Duration

	MaxEvent    int   // bytes of one event; default 16 MiB
	MaxResponse int64 // bytes of a response's body, decompressed; default 256 MiB
	MaxHead     int64 // bytes of a response's head; default 64 KiB
	MaxRequest  int   // bytes of a request's body; default 64 MiB
}

func (l Limits) withDefaults() Limits {
	l.Connect = cmp.Or(l.Connect, 10*time.Second)
	l.FirstByte = cmp.Or(l.FirstByte, time.Minute)
	l.Silence = cmp.Or(l.Silence, time.Minute)
	l.Whole = cmp.Or(l.Whole, 10*time.Minute)
	l.Most = cmp.Or(l.Most, 10*time.Minute)
	l.MaxEvent = cmp.Or(l.MaxEvent, framing.DefaultMaxEvent)
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
	signer    outbound.Signer

	// Connections to private addresses have a pool of their own, so that none
	// is ever lent to a request that may not go there.
	public, private *pool
}

// New returns a client.
func New(o Options) *Client {
	limits := o.Limits.withDefaults()
	return &Client{
		limits:    limits,
		userAgent: cmp.Or(o.UserAgent, "parley"),
		record:    o.Record,
		signer:    o.Signer,
		public:    newPool(newTransport(&o, limits, Private{})),
		private:   newPool(newTransport(&o, limits, o.Private)),
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
	r, signed, err := c.send(ctx, out)
	if err == nil && r.Status() == http.StatusUnauthorized && signed.Drop != nil {
		// Tokens end before their time, too: with a new one it may be well.
		signed.Drop()
		if again, _, againErr := c.send(ctx, out); againErr == nil {
			r.Close()
			r = again
		}
	}
	if err != nil {
		return nil, err
	}
	r.record = c.record.begin(out, r.url, r.resp, r.framing, r.scrub.texts)
	if r.Status()/100 == 2 {
		r.keepHead(out)
		r.resp.Header = nil
	}
	return r, nil
}

// send sends out once.
func (c *Client) send(ctx context.Context, out *outbound.Request) (_ *response, signed outbound.Signed, err error) {
	w, sent := newWatch(ctx, c.limits.of(out)), &payload{}
	req, private, err := c.request(w.trace(sent.wrote), out, sent)
	if err != nil {
		w.stop()
		return nil, signed, err
	}
	url := req.URL.String() // without what signs it
	if out.Credential != nil && out.Credential.Auth != nil {
		if signed, err = c.sign(w, req, sent.whole, out); err != nil {
			w.stop()
			return nil, signed, err
		}
	}
	scrub := newScrubs(out.Secrets, signed.Secrets...)
	transport := c.public
	if private {
		transport = c.private
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		err = failure(w, req.URL.Host, scrub.texts, err)
		w.stop()
		return nil, signed, err
	}
	w.pause()
	sent.answered()
	r := &response{
		resp:  resp,
		url:   url,
		watch: w,
		left:  c.limits.MaxResponse,
		limit: c.limits.MaxResponse,
		scrub: scrub,
		framing: framing.Options{
			Framing:     out.Encoded.Framing,
			ContentType: resp.Header.Get("Content-Type"),
			MaxEvent:    c.limits.MaxEvent,
		},
	}
	r.framer = framing.New(r.framing)
	if err := r.open(); err != nil {
		r.Close()
		return nil, signed, err
	}
	return r, signed, nil
}

// sign has req signed in. The time that a token takes is none of the provider's.
func (c *Client) sign(w *watch, req *http.Request, body []byte, out *outbound.Request) (outbound.Signed, error) {
	if c.signer == nil {
		return outbound.Signed{}, refused("this host signs no requests in")
	}
	w.enter(connecting, w.limits.Whole)
	signed, err := c.signer.Sign(w.ctx, req, body, out)
	w.enter(connecting, w.limits.Connect)
	if err != nil && w.ended() {
		return signed, w.failure("", err)
	}
	return signed, err
}

// of returns the limits for out: the plugin's own where it has some, as far as
// they are allowed, and no more than what it says of this one request.
func (l Limits) of(out *outbound.Request) Limits {
	if out.FirstByte > 0 {
		l.FirstByte = min(out.FirstByte, max(l.Most, l.FirstByte))
	}
	if n := out.Encoded.FirstByteSeconds; n > 0 { // which only lowers
		l.FirstByte = min(time.Duration(n)*time.Second, l.FirstByte)
	}
	if out.Silence > 0 {
		l.Silence = min(out.Silence, max(l.Most, l.Silence))
	}
	return l
}
