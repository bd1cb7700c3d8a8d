package main

import (
	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/sdk/collector"
)

// mostOfACall is the end of the averages' ranges in manifest.json.
const mostOfACall = 65535

// window is what the calls of multi-search held.
type window struct {
	calls, single              collector.Sum
	federation                 event.Flag
	queries, indexes, remotes  collector.Sum
	perCall, ofIndex, ofRemote collector.Mean
}

func (w *window) Observe(e collector.Event) {
	s := e.MultiSearch()
	if s == nil {
		return
	}
	w.calls.Add(1)
	w.federation |= s.Federation
	if s.Indexes == 1 {
		w.single.Add(1)
	}
	countInto(&w.queries, &w.perCall, s.Queries)
	countInto(&w.indexes, &w.ofIndex, s.Indexes)
	countInto(&w.remotes, &w.ofRemote, s.Remotes)
}

func countInto(all *collector.Sum, average *collector.Mean, n event.Count) {
	all.Add(uint64(n))
	average.Add(min(uint64(n), mostOfACall))
}

func (w *window) Flush(m *collector.Metrics) {
	if w.calls == 0 {
		return
	}
	m.Flag(metricFederation, w.federation)
	m.Mean(metricAvgQueries, w.perCall)
	m.Count(metricQueries, uint64(w.queries))
	m.Mean(metricAvgIndexes, w.ofIndex)
	m.Count(metricIndexes, uint64(w.indexes))
	m.Count(metricSingleIndex, uint64(w.single))
	m.Count(metricRemotes, uint64(w.remotes))
	m.Mean(metricAvgRemotes, w.ofRemote)
}
