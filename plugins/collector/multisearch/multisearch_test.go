package main

import (
	"testing"

	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/sdk/plugintest"
)

func TestReference(t *testing.T) {
	d := plugintest.NewCollector(t, &window{}, "manifest.json")
	d.Compare(plugintest.Reference{
		"federation.use_federation":           d.Says("MultiSearch.Federation"),
		"searches.avg_search_count":           d.Says("MultiSearch.Queries"),
		"searches.total_search_count":         d.Says("MultiSearch.Queries"),
		"indexes.avg_distinct_index_count":    d.Says("MultiSearch.Indexes"),
		"indexes.total_distinct_index_count":  d.Says("MultiSearch.Indexes"),
		"indexes.total_single_index":          func(e any) any { return e.(event.MultiSearch).Indexes == 1 },
		"remotes.total_distinct_remote_count": d.Says("MultiSearch.Remotes"),
		"remotes.avg_distinct_remote_count":   d.Says("MultiSearch.Remotes"),
	})
}

func TestMultiSearch(t *testing.T) {
	d := plugintest.NewCollector(t, &window{}, "manifest.json")
	plugintest.Emit(d, event.MultiSearch{Queries: 3, Indexes: 1})
	plugintest.Emit(d, event.MultiSearch{Queries: 2, Indexes: 2, Federation: 1, Remotes: 1})
	got := d.End()
	if got["searches.avg_search_count"] != 2.5 || got["indexes.total_distinct_index_count"] != int64(3) || got["indexes.total_single_index"] != int64(1) {
		t.Errorf("metrics = %v, want 2.5 queries, 3 indexes in all, 1 call of one index", got)
	}
	if got["federation.use_federation"] != true || got["remotes.avg_distinct_remote_count"] != 0.5 {
		t.Errorf("metrics = %v, want federation and half a remote", got)
	}
}
