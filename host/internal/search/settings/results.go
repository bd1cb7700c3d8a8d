package settings

import (
	"maps"
	"time"
)

// Faceting bounds and orders the values of facets.
type Faceting struct {
	MaxValuesPerFacet int
	// SortBy is the order of an attribute's values; that of "*" holds for
	// attributes that are not named, and is always there.
	SortBy map[string]FacetSort
}

// A FacetSort is an order of facet values.
type FacetSort string

// The orders, by their names on the wire.
const (
	FacetAlpha FacetSort = "alpha" // by value
	FacetCount FacetSort = "count" // the most frequent first
)

// MostFacetValues bounds MaxValuesPerFacet.
const MostFacetValues = 1_000_000

func DefaultFaceting() Faceting {
	return Faceting{MaxValuesPerFacet: 100, SortBy: map[string]FacetSort{"*": FacetAlpha}}
}

// wire is f as a client sees it.
func (f *Faceting) wire() any {
	return struct {
		Max    int                  `json:"maxValuesPerFacet"`
		SortBy map[string]FacetSort `json:"sortFacetValuesBy"`
	}{f.MaxValuesPerFacet, f.SortBy}
}

// SortOf is the order of the values of an attribute.
func (f *Faceting) SortOf(attr string) FacetSort {
	if by, ok := f.SortBy[attr]; ok {
		return by
	}
	return f.SortBy["*"]
}

func readFaceting(v value, f *Faceting) error {
	d := DefaultFaceting()
	return v.fields(map[string]fieldReader{
		"maxValuesPerFacet": orDefault(&f.MaxValuesPerFacet, d.MaxValuesPerFacet, func(v value, dst *int) error { return v.integer(dst, 0, MostFacetValues) }),
		"sortFacetValuesBy": orDefault(&f.SortBy, d.SortBy, readFacetSorts),
	})
}

// readFacetSorts reads an object over what dst has; a null takes an attribute
// out.
func readFacetSorts(v value, dst *map[string]FacetSort) error {
	sorts := maps.Clone(*dst)
	err := v.members(func(attr string, v value) error {
		if v.null() {
			delete(sorts, attr)
			if attr == "*" {
				sorts[attr] = FacetAlpha
			}
			return nil
		}
		var by FacetSort
		err := choice(v, &by, FacetAlpha, FacetCount)
		sorts[attr] = by
		return err
	})
	if err == nil {
		*dst = sorts
	}
	return err
}

// Pagination bounds what a search gives.
type Pagination struct {
	MaxTotalHits int // offset and limit of a search end here
}

const (
	defaultMaxTotalHits = 1000
	mostTotalHits       = 1<<31 - 1
)

// wire is p as a client sees it.
func (p *Pagination) wire() any {
	return struct {
		Max int `json:"maxTotalHits"`
	}{p.MaxTotalHits}
}

func readPagination(v value, p *Pagination) error {
	return v.fields(map[string]fieldReader{
		"maxTotalHits": orDefault(&p.MaxTotalHits, defaultMaxTotalHits, func(v value, dst *int) error { return v.integer(dst, 0, mostTotalHits) }),
	})
}

// maxCutoff bounds the time of a search, in milliseconds.
const maxCutoff = 3_600_000

func readCutoff(v value, dst **time.Duration) error {
	var ms int
	if err := v.integer(&ms, 0, maxCutoff); err != nil {
		return err
	}
	*dst = new(time.Duration(ms) * time.Millisecond)
	return nil
}

func milliseconds(d *time.Duration) any {
	if d == nil {
		return nil
	}
	return d.Milliseconds()
}
