package main

import (
	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/sdk/collector"
)

func (w *window) Flush(m *collector.Metrics) {
	w.requests.flush(m)
	w.pages.flush(m)
	w.facetSearch.flush(m)
	w.scores.flush(m)
	if w.vectorsAsked != 0 {
		m.Flag(metricRetrieveVectors, w.vectors)
	}
	m.Set(metricLocales, collector.KnownSet[event.Locale](w.languages[:]...)...)
	if w.searches > 0 {
		w.flushSearches(m)
	}
}

func (w *window) flushSearches(m *collector.Metrics) {
	m.Count(metricDegraded, uint64(w.degraded))
	m.Count(metricNegative, uint64(w.negated))
	m.Count(metricSearchOn, uint64(w.searchOn))
	m.Count(metricMedia, uint64(w.media))

	m.Flag(metricSortGeoPoint, w.given.geoPoint)
	m.Flag(metricFilterGeoBox, w.given.geoBox)
	m.Flag(metricFilterGeoRadius, w.given.geoRadius)
	m.Flag(metricPreTag, w.given.preTag)
	m.Flag(metricPostTag, w.given.postTag)
	m.Flag(metricCropLength, w.given.cropLength)
	m.Flag(metricCropMarker, w.given.cropMarker)
	m.Flag(metricMatchesPosition, w.given.positions)
	m.Flag(metricDistinct, w.given.distinct)
	m.Flag(metricThreshold, w.given.threshold)
	m.Flag(metricHybrid, w.given.hybrid)
	m.Flag(metricSemanticRatio, w.given.semanticRatio)

	m.Mean(metricSortCriteria, w.criteria)
	m.Mean(metricFacets, w.facets)
	m.Label(metricFilterSyntax, w.filters.Most())
	m.Label(metricNavigation, w.navigations.Most())
	m.Label(metricStrategy, w.strategies.Most())

	m.UpTo(metricMaxTerms, uint64(w.terms), mostTerms)
	m.UpTo(metricMaxRetrieve, uint64(w.retrieved), mostEntries)
	m.UpTo(metricMaxHighlight, uint64(w.highlighted), mostEntries)
	m.UpTo(metricMaxCrop, uint64(w.cropped), mostEntries)
	m.UpTo(metricMaxVector, uint64(w.dimensions), mostEntries)
}
