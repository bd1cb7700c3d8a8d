package upstream

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/telemetry"
)

// telemetryTimeout bounds one delivery.
const telemetryTimeout = time.Minute

// A TelemetrySender delivers telemetry to one address, which the operator
// named. It implements [telemetry.Sender] and is safe for concurrent use.
type TelemetrySender struct {
	url       string
	key       secret.Text
	userAgent string
	transport *http.Transport
}

var _ telemetry.Sender = (*TelemetrySender)(nil)

// CheckTelemetryURL says what is wrong with an address for telemetry.
func CheckTelemetryURL(address string) error {
	if _, err := outbound.ParseURL(address, outbound.URLRules{Query: true}); err != nil {
		return fmt.Errorf("it %w: the write key is a separate option", err)
	}
	return nil
}

// NewTelemetrySender returns a sender of what a Segment-compatible platform
// takes at address, such as https://example.com/v1/batch, with key as its write
// key. Addresses of private networks are allowed, since the operator named
// one; those of the machine's cloud are not. o.TLS and o.Resolver are used.
func NewTelemetrySender(address string, key secret.Text, o Options) (*TelemetrySender, error) {
	if err := CheckTelemetryURL(address); err != nil {
		return nil, fmt.Errorf("telemetry URL: %w", err)
	}
	limits := Limits{}.withDefaults()
	transport := newTransport(&o, limits, o.Private)
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = 1, 1
	return &TelemetrySender{address, key, "parley", transport}, nil
}

// Send implements [telemetry.Sender].
func (s *TelemetrySender) Send(ctx context.Context, body []byte) (telemetry.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, telemetryTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return telemetry.Answer{}, fmt.Errorf("make telemetry request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", s.userAgent)
	if !s.key.IsZero() {
		req.SetBasicAuth(s.key.Reveal(), "")
	}
	// A transport follows no redirects.
	resp, err := s.transport.RoundTrip(req)
	if err != nil {
		return telemetry.Answer{}, fmt.Errorf("deliver telemetry to %s: %w", req.URL.Host, err)
	}
	defer resp.Body.Close()
	// What it says is of no interest, but the connection is.
	_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	if err != nil && resp.StatusCode >= 200 && resp.StatusCode < 300 {
		// A platform that is cut off in its answer may not have kept it; a
		// repeat does no harm.
		return telemetry.Answer{}, fmt.Errorf("read answer of %s: %w", req.URL.Host, err)
	}
	return telemetry.Answer{Status: resp.StatusCode, RetryAfter: resp.Header.Get("Retry-After")}, nil
}

// Close closes the connection that waits.
func (s *TelemetrySender) Close() error {
	s.transport.CloseIdleConnections()
	return nil
}
