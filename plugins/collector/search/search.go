package main

import (
	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/sdk/collector"
)

// The ends of ranges in manifest.json.
const (
	mostMillis   = 9_999_999
	mostCriteria = 1024
	mostTerms    = 10_000
	mostResults  = 1 << 31
	mostEntries  = 65535
)

// window is what was searched for, how, and how it went.
type window struct {
	requests requests

	searches          collector.Sum
	degraded, negated collector.Sum
	searchOn, media   collector.Sum

	given        flags
	criteria     collector.Mean
	facets       collector.Mean
	filters      collector.Tally[event.FilterSyntax]
	navigations  collector.Tally[event.Navigation]
	strategies   collector.Tally[event.MatchingStrategy]
	terms        event.Count // of the longest q; the next four likewise
	retrieved    event.Count
	highlighted  event.Count
	cropped      event.Count
	dimensions   event.Count
	pages        pages
	facetSearch  facetSearches
	scores       scores
	languages    event.Locales
	vectors      event.Flag // were asked for with results
	vectorsAsked event.Flag // or could have been
}

// flags is what some search gave.
type flags struct {
	geoPoint, geoBox, geoRadius                        event.Flag
	preTag, postTag, cropLength, cropMarker, positions event.Flag
	distinct, threshold, hybrid, semanticRatio         event.Flag
}

// Observe takes whatever searches, and what else feeds metrics of searching:
// documents that are listed, and the languages of settings.
func (w *window) Observe(e collector.Event) {
	switch e.Kind() {
	case event.KindSearch:
		s := e.Search()
		w.requests.add(s.Outcome)
		w.requests.took(s.Outcome, s.Latency)
		w.search(s)
	case event.KindFacetSearch:
		f := e.FacetSearch()
		w.requests.add(f.Outcome)
		w.requests.took(f.Outcome, f.Latency)
		w.facetSearch.add(f)
	case event.KindMultiSearch:
		s := e.MultiSearch()
		w.requests.add(s.Outcome)
		w.scores.add(s.ShowRankingScore, s.ShowRankingDetails)
	case event.KindDocuments:
		w.documents(e.Documents())
	case event.KindSettings:
		w.speak(e.Settings().Locales)
	}
}

func (w *window) search(s *event.Search) {
	w.searches.Add(1)
	w.degraded.Add(uint64(s.Degraded))
	w.negated.Add(uint64(s.UsedNegativeOperator))
	w.searchOn.Add(uint64(s.AttributesToSearchOn))
	w.media.Add(uint64(s.Media))
	w.given.add(s)
	if n, given := s.Sort.Get(); given {
		w.criteria.Add(min(n, mostCriteria))
	}
	if n, given := s.Facets.Get(); given {
		w.facets.Add(min(n, mostEntries))
	}
	w.filters.Add(s.FilterSyntax)
	w.navigations.Add(s.Navigation)
	w.strategies.Add(s.MatchingStrategy)
	w.terms = max(w.terms, s.Terms)
	w.retrieved = max(w.retrieved, s.AttributesToRetrieve)
	w.highlighted = max(w.highlighted, s.AttributesToHighlight)
	w.cropped = max(w.cropped, s.AttributesToCrop)
	w.dimensions = max(w.dimensions, s.VectorDimensions)
	w.pages.add(s.Limit, s.Offset)
	w.scores.add(s.ShowRankingScore, s.ShowRankingDetails)
	w.retrieve(s.RetrieveVectors)
	w.speak(s.Locales)
}

func (f *flags) add(s *event.Search) {
	f.geoPoint |= s.SortGeoPoint
	f.geoBox |= s.FilterGeoBoundingBox
	f.geoRadius |= s.FilterGeoRadius
	f.preTag |= s.HighlightPreTag
	f.postTag |= s.HighlightPostTag
	f.cropLength |= s.CropLength
	f.cropMarker |= s.CropMarker
	f.positions |= s.ShowMatchesPosition
	f.distinct |= s.Distinct
	f.threshold |= s.RankingScoreThreshold
	f.hybrid |= s.Hybrid
	f.semanticRatio |= s.SemanticRatio
}

// documents takes what documents that are read share with searches.
func (w *window) documents(d *event.Documents) {
	switch d.Operation {
	case event.DocumentsList, event.DocumentsFetch:
		w.pages.add(d.Limit, d.Offset)
		w.retrieve(d.RetrieveVectors)
	case event.DocumentsGet:
		w.retrieve(d.RetrieveVectors)
	}
}

func (w *window) retrieve(vectors event.Flag) {
	w.vectorsAsked = 1
	w.vectors |= vectors
}

func (w *window) speak(languages event.Locales) {
	w.languages[0] |= languages[0]
	w.languages[1] |= languages[1]
}
