package main

import (
	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/sdk/collector"
)

// requests counts all that searches, and times what succeeded.
type requests struct {
	received, succeeded, failed collector.Sum
	latency                     collector.Latency
}

func (r *requests) add(o event.Outcome) {
	r.received.Add(1)
	r.succeeded.Add(oneIf(o == event.Succeeded))
	r.failed.Add(oneIf(o == event.Failed))
}

// oneIf returns 1 where it holds: added always, which is faster in Wasm than a jump
// around it.
func oneIf(holds bool) (n uint64) {
	if holds {
		n = 1
	}
	return n
}

// took is for a search and a facet search. A multi-search is as long as its
// queries are many, and would say nothing of one.
func (r *requests) took(o event.Outcome, latency event.Count) {
	if o == event.Succeeded {
		r.latency.Add(min(uint64(latency), mostMillis))
	}
}

func (r *requests) flush(m *collector.Metrics) {
	if n, ok := r.latency.Percentile(99); ok {
		m.UpTo(metricP99, n, mostMillis)
	}
	if r.received > 0 {
		m.Count(metricSucceeded, uint64(r.succeeded))
		m.Count(metricFailed, uint64(r.failed))
		m.Count(metricReceived, uint64(r.received))
	}
}

// pages is how far results were asked for.
type pages struct {
	asked         event.Flag
	limit, offset event.Count
}

func (p *pages) add(limit, offset event.Count) {
	p.asked = 1
	p.limit, p.offset = max(p.limit, limit), max(p.offset, offset)
}

func (p *pages) flush(m *collector.Metrics) {
	if p.asked != 0 {
		m.UpTo(metricMaxLimit, uint64(p.limit), mostResults)
		m.UpTo(metricMaxOffset, uint64(p.offset), mostResults)
	}
}

// facetSearches is what facet searches were about.
type facetSearches struct {
	asked, additional event.Flag
	facets            collector.Sum // different ones
}

func (f *facetSearches) add(s *event.FacetSearch) {
	f.asked = 1
	f.additional |= s.AdditionalParameters
	f.facets.Add(uint64(s.FirstOfFacet))
}

func (f *facetSearches) flush(m *collector.Metrics) {
	if f.asked != 0 {
		m.UpTo(metricDistinctFacets, uint64(f.facets), mostEntries)
		m.Flag(metricFacetParameters, f.additional)
	}
}

// scores is whether ranking scores were shown.
type scores struct{ asked, score, details event.Flag }

func (s *scores) add(score, details event.Flag) {
	s.asked = 1
	s.score |= score
	s.details |= details
}

func (s *scores) flush(m *collector.Metrics) {
	if s.asked != 0 {
		m.Flag(metricRankingScore, s.score)
		m.Flag(metricRankingDetails, s.details)
	}
}
