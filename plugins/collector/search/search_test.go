package main

import (
	"testing"

	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/sdk/plugintest"
)

// outcome returns the rule of a metric that counts what ended so.
func outcome(want event.Outcome) plugintest.Rule {
	return func(e any) any {
		switch e := e.(type) {
		case event.Search:
			return e.Outcome == want
		case event.FacetSearch:
			return e.Outcome == want
		case event.MultiSearch:
			return e.Outcome == want
		}
		return nil
	}
}

func received(e any) any {
	switch e.(type) {
	case event.Search, event.FacetSearch, event.MultiSearch:
		return true // once
	}
	return nil
}

func latency(e any) any {
	switch e := e.(type) {
	case event.Search:
		if e.Outcome == event.Succeeded {
			return uint64(e.Latency)
		}
	case event.FacetSearch:
		if e.Outcome == event.Succeeded {
			return uint64(e.Latency)
		}
	}
	return nil
}

// read returns rule, of documents for those operations alone.
func read(rule plugintest.Rule, operations ...event.DocumentsOperation) plugintest.Rule {
	return func(e any) any {
		d, ok := e.(event.Documents)
		if !ok {
			return rule(e)
		}
		for _, o := range operations {
			if d.Operation == o {
				return rule(e)
			}
		}
		return nil
	}
}

func TestReference(t *testing.T) {
	d := plugintest.NewCollector(t, &window{}, "manifest.json")
	d.Compare(plugintest.Reference{
		"requests.99th_response_time":                  latency,
		"requests.total_succeeded":                     outcome(event.Succeeded),
		"requests.total_failed":                        outcome(event.Failed),
		"requests.total_received":                      received,
		"requests.total_degraded":                      d.Says("Search.Degraded"),
		"requests.total_used_negative_operator":        d.Says("Search.UsedNegativeOperator"),
		"sort.with_geoPoint":                           d.Says("Search.SortGeoPoint"),
		"sort.avg_criteria_number":                     d.Says("Search.Sort"),
		"filter.with_geoBoundingBox":                   d.Says("Search.FilterGeoBoundingBox"),
		"filter.with_geoRadius":                        d.Says("Search.FilterGeoRadius"),
		"filter.most_used_syntax":                      d.Says("Search.FilterSyntax"),
		"q.max_terms_number":                           d.Says("Search.Terms"),
		"pagination.max_limit":                         read(d.Says("Search.Limit", "Documents.Limit"), event.DocumentsList, event.DocumentsFetch),
		"pagination.max_offset":                        read(d.Says("Search.Offset", "Documents.Offset"), event.DocumentsList, event.DocumentsFetch),
		"pagination.most_used_navigation":              d.Says("Search.Navigation"),
		"formatting.max_attributes_to_retrieve":        d.Says("Search.AttributesToRetrieve"),
		"formatting.max_attributes_to_highlight":       d.Says("Search.AttributesToHighlight"),
		"formatting.highlight_pre_tag":                 d.Says("Search.HighlightPreTag"),
		"formatting.highlight_post_tag":                d.Says("Search.HighlightPostTag"),
		"formatting.max_attributes_to_crop":            d.Says("Search.AttributesToCrop"),
		"formatting.crop_length":                       d.Says("Search.CropLength"),
		"formatting.crop_marker":                       d.Says("Search.CropMarker"),
		"formatting.show_matches_position":             d.Says("Search.ShowMatchesPosition"),
		"facets.avg_facets_number":                     d.Says("Search.Facets"),
		"facets.total_distinct_facet_count":            d.Says("FacetSearch.FirstOfFacet"),
		"facets.additional_search_parameters_provided": d.Says("FacetSearch.AdditionalParameters"),
		"matching_strategy.most_used_strategy":         d.Says("Search.MatchingStrategy"),
		"distinct":                                     d.Says("Search.Distinct"),
		"scoring.show_ranking_score":                   d.Says("Search.ShowRankingScore", "MultiSearch.ShowRankingScore"),
		"scoring.show_ranking_score_details":           d.Says("Search.ShowRankingDetails", "MultiSearch.ShowRankingDetails"),
		"scoring.ranking_score_threshold":              d.Says("Search.RankingScoreThreshold"),
		"attributes_to_search_on.total_number_of_uses": d.Says("Search.AttributesToSearchOn"),
		"vector.max_vector_size":                       d.Says("Search.VectorDimensions"),
		"vector.retrieve_vectors": read(d.Says("Search.RetrieveVectors", "Documents.RetrieveVectors"),
			event.DocumentsList, event.DocumentsFetch, event.DocumentsGet),
		"hybrid.enabled":        d.Says("Search.Hybrid"),
		"hybrid.semantic_ratio": d.Says("Search.SemanticRatio"),
		"hybrid.total_media":    d.Says("Search.Media"),
		"locales":               d.Says("Search.Locales", "Settings.Locales"),
	})
}

func TestSearch(t *testing.T) {
	d := plugintest.NewCollector(t, &window{}, "manifest.json")
	if got := d.Flush(); len(got) != 0 {
		t.Errorf("metrics of a window without a search = %v, want none", got)
	}
	for i := range 100 {
		plugintest.Emit(d, event.Search{Outcome: event.Succeeded, Latency: event.Count(i + 1), Navigation: event.Estimated})
	}
	plugintest.Emit(d, event.Search{Outcome: event.Failed, Latency: 7000, Navigation: event.Exhaustive})
	got := d.End()
	if got["requests.99th_response_time"] != "99ms" || got["requests.total_received"] != int64(101) || got["requests.total_failed"] != int64(1) {
		t.Errorf("metrics = %v, want 99ms, of the 100 that succeeded among 101", got)
	}
	if got["pagination.most_used_navigation"] != "estimated" {
		t.Errorf("metrics = %v, want estimated, of 100 against 1", got)
	}
	if _, ok := got["sort.avg_criteria_number"]; ok {
		t.Errorf("metrics = %v, want no average of sort, which nobody gave", got)
	}
}
