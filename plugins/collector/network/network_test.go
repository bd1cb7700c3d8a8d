package main

import (
	"testing"

	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/sdk/plugintest"
)

func TestReference(t *testing.T) {
	d := plugintest.NewCollector(t, &window{}, "manifest.json")
	d.Compare(plugintest.Reference{
		"user_agent":       d.Says("HTTPRequest.UserAgent"),
		"network_has_self": d.Says("Network.Self"),
		"network_size":     d.Says("Network.Remotes"),
		"export.total_received": func(e any) any {
			if _, ok := e.(event.Export); ok {
				return true // once
			}
			return nil
		},
		"export.has_api_key":              d.Says("Export.APIKey"),
		"export.avg_index_patterns":       d.Says("Export.IndexPatterns"),
		"export.avg_patterns_with_filter": d.Says("Export.PatternsWithFilter"),
		"export.avg_payload_size":         d.Says("Export.PayloadSize"),
		"per_index_uid":                   d.Says("Stats.OneIndex"),
	})
}

func TestNetwork(t *testing.T) {
	d := plugintest.NewCollector(t, &window{}, "manifest.json")
	plugintest.Emit(d, event.Network{Self: 1, Remotes: 2})
	plugintest.Emit(d, event.Network{Remotes: 3})
	plugintest.Emit(d, event.Export{IndexPatterns: 2, PayloadSize: event.MaybeCountOf(100)})
	plugintest.Emit(d, event.Export{IndexPatterns: 3})
	got := d.End()
	if got["network_has_self"] != false || got["network_size"] != int64(3) {
		t.Errorf("metrics = %v, want the network as it was left: 3 remotes and no self", got)
	}
	if got["export.avg_index_patterns"] != 2.5 || got["export.avg_payload_size"] != 100.0 {
		t.Errorf("metrics = %v, want 2.5 patterns, and a payload of 100 of the one that gave it", got)
	}
}
