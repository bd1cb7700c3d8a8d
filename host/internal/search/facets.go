package search

import (
	"cmp"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/search/attribute"
	"github.com/parley-search/parley/host/internal/search/folder"
	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/text"
)

// FacetCounts are the values of one attribute among the documents that a search
// finds.
type FacetCounts struct {
	Attribute string
	Values    []FacetValue       // in the order of the setting faceting
	By        settings.FacetSort // that order; "": not known
	// Min and Max are of the numbers among the values; nil where there are none.
	Min, Max *float64
}

// A FacetValue is a value, as the first of the hits to come writes it.
type FacetValue struct {
	Value string
	Count int // documents that have it
}

// checkFacets returns the attributes that q asks to count, which must be filterable
// and displayed. For ruled see newPlan.
func checkFacets(m *index.Meta, asked []string, ruled bool) ([]string, error) {
	if asked == nil {
		return nil, nil
	}
	out := []string{}
	for i, a := range asked {
		if a == "*" {
			return facetFields(m), nil
		}
		if !m.Settings.Facetable(a) {
			return nil, apierr.Newf(searcherr.InvalidSearchFacets, "facets[%d] is `%.100s`, %s.", i, a, notFacetable(m, ruled))
		}
		if !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out, nil
}

// notFacetable says why values are not shown, and whose are. It does not tell
// an attribute that is hidden from one that does not exist. For ruled see
// newPlan.
func notFacetable(m *index.Meta, ruled bool) string {
	known := "no attribute of this index is both filterable and displayed"
	f := facetFields(m)
	if ruled {
		f = m.Settings.FilterPatterns()
	}
	if len(f) > 0 {
		known = "to be had here: " + text.Clip(strings.Join(f, ", "), 1000)
	}
	return "which is not an attribute that is filterable and displayed; " + known + "; see the settings filterableAttributes and displayedAttributes"
}

// facetFields are the paths whose values may be shown and counted, as far as
// they have any. The parts of a place are not among them: hardly two documents
// have the same.
func facetFields(m *index.Meta) []string {
	out := []string{}
	for i, f := range m.Fields {
		if m.FieldCounts[i] > 0 && !attribute.Covers(attribute.Geo, f) && m.Settings.Facetable(f) {
			out = append(out, f)
		}
	}
	slices.Sort(out)
	return out
}

// absent reports whether values, counted where all attributes were asked for,
// are left out: of a ruled caller's documents none has the attribute, and that
// others do is not for that caller to know.
func (rd *reading) absent(asked []string, values []folder.Count) bool {
	return rd.rule != nil && len(values) == 0 && slices.Contains(asked, "*")
}

// AttributeValues are all values of one attribute among some documents.
type AttributeValues struct {
	Attribute string
	Values    []folder.Count
	By        settings.FacetSort // the order in which the index's settings show them
	Min, Max  *float64           // of the numbers among the values; nil where there are none
}

// countValues calls add for each of the attributes with its values among docs,
// as far as the caller may know of it; asked is what the caller wrote.
func (rd *reading) countValues(v *folder.View, attributes, asked []string, docs *roaring.Bitmap, add func(*AttributeValues)) error {
	list := docs.ToArray()
	for _, a := range attributes {
		f := AttributeValues{Attribute: a, By: rd.state.Meta.Settings.Faceting.SortOf(a)}
		var err error
		if f.Values, err = v.CountValues(a, list, nil); err != nil {
			return err
		}
		if rd.absent(asked, f.Values) {
			continue
		}
		if f.Min, f.Max, err = v.NumberRange(a, list); err != nil {
			return err
		}
		add(&f)
	}
	return nil
}

// facetCounts counts the values of attributes among docs. With errCutoff the
// attributes are missing that were not counted.
func (s *searcher) facetCounts(rd *reading, attributes []string, docs *roaring.Bitmap) ([]FacetCounts, error) {
	out := make([]FacetCounts, 0, len(attributes))
	most := s.plan.Settings.Faceting.MaxValuesPerFacet
	err := rd.countValues(s.View, attributes, s.plan.query.Facets, docs, func(f *AttributeValues) {
		out = append(out, FacetCounts{Attribute: f.Attribute, Values: FirstValues(f.Values, f.By, most), By: f.By, Min: f.Min, Max: f.Max})
	})
	return out, err
}

// FirstValues returns the first values in an order.
func FirstValues(values []folder.Count, by settings.FacetSort, most int) []FacetValue {
	slices.SortFunc(values, func(a, b folder.Count) int {
		if by == settings.FacetCount && a.Count != b.Count {
			return b.Count - a.Count
		}
		return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Shown, b.Shown))
	})
	return shownValues(values, most)
}

// shownValues returns the first of values as they are shown.
func shownValues(values []folder.Count, most int) []FacetValue {
	out := []FacetValue{}
	for _, v := range values[:min(len(values), most)] {
		out = append(out, FacetValue{v.Shown, v.Count})
	}
	return out
}
