package search

import (
	"cmp"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/parley-search/parley/host/internal/apierr"
)

// FacetCounts are the values of one attribute among the documents that a search
// finds.
type FacetCounts struct {
	Attribute string
	Values    []FacetValue // in the order of the setting faceting
	By        FacetSort    // that order; "": not known
	// Min and Max are of the numbers among the values; nil where there are none.
	Min, Max *float64
}

// A FacetValue is a value, as most documents write it.
type FacetValue struct {
	Value string
	Count int // documents that have it
}

// facets returns the attributes that q asks to count, which must be filterable
// and displayed.
func (m *meta) facets(asked []string) ([]string, error) {
	if asked == nil {
		return nil, nil
	}
	out := []string{}
	for i, a := range asked {
		if a == "*" {
			return m.facetFields(), nil
		}
		if !m.Settings.facetable(a) {
			return nil, apierr.Newf(apierr.InvalidSearchFacets, "facets[%d] is `%.100s`, %s.", i, a, m.notFacetable())
		}
		if !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out, nil
}

// notFacetable says why values are not shown, and whose are. It does not tell
// an attribute that is hidden from one that does not exist.
func (m *meta) notFacetable() string {
	known := "no attribute of this index is both filterable and displayed"
	if f := m.facetFields(); len(f) > 0 {
		known = "to be had here: " + clip(strings.Join(f, ", "), 1000)
	}
	return "which is not an attribute that is filterable and displayed; " + known + "; see the settings filterableAttributes and displayedAttributes"
}

// facetable reports whether the values of attr may be shown and counted.
func (s *Settings) facetable(attr string) bool {
	d := s.displayed()
	return s.filterable(attr) && (d == nil || d.whole(attr))
}

// facetFields are the paths whose values may be shown and counted, as far as
// they have any. The parts of a place are not among them: hardly two documents
// have the same.
func (m *meta) facetFields() []string {
	out := []string{}
	for i, f := range m.Fields {
		if m.FieldCounts[i] > 0 && !covers(geoAttr, f) && m.Settings.facetable(f) {
			out = append(out, f)
		}
	}
	slices.Sort(out)
	return out
}

// facetCounts counts the values of attributes among docs.
func (s *searcher) facetCounts(attributes []string, docs *roaring.Bitmap) ([]FacetCounts, error) {
	if attributes == nil {
		return nil, nil
	}
	out := make([]FacetCounts, 0, len(attributes))
	list := docs.ToArray()
	faceting := &s.plan.settings.Faceting
	for _, a := range attributes {
		f := FacetCounts{Attribute: a, By: faceting.sortOf(a)}
		values, err := s.view.count(a, list, nil)
		if err != nil {
			return nil, err
		}
		f.Values = firstValues(values, f.By, faceting.MaxValuesPerFacet)
		if f.Min, f.Max, err = s.view.numberRange(a, list); err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// A countedValue is a value while it is being counted.
type countedValue struct {
	key   string // what it is compared by
	shown string
	count int
	most  int // of those who write it as shown
}

// count returns the values of a field among docs, which are sorted, as far as
// keep (nil: all) takes their keys. Nothing of it is from other documents.
func (v *view) count(field string, docs []uint32, keep func(key string) bool) ([]countedValue, error) {
	byKey := map[string]*countedValue{}
	err := v.eachPart(docs, func(seg *viewSegment, _ int, part []uint32) error {
		c, err := v.textColumn(seg, fieldText+field)
		if err != nil {
			return err
		}
		// A document that writes a value in two ways has it once.
		written, again := make([]int, len(c.keys)), make([]int, len(c.keys))
		for _, d := range part {
			texts := c.of(d - seg.first)
			for i, n := range texts {
				written[n]++
				if i > 0 && c.keys[n] == c.keys[texts[i-1]] {
					again[n]++
				}
			}
		}
		for n, count := range written {
			key := c.keys[n]
			if count == 0 || key == "" || keep != nil && !keep(key) {
				continue
			}
			value := byKey[key]
			if value == nil {
				value = &countedValue{key: key}
				byKey[key] = value
			}
			if value.count += count - again[n]; count > value.most {
				value.most, value.shown = count, c.shown[n]
			}
		}
		return nil
	})
	out := make([]countedValue, 0, len(byKey))
	for _, value := range byKey {
		out = append(out, *value)
	}
	return out, err
}

// firstValues returns the first values in an order.
func firstValues(values []countedValue, by FacetSort, most int) []FacetValue {
	slices.SortFunc(values, func(a, b countedValue) int {
		if by == FacetCount && a.count != b.count {
			return b.count - a.count
		}
		return cmp.Or(strings.Compare(a.key, b.key), strings.Compare(a.shown, b.shown))
	})
	out := []FacetValue{}
	for _, v := range values[:min(len(values), most)] {
		out = append(out, FacetValue{v.shown, v.count})
	}
	return out
}

// numberRange returns the smallest and the largest number of a field among
// docs, which are sorted; nil where there is none.
func (v *view) numberRange(field string, docs []uint32) (low, high *float64, err error) {
	err = v.firstNumbers(fieldNumber+field, docs, func(_ int, first, last float64) {
		if low == nil || first < *low {
			low = &first
		}
		if high == nil || last > *high {
			high = &last
		}
	})
	return low, high, err
}
