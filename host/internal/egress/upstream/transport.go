package upstream

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"github.com/parley-search/parley/host/internal/egress/upstream/http1"
)

// receiveBuffer is what may wait of an answer while its reader is slow. Left
// alone, a system keeps megabytes of each, and a provider that could be held
// back is not.
const receiveBuffer = 256 << 10

// NewTransport returns a pool of connections for what is no request of a client:
// by o's resolver and TLS, to public addresses and those of o.Private alone.
func NewTransport(o Options) *http.Transport {
	limits := o.Limits.withDefaults()
	t := newTransport(&o, limits, o.Private)
	t.ResponseHeaderTimeout = limits.FirstByte
	return t
}

// newTransport returns a pool of connections. No proxy of the environment is
// asked: it would see the keys, and would reach addresses that we refuse.
func newTransport(o *Options, limits Limits, private Private) *http.Transport {
	dialer := &net.Dialer{
		Timeout:  limits.Connect,
		Resolver: o.Resolver,
		// Here the name is resolved: whatever it said when somebody looked
		// before, this is the address that is connected to.
		ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(address)
			if err != nil {
				return errNotAnAddress
			}
			return checkAddress(at.Addr(), private)
		},
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.TLS != nil {
		config = o.TLS.Clone()
	}
	return &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dialer.DialContext(ctx, network, address)
			if tcp, ok := c.(*net.TCPConn); ok {
				// Where that fails, the system's own measure holds.
				_ = tcp.SetReadBuffer(receiveBuffer)
			}
			return c, err
		},
		TLSClientConfig:     config,
		TLSHandshakeTimeout: limits.Connect,
		ForceAttemptHTTP2:   true,
		// A transport that decompresses would hide how the body came; see
		// gunzip.
		DisableCompression:     true,
		MaxResponseHeaderBytes: limits.MaxHead,
		// Each connection has both, also while nothing comes for a long time. The
		// head of a request fits, which else would go out in pieces (what does not
		// fit of a body is written as it stands), and what the framer begins with.
		WriteBufferSize:     512,
		ReadBufferSize:      768,
		MaxIdleConns:        256,
		MaxIdleConnsPerHost: 64,
		// Below what servers keep a connection for, most of them 60 s and more:
		// a request sent while the other side hangs up is lost.
		IdleConnTimeout: 30 * time.Second,
		HTTP2: &http.HTTP2Config{
			// What a slow reader may leave waiting in memory; a connection has
			// room for its streams, so that one such reader stops no other.
			MaxReceiveBufferPerStream:     receiveBuffer,
			MaxReceiveBufferPerConnection: 64 << 20,
			// A connection that died in silence must not swallow new requests.
			SendPingTimeout: 15 * time.Second,
			PingTimeout:     10 * time.Second,
		},
	}
}

// plainRequest is the most that a body may have to go without net/http's client,
// which reads an answer while it still writes: so much is on its way without
// being read, in buffers of the system.
const plainRequest = 64 << 10

// A pool has the connections for requests of clients: to a provider without TLS,
// such as a model's own server, those of package http1, which are cheaper.
type pool struct {
	*http.Transport
	plain *http1.Transport
}

func newPool(t *http.Transport) *pool {
	return &pool{t, &http1.Transport{
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			return t.DialContext(ctx, network, address)
		},
		MaxHead:        t.MaxResponseHeaderBytes,
		ReadBuffer:     512, // what is more is read at once, see Read of a connection
		MaxIdle:        t.MaxIdleConns,
		MaxIdlePerHost: t.MaxIdleConnsPerHost,
		IdleFor:        t.IdleConnTimeout,
	}}
}

// RoundTrip implements [http.RoundTripper].
func (p *pool) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme == "http" && req.ContentLength <= plainRequest {
		return p.plain.RoundTrip(req)
	}
	return p.Transport.RoundTrip(req)
}

// CloseIdleConnections closes the connections that wait.
func (p *pool) CloseIdleConnections() {
	p.Transport.CloseIdleConnections()
	p.plain.CloseIdleConnections()
}
