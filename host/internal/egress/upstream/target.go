package upstream

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/egress/export"
)

var _ export.Targets = (*Targets)(nil)

// Limits of a request to another instance. Only the time counts in which no
// byte of the request goes out.
const (
	targetWhole  = time.Hour
	targetAnswer = 64 << 10 // bytes of an answer that anybody looks at
	targetAfter  = time.Minute
)

// Targets reaches the instances that indexes are exported to. Redirects are answers like others: they are not
// followed. Safe for concurrent use.
type Targets struct {
	limits    Limits
	userAgent string
	transport *http.Transport
}

// NewTargets returns what reaches them, by o's limits, resolver and TLS.
func NewTargets(o Options) *Targets {
	if o.Limits.Whole == 0 {
		o.Limits.Whole = targetWhole
	}
	limits := o.Limits.withDefaults()
	transport := newTransport(&o, limits, o.Private)
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = 2, 2
	return &Targets{limits, o.UserAgent, transport}
}

// Close closes the connections that wait.
func (t *Targets) Close() error {
	t.transport.CloseIdleConnections()
	return nil
}

// Target implements [export.Targets].
func (t *Targets) Target(base *url.URL, key secret.Text) export.Target { return &target{t, base, key} }

type target struct {
	*Targets
	base *url.URL
	key  secret.Text
}

// Send implements [export.Target].
func (t *target) Send(ctx context.Context, r export.Request) (a export.Answer, err error) {
	w := newWatch(ctx, t.limits)
	defer w.stop()
	var body io.Reader = http.NoBody
	if r.Body != nil {
		body = &outgoing{bytes.NewReader(r.Body), w}
	}
	req, err := http.NewRequestWithContext(w.trace(nil), r.Method, t.base.String()+r.Path, body)
	if err != nil {
		return a, refused("the request is one that HTTP cannot carry")
	}
	req.ContentLength = int64(len(r.Body))
	req.Header.Set("User-Agent", t.userAgent)
	if r.Body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.Packed {
		req.Header.Set("Content-Type", "application/x-ndjson")
		req.Header.Set("Content-Encoding", "gzip")
	}
	var secrets map[string]string
	if !t.key.IsZero() {
		secrets = map[string]string{"apiKey": t.key.Reveal()}
		req.Header.Set("Authorization", "Bearer "+t.key.Reveal())
	}
	resp, err := t.transport.RoundTrip(req)
	if err != nil {
		return a, failure(w, t.base.Host, newScrubs(secrets).texts, err)
	}
	defer resp.Body.Close()
	w.wait()
	a.Status = resp.StatusCode
	if a.Body, err = io.ReadAll(io.LimitReader(resp.Body, targetAnswer)); err != nil {
		return a, w.failure("the answer broke off", err)
	}
	if n, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && n > 0 {
		a.After = min(time.Duration(n)*time.Second, targetAfter)
	}
	return a, nil
}

// outgoing is a body that holds off the limit for the answer while it goes out.
type outgoing struct {
	*bytes.Reader
	watch *watch
}

func (o *outgoing) Read(p []byte) (int, error) {
	o.watch.enter(awaitingHead, o.watch.limits.FirstByte)
	return o.Reader.Read(p)
}
