package telemetry

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/host/internal/base/rawjson"
)

// builtIn are the ranking rules that have a metric.
var builtIn = []string{"words", "typo", "proximity", "attribute", "sort", "exactness"}

// DefaultSettings is what a reset of all settings says.
func DefaultSettings() Said {
	s := Said{}
	for _, name := range []string{
		"embedders", "rankingRules", "sortableAttributes", "filterableAttributes", "searchableAttributes", "displayedAttributes", "typoTolerance",
		"pagination", "faceting", "distinctAttribute", "proximityPrecision", "facetSearch", "prefixSearch", "stopWords", "separatorTokens",
		"nonSeparatorTokens", "dictionary", "synonyms", "localizedAttributes",
	} {
		s[name] = json.RawMessage("null")
	}
	return s
}

// OneSetting is what a request about one setting says; name is that of the
// route.
func OneSetting(name string, value json.RawMessage) Said {
	parts := strings.Split(name, "-")
	for i, p := range parts[1:] {
		parts[i+1] = strings.ToUpper(p[:1]) + p[1:]
	}
	return Said{strings.Join(parts, ""): value}
}

// Settings is what a change of settings sets. Null is a reset: it sets the
// default.
func (s Said) Settings() (e event.Settings) {
	s.settingLists(&e)
	s.settingRules(&e)
	s.settingEmbedders(&e)
	s.settingTypos(&e)
	s.settingChoices(&e)
	if p, ok := s["pagination"]; ok {
		e.MaxTotalHits = orDefault(ReadSaid(p), "maxTotalHits", rawjson.IsAbsent(p), 1000)
	}
	if f, ok := s["faceting"]; ok {
		in := ReadSaid(f)
		e.MaxValuesPerFacet = orDefault(in, "maxValuesPerFacet", rawjson.IsAbsent(f), 100)
		switch order := in.object("sortFacetValuesBy"); {
		case order != nil:
			e.SortFacetValuesByStar, e.SortFacetValuesBy = event.Maybe(order.text("*") == "count"), event.MaybeCountOf(len(order))
		case rawjson.IsAbsent(f):
			e.SortFacetValuesByStar, e.SortFacetValuesBy = event.Maybe(false), event.MaybeCountOf(1)
		}
	}
	if l, ok := s["localizedAttributes"]; ok {
		e.LocalizedAttributes = 1
		var rules []Said
		_ = json.Unmarshal(l, &rules)
		var codes []string
		for _, r := range rules {
			codes = append(codes, r.texts("locales")...)
		}
		e.Locales = localesOf(codes)
	}
	return e
}

// orDefault is a number, or its default where all was reset.
func orDefault(s Said, name string, reset bool, value uint64) event.MaybeCount {
	if n, ok := s[name]; reset || ok && rawjson.IsAbsent(n) {
		return event.MaybeCountOf(value)
	}
	return s.maybe(name)
}

// list is how many entries a list that was given has, and whether marked is
// among them; reset is what a reset sets.
func (s Said) list(name string, reset int, marked string) (n event.MaybeCount, has event.Flag) {
	v, ok := s[name]
	switch {
	case !ok:
		return 0, 0
	case rawjson.IsAbsent(v):
		return event.MaybeCountOf(reset), event.FlagOf(marked == "*")
	}
	count, _ := s.entries(name)
	var all []json.RawMessage
	_ = json.Unmarshal(v, &all)
	want, _ := json.Marshal(marked)
	has = event.FlagOf(slices.ContainsFunc(all, func(e json.RawMessage) bool { return string(e) == string(want) }))
	return event.MaybeCountOf(count), has
}

func (s Said) settingLists(e *event.Settings) {
	e.SortableAttributes, e.SortableGeo = s.list("sortableAttributes", 0, "_geo")
	e.FilterableAttributes, e.FilterableGeo = s.list("filterableAttributes", 0, "_geo")
	e.SearchableAttributes, e.SearchableWildcard = s.list("searchableAttributes", 1, "*")
	e.DisplayedAttributes, e.DisplayedWildcard = s.list("displayedAttributes", 1, "*")
	e.StopWords, _ = s.list("stopWords", 0, "")
	e.SeparatorTokens, _ = s.list("separatorTokens", 0, "")
	e.NonSeparatorTokens, _ = s.list("nonSeparatorTokens", 0, "")
	e.Dictionary, _ = s.list("dictionary", 0, "")
	e.Synonyms, _ = s.list("synonyms", 0, "")
	var rules []Said
	for _, entry := range s.raws("filterableAttributes") {
		if rule := ReadSaid(entry); rule != nil {
			rules = append(rules, rule)
		}
	}
	for _, r := range rules {
		if patterns := r.texts("attributePatterns"); patterns != nil {
			e.FilterablePatterns = 1
			e.FilterableGeo |= event.FlagOf(slices.Contains(patterns, "_geo"))
		}
	}
}

func (s Said) raws(name string) (all []json.RawMessage) {
	_ = json.Unmarshal(s[name], &all)
	return all
}

func (s Said) settingRules(e *event.Settings) {
	v, ok := s["rankingRules"]
	if !ok {
		return
	}
	rules := s.texts("rankingRules")
	if rawjson.IsAbsent(v) {
		rules = builtIn
	}
	e.RankingRules = 1
	for i, into := range []*event.MaybeCount{&e.Words, &e.Typo, &e.Proximity, &e.Attribute, &e.Sort, &e.Exactness} {
		if at := slices.Index(rules, builtIn[i]); at >= 0 {
			*into = event.MaybeCountOf(at)
		}
	}
}

func (s Said) settingEmbedders(e *event.Settings) {
	v, ok := s["embedders"]
	if !ok {
		return
	}
	var all map[string]Said
	_ = json.Unmarshal(v, &all)
	n := 0
	var largest uint64
	for _, one := range all {
		if one == nil {
			continue // it is taken out
		}
		n++
		if source := one.text("source"); source != "" { // it may be one that is there already
			e.EmbedderSources.Add(event.OrdinalOf[event.EmbedderSource](source))
		}
		e.BinaryQuantized |= one.flag("binaryQuantized")
		for _, maker := range []Said{one, one.object("indexingEmbedder")} { // the template of a composite one is in there
			e.DocumentTemplate |= maker.flag("documentTemplate")
			if bytes, ok := maker.number("documentTemplateMaxBytes"); ok {
				largest = max(largest, bytes)
				e.DocumentTemplateMaxBytes = event.MaybeCountOf(largest)
			}
		}
	}
	e.Embedders = event.MaybeCountOf(n)
}

func (s Said) settingTypos(e *event.Settings) {
	v, ok := s["typoTolerance"]
	if !ok {
		return
	}
	reset := rawjson.IsAbsent(v)
	t := ReadSaid(v)
	some := func(name string) event.MaybeFlag {
		v, ok := t[name]
		if !ok && !reset {
			return 0
		}
		n, _ := t.entries(name)
		return event.Maybe(n > 0 && !rawjson.IsAbsent(v))
	}
	if enabled, ok := t["enabled"]; ok || reset {
		e.TypoEnabled = event.Maybe(rawjson.IsAbsent(enabled) || t.truth("enabled") == 1)
	}
	e.TypoDisabledAttributes, e.TypoDisabledWords = some("disableOnAttributes"), some("disableOnWords")
	sizes, ok := t["minWordSizeForTypos"]
	reset = reset || ok && rawjson.IsAbsent(sizes)
	if ok || reset {
		in := ReadSaid(sizes)
		e.OneTypo, e.TwoTypos = orDefault(in, "oneTypo", reset, 5), orDefault(in, "twoTypos", reset, 9)
	}
}

func (s Said) settingChoices(e *event.Settings) {
	if _, ok := s["distinctAttribute"]; ok {
		e.DistinctAttribute = event.Maybe(s.text("distinctAttribute") != "")
	}
	if _, ok := s["proximityPrecision"]; ok {
		e.ProximityPrecisionSet, e.ProximityPrecision = event.Maybe(s.given("proximityPrecision")), event.ByWord
		if s.text("proximityPrecision") == "byAttribute" {
			e.ProximityPrecision = event.ByAttribute
		}
	}
	if _, ok := s["facetSearch"]; ok {
		set := s.given("facetSearch")
		e.FacetSearchSet, e.FacetSearch = event.Maybe(set), event.Maybe(!set || s.truth("facetSearch") == 1)
	}
	if _, ok := s["prefixSearch"]; ok {
		e.PrefixSearchSet, e.PrefixSearch = event.Maybe(s.given("prefixSearch")), event.PrefixIndexingTime
		if s.text("prefixSearch") == "disabled" {
			e.PrefixSearch = event.PrefixDisabled
		}
	}
}
