package main

import (
	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/sdk/collector"
)

// The ends of ranges in manifest.json.
const (
	mostEmbedders  = 256
	mostLetters    = 255
	mostPlaces     = 255
	mostAttributes = 65535
	mostEntries    = 1 << 31
)

func (w *window) Flush(m *collector.Metrics) {
	w.flushEmbedders(m)
	w.flushRules(m)
	w.flushAttributes(m)
	l := &w.last
	m.MaybeFlag(metricTypoEnabled, l.TypoEnabled)
	m.MaybeFlag(metricTypoAttributes, l.TypoDisabledAttributes)
	m.MaybeFlag(metricTypoWords, l.TypoDisabledWords)
	m.MaybeUpTo(metricOneTypo, l.OneTypo, mostLetters)
	m.MaybeUpTo(metricTwoTypos, l.TwoTypos, mostLetters)
	m.MaybeUpTo(metricMaxTotalHits, l.MaxTotalHits, mostEntries)
	m.MaybeUpTo(metricMaxValues, l.MaxValuesPerFacet, mostEntries)
	m.MaybeFlag(metricByStarCount, l.SortFacetValuesByStar)
	m.MaybeUpTo(metricSortFacetValues, l.SortFacetValuesBy, mostAttributes)
	m.MaybeFlag(metricDistinct, w.named.distinct)
	m.MaybeFlag(metricPrecisionSet, w.named.precision)
	m.Label(metricPrecision, collector.Known(l.ProximityPrecision))
	m.MaybeFlag(metricFacetSearchSet, w.named.facetSearch)
	m.MaybeFlag(metricFacetSearch, l.FacetSearch)
	m.MaybeFlag(metricPrefixSet, w.named.prefix)
	m.Label(metricPrefix, collector.Known(l.PrefixSearch))
	m.MaybeUpTo(metricStopWords, l.StopWords, mostEntries)
	m.MaybeUpTo(metricSeparators, l.SeparatorTokens, mostEntries)
	m.MaybeUpTo(metricNonSeparators, l.NonSeparatorTokens, mostEntries)
	m.MaybeUpTo(metricDictionary, l.Dictionary, mostEntries)
	m.MaybeUpTo(metricSynonyms, l.Synonyms, mostEntries)
	if w.patched != 0 {
		m.Flag(metricNetwork, w.features.Network)
		m.Flag(metricExperimentalNetwork, w.features.Network)
		m.Flag(metricMultimodal, w.features.Multimodal)
	}
}

func (w *window) flushEmbedders(m *collector.Metrics) {
	l := &w.last
	if l.Embedders == 0 {
		return
	}
	m.MaybeUpTo(metricEmbedders, l.Embedders, mostEmbedders)
	m.Set(metricSources, collector.KnownSet[event.EmbedderSource](uint64(l.EmbedderSources))...)
	m.Flag(metricTemplate, l.DocumentTemplate)
	m.MaybeUpTo(metricTemplateBytes, w.templates, mostEntries)
	m.Flag(metricQuantized, l.BinaryQuantized)
}

// flushRules writes where each built-in rule stands, and their order. Rules of
// one's own stand between them, so places have gaps.
func (w *window) flushRules(m *collector.Metrics) {
	l := &w.last
	if l.RankingRules == 0 {
		return
	}
	// In the order of the labels of metricRules.
	places := [...]event.MaybeCount{l.Words, l.Typo, l.Proximity, l.Attribute, l.Sort, l.Exactness}
	metrics := [...]int{metricWords, metricTypo, metricProximity, metricAttribute, metricSort, metricExactness}
	var order [len(places)]uint64
	n := 0
	for i, place := range places {
		switch {
		case place != 0:
			m.MaybeUpTo(metrics[i], place, mostPlaces)
			at := n // behind all that stand before it
			for ; at > 0 && places[order[at-1]-1] > place; at-- {
				order[at] = order[at-1]
			}
			order[at] = uint64(i + 1)
			n++
		case metrics[i] != metricSort: // which may not be null, and is left out
			m.Null(metrics[i])
		}
	}
	m.List(metricRules, order[:n]...)
}

func (w *window) flushAttributes(m *collector.Metrics) {
	l := &w.last
	if l.SortableAttributes != 0 {
		m.MaybeUpTo(metricSortable, l.SortableAttributes, mostAttributes)
		m.Flag(metricSortableGeo, l.SortableGeo)
	}
	if l.FilterableAttributes != 0 {
		m.MaybeUpTo(metricFilterable, l.FilterableAttributes, mostAttributes)
		m.Flag(metricFilterableGeo, l.FilterableGeo)
		m.Flag(metricFilterablePatterns, l.FilterablePatterns)
	}
	if l.SearchableAttributes != 0 {
		m.MaybeUpTo(metricSearchable, l.SearchableAttributes, mostAttributes)
		m.Flag(metricSearchableWildcard, l.SearchableWildcard)
	}
	if l.DisplayedAttributes != 0 {
		m.MaybeUpTo(metricDisplayed, l.DisplayedAttributes, mostAttributes)
		m.Flag(metricDisplayedWildcard, l.DisplayedWildcard)
	}
}
