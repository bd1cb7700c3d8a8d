package main

import (
	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/sdk/collector"
)

// window is what settings were set to last, and which features were switched.
type window struct {
	last      event.Settings // of each setting what the last request said that had it
	templates event.MaybeCount
	named     touched // whether some request set what may be reset

	patched  event.Flag // features were
	features event.Features
}

// touched is what counts however it was set later. Each is given where the
// setting was touched, and yes where some request set it.
type touched struct {
	distinct, precision, facetSearch, prefix event.MaybeFlag
}

func (w *window) Observe(e collector.Event) {
	switch e.Kind() {
	case event.KindSettings:
		w.settings(e.Settings())
	case event.KindFeatures:
		if f := e.Features(); f.Patched != 0 { // otherwise it is a report, and no request
			w.patched, w.features = 1, *f
		}
	}
}

func (w *window) settings(s *event.Settings) {
	w.embedders(s)
	w.rules(s)
	w.attributes(s)
	l := &w.last
	collector.Keep(&l.TypoEnabled, s.TypoEnabled)
	collector.Keep(&l.TypoDisabledAttributes, s.TypoDisabledAttributes)
	collector.Keep(&l.TypoDisabledWords, s.TypoDisabledWords)
	collector.Keep(&l.OneTypo, s.OneTypo)
	collector.Keep(&l.TwoTypos, s.TwoTypos)
	collector.Keep(&l.MaxTotalHits, s.MaxTotalHits)
	collector.Keep(&l.MaxValuesPerFacet, s.MaxValuesPerFacet)
	collector.Keep(&l.SortFacetValuesByStar, s.SortFacetValuesByStar)
	collector.Keep(&l.SortFacetValuesBy, s.SortFacetValuesBy)
	collector.Keep(&l.ProximityPrecision, s.ProximityPrecision)
	collector.Keep(&l.FacetSearch, s.FacetSearch)
	collector.Keep(&l.PrefixSearch, s.PrefixSearch)
	collector.Keep(&l.StopWords, s.StopWords)
	collector.Keep(&l.SeparatorTokens, s.SeparatorTokens)
	collector.Keep(&l.NonSeparatorTokens, s.NonSeparatorTokens)
	collector.Keep(&l.Dictionary, s.Dictionary)
	collector.Keep(&l.Synonyms, s.Synonyms)

	// 1 is no and 2 is yes, so that the largest is whether any was set.
	n := &w.named
	n.distinct = max(n.distinct, s.DistinctAttribute)
	n.precision = max(n.precision, s.ProximityPrecisionSet)
	n.facetSearch = max(n.facetSearch, s.FacetSearchSet)
	n.prefix = max(n.prefix, s.PrefixSearchSet)
}

func (w *window) embedders(s *event.Settings) {
	if s.Embedders == 0 {
		return
	}
	l := &w.last
	l.Embedders = s.Embedders
	l.EmbedderSources |= s.EmbedderSources
	l.DocumentTemplate |= s.DocumentTemplate
	l.BinaryQuantized |= s.BinaryQuantized
	w.templates = max(w.templates, s.DocumentTemplateMaxBytes)
}

func (w *window) rules(s *event.Settings) {
	if s.RankingRules == 0 {
		return
	}
	l := &w.last
	l.RankingRules = 1
	l.Words, l.Typo, l.Proximity = s.Words, s.Typo, s.Proximity
	l.Attribute, l.Sort, l.Exactness = s.Attribute, s.Sort, s.Exactness
}

func (w *window) attributes(s *event.Settings) {
	l := &w.last
	if s.SortableAttributes != 0 {
		l.SortableAttributes, l.SortableGeo = s.SortableAttributes, s.SortableGeo
	}
	if s.FilterableAttributes != 0 {
		l.FilterableAttributes, l.FilterableGeo, l.FilterablePatterns = s.FilterableAttributes, s.FilterableGeo, s.FilterablePatterns
	}
	if s.SearchableAttributes != 0 {
		l.SearchableAttributes, l.SearchableWildcard = s.SearchableAttributes, s.SearchableWildcard
	}
	if s.DisplayedAttributes != 0 {
		l.DisplayedAttributes, l.DisplayedWildcard = s.DisplayedAttributes, s.DisplayedWildcard
	}
}
