package bleveindex

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/parley-search/parley/host/internal/search/attribute"
	"github.com/parley-search/parley/host/internal/search/text"
)

// A Schema is what decides the content of a bleve folder: one of another
// schema is built anew. All lists are sorted.
type Schema struct {
	Analyzer   int
	Layout     int      // LayoutVersion
	Searchable []string // nil: all fields
	// Columns are the names and patterns of the attributes whose values are
	// kept apart: to filter and sort by, to make hits distinct, to count.
	Columns []string
	// How texts become words, where an index wants it otherwise than most.
	Separators, NonSeparators, Dictionary []string
	Localized                             text.Localization `json:",omitempty"`
	StopWords                             []string          `json:",omitempty"`
}

// LayoutVersion is raised by any change to what fields.go writes.
const LayoutVersion = 6

// The oldest versions whose folders can still answer while they are built anew.
const (
	oldestAnalyzer = 2
	oldestLayout   = 3 // the keys of facet terms merged more values, see [View.foldsMore]
)

// firstPacked is the first layout with places in the frequencies, see packPlaces.
const firstPacked = 6

// firstWithStopWords is the oldest version whose folders leave stop words out.
const firstWithStopWords = 3

// Outdated reports whether a folder that serves want was written by an older
// version: it answers, and is to be built anew.
func (sc *Schema) Outdated(want *Schema) bool {
	return sc.Analyzer != want.Analyzer || sc.Layout != want.Layout
}

// analyzer splits texts as the folder has them.
func (sc *Schema) analyzer() *text.Analyzer {
	return text.NewAnalyzer(sc.Separators, sc.NonSeparators, sc.Dictionary, sc.StopWords, sc.Localized)
}

// Encode returns the schema as the folder keeps it.
func (sc *Schema) Encode() []byte {
	b, err := json.Marshal(sc)
	if err != nil {
		panic(fmt.Sprintf("encode schema: %v", err)) // only strings and numbers in it
	}
	return b
}

// Serves reports whether a folder of schema sc can answer where want is asked
// for: it holds all of that. More than that does no harm: a search leaves out the
// words of attributes that are not searched any more.
func (sc *Schema) Serves(want *Schema) bool {
	for _, c := range want.Columns {
		if !slices.ContainsFunc(sc.Columns, func(have string) bool { return attribute.ContainsPattern(have, c) }) {
			return false
		}
	}
	if !within(sc.Searchable, want.Searchable) {
		return false
	}
	have := *sc
	have.Columns, have.Searchable = want.Columns, want.Searchable
	if oldestAnalyzer <= have.Analyzer && have.Analyzer < want.Analyzer {
		if have.Analyzer < firstWithStopWords {
			have.StopWords = want.StopWords
		}
		have.Analyzer = want.Analyzer
	}
	if oldestLayout <= have.Layout && have.Layout < want.Layout {
		have.Layout = want.Layout
	}
	return bytes.Equal(have.Encode(), want.Encode())
}

// within reports whether all that the attributes of inner cover is covered by
// those of outer; nil are all attributes.
func within(outer, inner []string) bool {
	if outer == nil || inner == nil {
		return outer == nil
	}
	return !slices.ContainsFunc(inner, func(a string) bool { return !attribute.CoveredBy(outer, a) })
}

// Excess reports whether a folder that serves want has words of attributes that
// want does not search: each search pays for leaving them out.
func (sc *Schema) Excess(want *Schema) bool { return !within(want.Searchable, sc.Searchable) }

// searchable reports whether the field path is searched. Places are so only where they
// are named.
func (sc *Schema) searchable(path string) bool {
	if sc.Searchable == nil {
		return !attribute.Covers(attribute.Geo, path)
	}
	return attribute.CoveredBy(sc.Searchable, path)
}

// column reports whether the values at the field path are kept apart.
func (sc *Schema) column(path string) bool {
	return slices.ContainsFunc(sc.Columns, func(p string) bool { return attribute.MatchPattern(p, path) })
}
