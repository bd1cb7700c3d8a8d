package figures

import (
	"context"

	"github.com/parley-search/parley/host/internal/setup/metrics"
	"github.com/parley-search/parley/host/internal/telemetry"
	"github.com/parley-search/parley/host/internal/telemetry/outbox"
)

// Telemetry is what GET /metrics has of telemetry on its way out: whether
// it is on, what waits in the spool, what was lost and how delivery goes.
func Telemetry(engine *telemetry.Engine, spool *outbox.Spool, courier *telemetry.Courier) []metrics.Family {
	family := func(name, help string, kind metrics.Kind, value float64) metrics.Family {
		return metrics.Family{Name: "parley_telemetry_" + name, Help: help, Kind: kind, Samples: []metrics.Sample{{Value: value}}}
	}
	on := 0.0
	if engine != nil {
		on = 1
	}
	all := []metrics.Family{family("on", "1 where telemetry is collected.", metrics.Gauge, on)}
	if engine == nil {
		return all
	}
	if u, err := spool.Usage(context.Background()); err == nil {
		all = append(all,
			family("spool_bytes", "Messages in the spool.", metrics.Gauge, float64(u.Bytes)),
			family("spool_messages", "Messages that wait for delivery.", metrics.Gauge, float64(u.Pending)),
			family("quarantined_messages", "Messages that the platform refused and that are kept for a week.", metrics.Gauge, float64(u.Quarantined)),
			family("dropped_messages_total", "Messages that went for want of room or for their age, since the spool was made.", metrics.Counter, float64(u.Dropped)),
		)
	}
	all = append(all, family("dropped_events_total", "Events that found no room before a collector took them.", metrics.Counter, float64(engine.Ring().Dropped())))
	if courier == nil {
		return all
	}
	s := courier.Status()
	all = append(all,
		family("requests_total", "Attempts to deliver.", metrics.Counter, float64(s.Requests)),
		family("delivered_messages_total", "Messages that the platform took.", metrics.Counter, float64(s.Delivered)),
		family("refused_messages_total", "Messages that the platform refused.", metrics.Counter, float64(s.Refused)),
	)
	if !s.Success.IsZero() {
		all = append(all, family("last_success_timestamp_seconds", "When the platform last took something, in Unix time.", metrics.Gauge, float64(s.Success.UnixMilli())/1000))
	}
	return all
}
