package figures

import (
	"maps"
	"slices"

	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/setup/metrics"
)

// pluginFigures is one version's share of GET /metrics. Where two modules of one
// name and version run, since one is being replaced, it is both.
type pluginFigures struct {
	labels                           []string // plugin, version
	begun, streams, calls, declared  float64
	instances, memory, open, dropped float64
	resets, resetPages, renewals     float64
	fuel                             metrics.Sample
	faults                           map[string]float64
}

// Plugins is what GET /metrics has of plugins; noLock: the host goes by a lock of before.
// Its labels are names of
// the deployment's own, never anything of a request.
func Plugins(plugins *plugin.Set, noLock bool) []metrics.Family {
	var order []*pluginFigures
	byName := map[string]*pluginFigures{}
	for _, p := range plugins.Running() {
		m, st := p.Manifest(), p.Stats()
		f := byName[m.Name+" "+m.Version]
		if f == nil {
			f = &pluginFigures{labels: []string{m.Name, m.Version}, faults: map[string]float64{}}
			f.fuel.Quantiles = map[float64]float64{0.5: float64(st.FuelP50), 0.99: float64(st.FuelP99)}
			byName[m.Name+" "+m.Version] = f
			order = append(order, f)
		}
		f.begun += float64(p.Begun)
		f.streams += float64(p.Streams)
		f.calls += float64(st.Calls)
		f.declared += float64(st.Declared)
		f.instances += float64(st.Instances)
		f.memory += float64(st.Memory)
		f.dropped += float64(st.LogLines)
		f.resets += float64(st.Resets)
		f.resetPages += float64(st.ResetPages)
		f.renewals += float64(st.Renewals)
		f.fuel.Value += float64(st.Fuel)
		f.fuel.Count += uint64(st.Calls)
		if st.Open && !p.Retired {
			f.open = 1
		}
		for kind, n := range st.Faults {
			f.faults[kind] += float64(n)
		}
	}
	family := func(name, help string, kind metrics.Kind, value func(*pluginFigures) float64) metrics.Family {
		out := metrics.Family{Name: "parley_plugin_" + name, Help: help, Kind: kind, Labels: []string{"plugin", "version"}}
		for _, f := range order {
			out.Samples = append(out.Samples, metrics.Sample{Labels: f.labels, Value: value(f)})
		}
		return out
	}
	lock := 0.0
	if noLock {
		lock = 1
	}
	faults := metrics.Family{
		Name: "parley_plugin_faults_total", Help: "What went wrong in calls and starts of a plugin, by kind.", Labels: []string{"plugin", "version", "fault"},
	}
	fuel := metrics.Family{
		Name: "parley_plugin_call_fuel", Help: "Fuel of one call of a plugin; the sum has the starts of its instances too.",
		Kind: metrics.Summary, Labels: []string{"plugin", "version"},
	}
	for _, f := range order {
		for _, kind := range slices.Sorted(maps.Keys(f.faults)) {
			faults.Samples = append(faults.Samples, metrics.Sample{Labels: append(slices.Clip(f.labels), kind), Value: f.faults[kind]})
		}
		f.fuel.Labels = f.labels
		fuel.Samples = append(fuel.Samples, f.fuel)
	}
	return []metrics.Family{
		family("streams_total", "Answers that began on a plugin.", metrics.Counter, func(f *pluginFigures) float64 { return f.begun }),
		family("streams", "Answers under way on a plugin.", metrics.Gauge, func(f *pluginFigures) float64 { return f.streams }),
		family("calls_total", "Calls of a plugin that ended, faults among them.", metrics.Counter, func(f *pluginFigures) float64 { return f.calls }),
		family("declared_errors_total", "Calls that a plugin refused in its own words.", metrics.Counter, func(f *pluginFigures) float64 { return f.declared }),
		faults,
		fuel,
		family("instances", "Instances of a plugin that are alive.", metrics.Gauge, func(f *pluginFigures) float64 { return f.instances }),
		family("memory_bytes", "Linear memory of a plugin's instances.", metrics.Gauge, func(f *pluginFigures) float64 { return f.memory }),
		family("resting", "1 while faults keep calls away from a plugin.", metrics.Gauge, func(f *pluginFigures) float64 { return f.open }),
		family("dropped_log_lines_total", "Log lines of a plugin that were too many.", metrics.Counter, func(f *pluginFigures) float64 { return f.dropped }),
		family("resets_total", "Instances of a plugin that were reset between two answers.", metrics.Counter, func(f *pluginFigures) float64 { return f.resets }),
		family("reset_pages_total", "Pages of memory that resets put back.", metrics.Counter, func(f *pluginFigures) float64 { return f.resetPages }),
		family("renewals_total", "Instances of a plugin that were replaced between two answers, since they could not be reset.", metrics.Counter, func(f *pluginFigures) float64 { return f.renewals }),
		swapMetrics(plugins),
		{Name: "parley_plugin_lock_problem", Help: "1 while plugins.lock cannot be read or is gone: what was pinned before goes on.", Kind: metrics.Gauge, Samples: []metrics.Sample{{Value: lock}}},
		{Name: "parley_plugins_refused", Help: "Modules that the last look at the plugin directory refused.", Kind: metrics.Gauge, Samples: []metrics.Sample{{Value: float64(len(plugins.Refused()))}}},
	}
}

func swapMetrics(plugins *plugin.Set) metrics.Family {
	f := metrics.Family{Name: "parley_plugin_swaps_total", Help: "How often another version of a plugin came into use.", Labels: []string{"plugin"}}
	swaps := plugins.Swaps()
	for _, name := range slices.Sorted(maps.Keys(swaps)) {
		f.Samples = append(f.Samples, metrics.Sample{Labels: []string{name}, Value: float64(swaps[name])})
	}
	return f
}
