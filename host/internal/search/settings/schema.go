package settings

import (
	"maps"
	"slices"

	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/text"
)

// SchemaOf returns the schema of folders that the settings ask for.
//
// All else in the settings is for queries: changing it builds nothing.
func SchemaOf(s *Settings) *bleveindex.Schema {
	sc := &bleveindex.Schema{
		Analyzer: text.AnalyzerVersion, Layout: bleveindex.LayoutVersion, Columns: columnsOf(s),
		Separators: s.SeparatorTokens, NonSeparators: s.NonSeparatorTokens, Dictionary: s.Dictionary, Localized: s.Localization(), StopWords: s.StopWords,
	}
	if !slices.Contains(s.SearchableAttributes, "*") {
		sc.Searchable = append([]string{}, s.SearchableAttributes...)
		slices.Sort(sc.Searchable)
	}
	return sc
}

// columnsOf lists the names and patterns of all attributes that a client may ask
// for the values of.
func columnsOf(s *Settings) []string {
	all := map[string]bool{}
	for _, p := range s.FilterPatterns() {
		all[p] = true
	}
	for _, a := range s.SortableAttributes {
		all[a] = true
	}
	for _, r := range s.RankingRules {
		if r.Rule == "" {
			all[r.Attribute] = true
		}
	}
	if s.DistinctAttribute != "" {
		all[s.DistinctAttribute] = true
	}
	return append([]string{}, slices.Sorted(maps.Keys(all))...)
}
