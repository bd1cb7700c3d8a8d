package figures

import (
	"slices"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/setup/metrics"
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
	var family []telemetry.Figure
	figures := telemetry.Figures(last, manifests)
	for i, f := range figures {
		if family = append(family, f); i+1 == len(figures) || figures[i+1].Family != f.Family {
			all = append(all, usageFamily(family))
			family = nil
		}
	}
	return all
}

// usageFamily is the figures of one family, whose labels are those of all its
// metrics: where a figure lacks one it is empty, which is as if it were not there.
func usageFamily(of []telemetry.Figure) metrics.Family {
	f := metrics.Family{Name: of[0].Family, Help: of[0].Help, Kind: metrics.Gauge, Labels: []string{"collector", "path", "text"}}
	if of[0].Buckets != nil {
		f.Kind = metrics.Histogram
	}
	of = slices.DeleteFunc(of, func(one telemetry.Figure) bool { return (one.Buckets != nil) != (f.Kind == metrics.Histogram) })
	for _, one := range of {
		if one.Label != "" && !slices.Contains(f.Labels, one.Label) {
			f.Labels = append(f.Labels, one.Label)
		}
	}
	for _, one := range of {
		labels := make([]string, len(f.Labels))
		copy(labels, []string{one.Collector, one.Path, one.Text})
		if at := slices.Index(f.Labels, one.Label); at >= 0 {
			labels[at] = one.At
		}
		f.Samples = append(f.Samples, metrics.Sample{Labels: labels, Value: one.Value, Count: one.Count, Buckets: one.Buckets})
	}
	return f
}
