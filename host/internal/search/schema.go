package search

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// A schema is what decides the content of a bleve folder: one of another
// schema is built anew. All lists are sorted.
type schema struct {
	Analyzer   int
	Layout     int      // layoutVersion
	Searchable []string // nil: all fields
	// Columns are the names and patterns of the attributes whose values are
	// kept apart: to filter and sort by, to make hits distinct, to count.
	Columns []string
	// How texts become words, where an index wants it otherwise than most.
	Separators, NonSeparators, Dictionary []string
	Localized                             localization `json:",omitempty"`
}

// layoutVersion is raised by any change to what fields.go writes.
const layoutVersion = 3

// schema returns the schema that the settings ask for.
//
// All else in the settings is for queries: changing it builds nothing.
func (s *Settings) schema() *schema {
	sc := &schema{
		Analyzer: analyzerVersion, Layout: layoutVersion, Columns: s.columns(),
		Separators: s.SeparatorTokens, NonSeparators: s.NonSeparatorTokens, Dictionary: s.Dictionary, Localized: s.localization(),
	}
	if !slices.Contains(s.SearchableAttributes, "*") {
		sc.Searchable = append([]string{}, s.SearchableAttributes...)
		slices.Sort(sc.Searchable)
	}
	return sc
}

// columns lists the names and patterns of all attributes that somebody may ask
// for the values of.
func (s *Settings) columns() []string {
	all := map[string]bool{}
	for _, p := range s.filterPatterns() {
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

// analyzer splits texts as the folder has them.
func (sc *schema) analyzer() *analyzer {
	return newAnalyzer(sc.Separators, sc.NonSeparators, sc.Dictionary, sc.Localized)
}

// encode returns the schema as the folder keeps it.
func (sc *schema) encode() []byte {
	b, err := json.Marshal(sc)
	if err != nil {
		panic(fmt.Sprintf("encode schema: %v", err)) // only strings and numbers in it
	}
	return b
}

// serves reports whether a folder of schema sc can answer for settings s: it
// holds all that they may ask for. More than that does no harm: a search leaves
// out the words of attributes that are not searched any more.
func (sc *schema) serves(s *Settings) bool {
	want := s.schema()
	for _, c := range want.Columns {
		if !slices.ContainsFunc(sc.Columns, func(have string) bool { return withinPattern(have, c) }) {
			return false
		}
	}
	if !within(sc.Searchable, want.Searchable) {
		return false
	}
	have := *sc
	have.Columns, have.Searchable = want.Columns, want.Searchable
	return bytes.Equal(have.encode(), want.encode())
}

// within reports whether all that the attributes of inner cover is covered by
// those of outer; nil are all attributes.
func within(outer, inner []string) bool {
	if outer == nil || inner == nil {
		return outer == nil
	}
	return !slices.ContainsFunc(inner, func(a string) bool { return !coveredBy(outer, a) })
}

// excess reports whether a folder that serves s has words of attributes that s
// does not search: each search pays for leaving them out.
func (sc *schema) excess(s *Settings) bool { return !within(s.schema().Searchable, sc.Searchable) }

// searchable reports whether the field path is searched.
func (sc *schema) searchable(path string) bool {
	return sc.Searchable == nil || coveredBy(sc.Searchable, path)
}

// column reports whether the values at the field path are kept apart.
func (sc *schema) column(path string) bool {
	return slices.ContainsFunc(sc.Columns, func(p string) bool { return matchesPattern(p, path) })
}
