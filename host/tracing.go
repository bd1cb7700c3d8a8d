package host

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/egress/upstream"
	"github.com/parley-search/parley/host/internal/setup/config"
	"github.com/parley-search/parley/host/internal/telemetry/tracing"
)

// openTracing returns what tells the configured collector of chats, or nil.
func (h *Host) openTracing(c config.Config, o Options) (*tracing.Tracer, error) {
	if c.OTLPEndpoint == "" {
		return nil, nil
	}
	sender, err := upstream.NewTelemetrySender(strings.TrimRight(c.OTLPEndpoint, "/")+"/v1/traces", secret.Text{}, upstream.Options{Private: c.PrivateNetworks})
	if err != nil {
		return nil, err
	}
	h.onClose("connections of traces", sender.Close)
	t := tracing.Open(o.Version, func(ctx context.Context, body []byte) error {
		a, err := sender.Send(ctx, body)
		if err == nil && a.Status/100 != 2 {
			err = fmt.Errorf("HTTP %d %s", a.Status, http.StatusText(a.Status))
		}
		if err != nil {
			h.warn("traces are lost: the collector does not take them", err)
		}
		return nil // the library would print it besides
	})
	h.onClose("traces", t.Close)
	h.log.Info().Str("otlp_endpoint", c.OTLPEndpoint).Msg("chats are traced")
	return t, nil
}
