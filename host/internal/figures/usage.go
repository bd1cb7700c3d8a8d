package figures

import (
	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/metrics"
	"github.com/parley-search/parley/host/internal/telemetry"
)

// Usage is what GET /metrics has of the last window that ended: the sink
// of telemetry that is Prometheus. It shows what stays on this machine, too.
func Usage(engine *telemetry.Engine) []metrics.Family {
	last := engine.Last()
	if last.Number == 0 { // none has ended, or telemetry is off
		return nil
	}
	manifests := map[string]*abi.Manifest{}
	for _, c := range engine.Status().Collectors {
		manifests[c.Name] = c.Manifest
	}
	return usageFamilies(last, manifests)
}

// usageFamilies is a window as families, as far as manifests, by name, know it.
func usageFamilies(last telemetry.Window, manifests map[string]*abi.Manifest) []metrics.Family {
	all := []metrics.Family{{
		Name: "parley_telemetry_window_sealed_timestamp_seconds", Help: "When the window ended that parley_usage_ figures are of, in Unix time.",
		Kind: metrics.Gauge, Samples: []metrics.Sample{{Value: float64(last.Sealed.Unix())}},
	}}
	for _, f := range telemetry.Figures(last, manifests) {
		if all[len(all)-1].Name != f.Family {
			all = append(all, metrics.Family{Name: f.Family, Help: f.Help, Kind: metrics.Gauge, Labels: []string{"collector", "path", "text"}})
		}
		to := &all[len(all)-1]
		to.Samples = append(to.Samples, metrics.Sample{Labels: []string{f.Collector, f.Path, f.Text}, Value: f.Value})
	}
	return all
}
