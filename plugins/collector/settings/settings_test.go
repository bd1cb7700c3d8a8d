package main

import (
	"cmp"
	"slices"
	"testing"

	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/sdk/plugintest"
)

// with returns rule for the settings in which field, such as
// "Settings.SortableAttributes", is given.
func with(d *plugintest.CollectorDriver, field string, rule plugintest.Rule) plugintest.Rule {
	given := d.Says(field)
	return func(e any) any {
		if v := given(e); v == nil || v == false {
			return nil
		}
		return rule(e)
	}
}

// place returns the rule of a ranking rule's place: null where it is absent.
func place(d *plugintest.CollectorDriver, field string) plugintest.Rule {
	at := d.Says(field)
	return with(d, "Settings.RankingRules", func(e any) any {
		if v := at(e); v != nil {
			return v
		}
		return plugintest.Null{}
	})
}

// sortPlace is place for the one that may not be null.
func sortPlace(d *plugintest.CollectorDriver) plugintest.Rule {
	at := place(d, "Settings.Sort")
	return func(e any) any {
		if v := at(e); v != any(plugintest.Null{}) {
			return v
		}
		return plugintest.Nothing{}
	}
}

// order is the rule of ranking_rules.values.
func order(e any) any {
	type rule struct {
		name  string
		place event.MaybeCount
	}
	s, ok := e.(event.Settings)
	if !ok || s.RankingRules == 0 {
		return nil
	}
	all := []rule{{"words", s.Words}, {"typo", s.Typo}, {"proximity", s.Proximity}, {"attribute", s.Attribute}, {"sort", s.Sort}, {"exactness", s.Exactness}}
	all = slices.DeleteFunc(all, func(r rule) bool { return r.place == 0 })
	slices.SortStableFunc(all, func(a, b rule) int { return cmp.Compare(a.place, b.place) })
	names := []string{}
	for _, r := range all {
		names = append(names, r.name)
	}
	return names
}

// patched returns the rule of a feature as a request left it.
func patched(d *plugintest.CollectorDriver, field string) plugintest.Rule {
	return with(d, "Features.Patched", d.Says(field))
}

// known returns rule, which knows no value of a newer host: one that is given
// takes back what was known before.
func known(rule plugintest.Rule, given func(event.Settings) bool) plugintest.Rule {
	return func(e any) any {
		if v := rule(e); v != nil {
			return v
		}
		if s, ok := e.(event.Settings); ok && given(s) {
			return plugintest.Nothing{}
		}
		return nil
	}
}

func TestReference(t *testing.T) {
	d := plugintest.NewCollector(t, &window{}, "manifest.json")
	d.Compare(plugintest.Reference{
		"embedders.total":                                  d.Says("Settings.Embedders"),
		"embedders.sources":                                with(d, "Settings.Embedders", d.Says("Settings.EmbedderSources")),
		"embedders.document_template_used":                 with(d, "Settings.Embedders", d.Says("Settings.DocumentTemplate")),
		"embedders.document_template_max_bytes":            with(d, "Settings.Embedders", d.Says("Settings.DocumentTemplateMaxBytes")),
		"embedders.binary_quantization_used":               with(d, "Settings.Embedders", d.Says("Settings.BinaryQuantized")),
		"ranking_rules.words_position":                     place(d, "Settings.Words"),
		"ranking_rules.typo_position":                      place(d, "Settings.Typo"),
		"ranking_rules.proximity_position":                 place(d, "Settings.Proximity"),
		"ranking_rules.attribute_position":                 place(d, "Settings.Attribute"),
		"ranking_rules.sort_position":                      sortPlace(d),
		"ranking_rules.exactness_position":                 place(d, "Settings.Exactness"),
		"ranking_rules.values":                             order,
		"sortable_attributes.total":                        d.Says("Settings.SortableAttributes"),
		"sortable_attributes.has_geo":                      with(d, "Settings.SortableAttributes", d.Says("Settings.SortableGeo")),
		"filterable_attributes.total":                      d.Says("Settings.FilterableAttributes"),
		"filterable_attributes.has_geo":                    with(d, "Settings.FilterableAttributes", d.Says("Settings.FilterableGeo")),
		"filterable_attributes.has_patterns":               with(d, "Settings.FilterableAttributes", d.Says("Settings.FilterablePatterns")),
		"searchable_attributes.total":                      d.Says("Settings.SearchableAttributes"),
		"searchable_attributes.with_wildcard":              with(d, "Settings.SearchableAttributes", d.Says("Settings.SearchableWildcard")),
		"displayed_attributes.total":                       d.Says("Settings.DisplayedAttributes"),
		"displayed_attributes.with_wildcard":               with(d, "Settings.DisplayedAttributes", d.Says("Settings.DisplayedWildcard")),
		"typo_tolerance.enabled":                           d.Says("Settings.TypoEnabled"),
		"typo_tolerance.disable_on_attributes":             d.Says("Settings.TypoDisabledAttributes"),
		"typo_tolerance.disable_on_words":                  d.Says("Settings.TypoDisabledWords"),
		"typo_tolerance.min_word_size_for_typos.one_typo":  d.Says("Settings.OneTypo"),
		"typo_tolerance.min_word_size_for_typos.two_typos": d.Says("Settings.TwoTypos"),
		"pagination.max_total_hits":                        d.Says("Settings.MaxTotalHits"),
		"faceting.max_values_per_facet":                    d.Says("Settings.MaxValuesPerFacet"),
		"faceting.sort_facet_values_by_star_count":         d.Says("Settings.SortFacetValuesByStar"),
		"faceting.sort_facet_values_by_total":              d.Says("Settings.SortFacetValuesBy"),
		"distinct_attribute.set":                           d.Says("Settings.DistinctAttribute"),
		"proximity_precision.set":                          d.Says("Settings.ProximityPrecisionSet"),
		"proximity_precision.value":                        known(d.Says("Settings.ProximityPrecision"), func(s event.Settings) bool { return s.ProximityPrecision != 0 }),
		"facet_search.set":                                 d.Says("Settings.FacetSearchSet"),
		"facet_search.value":                               d.Says("Settings.FacetSearch"),
		"prefix_search.set":                                d.Says("Settings.PrefixSearchSet"),
		"prefix_search.value":                              known(d.Says("Settings.PrefixSearch"), func(s event.Settings) bool { return s.PrefixSearch != 0 }),
		"stop_words.total":                                 d.Says("Settings.StopWords"),
		"separator_tokens.total":                           d.Says("Settings.SeparatorTokens"),
		"non_separator_tokens.total":                       d.Says("Settings.NonSeparatorTokens"),
		"dictionary.total":                                 d.Says("Settings.Dictionary"),
		"synonyms.total":                                   d.Says("Settings.Synonyms"),
		"network":                                          patched(d, "Features.Network"),
		"multimodal":                                       patched(d, "Features.Multimodal"),
		"experimental_network":                             patched(d, "Features.Network"),
	})
}

func TestRankingRules(t *testing.T) {
	d := plugintest.NewCollector(t, &window{}, "manifest.json")
	at := event.MaybeCountOf[int]
	plugintest.Emit(d, event.Settings{RankingRules: 1, Words: at(2), Sort: at(0), Typo: at(3)})
	plugintest.Emit(d, event.Settings{StopWords: at(4)})
	got := d.Flush()
	if got["ranking_rules.values"] != "sort, words, typo" || got["ranking_rules.words_position"] != int64(2) {
		t.Errorf("metrics = %v, want the order sort, words, typo, words at 2 behind a rule of one's own", got)
	}
	if v, ok := got["ranking_rules.exactness_position"]; v != nil || !ok {
		t.Errorf("metrics = %v, want a place of null for exactness", got)
	}
	plugintest.Emit(d, event.Settings{RankingRules: 1})
	got = d.End()
	if v, ok := got["ranking_rules.sort_position"]; ok || got["ranking_rules.values"] != "" {
		t.Errorf("metrics = %v, want no rules and no place of sort, not %v: it may not be null", got, v)
	}
}

// TestReport does not take a report of the features for a request.
func TestReport(t *testing.T) {
	d := plugintest.NewCollector(t, &window{}, "manifest.json")
	plugintest.Emit(d, event.Features{Network: 1})
	if got := d.End(); len(got) != 0 {
		t.Errorf("metrics = %v, want none", got)
	}
}
