package upstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/task"
)

var _ task.Poster = (*Webhook)(nil)

// webhookWhole bounds one message of a webhook, from the connection to the end
// of the answer.
const webhookWhole = 30 * time.Second

// A Webhook posts to one address. Redirects are not followed: they would take its headers elsewhere. Safe for concurrent use.
type Webhook struct {
	url       *url.URL
	headers   map[string]secret.Text
	userAgent string
	transport *http.Transport
}

// ParseWebhookURL checks the address of a webhook.
func ParseWebhookURL(s string) (*url.URL, error) {
	u, err := outbound.ParseURL(s, outbound.URLRules{Query: true})
	if err != nil {
		return nil, fmt.Errorf("is not an http or https address with a host, and no user or fragment: it %w", err)
	}
	return u, nil
}

// NewWebhook returns a webhook that sends the given headers, by o's resolver, TLS
// and private addresses.
func NewWebhook(to *url.URL, headers map[string]secret.Text, o Options) *Webhook {
	transport := newTransport(&o, o.Limits.withDefaults(), o.Private)
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = 2, 2
	return &Webhook{to, headers, o.UserAgent, transport}
}

// Post implements [task.Poster]. Errors name host and status, never the path,
// which may hold a token.
func (w *Webhook) Post(ctx context.Context, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, webhookWhole)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url.String(), bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("make request of webhook: %w", task.ErrRefused)
	}
	req.Header.Set("Content-Type", "application/x-ndjson")
	req.Header.Set("Content-Encoding", "gzip")
	req.Header.Set("User-Agent", w.userAgent)
	for name, value := range w.headers {
		req.Header.Set(name, value.Reveal())
	}
	resp, err := w.transport.RoundTrip(req)
	if a, ok := errors.AsType[errAddress](err); ok {
		return fmt.Errorf("post to webhook: %w: %w", a, task.ErrRefused)
	}
	if err != nil {
		return fmt.Errorf("post to webhook: %w", err)
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, 4<<10) // so that the connection may be used again
	switch s := resp.StatusCode; {
	case s/100 == 2:
		return nil
	case s/100 == 5 || s == http.StatusTooManyRequests || s == http.StatusRequestTimeout:
		return fmt.Errorf("post to webhook: status %d", s)
	default:
		return fmt.Errorf("post to webhook: status %d: %w", s, task.ErrRefused)
	}
}

// Close closes the connections that wait.
func (w *Webhook) Close() error {
	w.transport.CloseIdleConnections()
	return nil
}
