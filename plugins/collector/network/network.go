package main

import (
	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/sdk/collector"
)

// The ends of ranges in manifest.json.
const (
	mostRemotes  = 65535
	mostExports  = 1 << 31
	mostPatterns = 65535
	mostPayload  = 1 << 50
)

// window is who called, and what became of network, exports and stats.
type window struct {
	clients collector.Handles

	patched event.Flag // the network was, and network is the last of it
	network event.Network

	exports, withAPIKey           collector.Sum
	patterns, filtered, payloaded collector.Mean

	stats, oneIndex event.Flag
}

func (w *window) Observe(e collector.Event) {
	switch e.Kind() {
	case event.KindHTTPRequest:
		w.clients.Add(e.HTTPRequest().UserAgent)
	case event.KindNetwork:
		w.patched, w.network = 1, *e.Network()
	case event.KindExport:
		w.export(e.Export())
	case event.KindStats:
		w.stats = 1
		w.oneIndex |= e.Stats().OneIndex
	}
}

func (w *window) export(e *event.Export) {
	w.exports.Add(1)
	w.withAPIKey.Add(uint64(e.APIKey))
	w.patterns.Add(min(uint64(e.IndexPatterns), mostPatterns))
	w.filtered.Add(min(uint64(e.PatternsWithFilter), mostPatterns))
	if size, given := e.PayloadSize.Get(); given {
		w.payloaded.Add(min(size, mostPayload))
	}
}

func (w *window) Flush(m *collector.Metrics) {
	m.Handles(metricUserAgents, &w.clients)
	if w.patched != 0 {
		m.Flag(metricHasSelf, w.network.Self)
		m.UpTo(metricSize, uint64(w.network.Remotes), mostRemotes)
	}
	if w.exports > 0 {
		m.UpTo(metricExports, uint64(w.exports), mostExports)
		m.UpTo(metricWithAPIKey, uint64(w.withAPIKey), mostExports)
	}
	m.Mean(metricPatterns, w.patterns)
	m.Mean(metricPatternsWithFilter, w.filtered)
	m.Mean(metricPayloadSize, w.payloaded)
	if w.stats != 0 {
		m.Flag(metricPerIndexUID, w.oneIndex)
	}
}
