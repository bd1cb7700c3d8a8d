package search

import (
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/parley-search/parley/host/internal/apierr"
)

// mergedFacets are the values of attributes in several indexes.
type mergedFacets struct {
	attributes []string
	byName     map[string]*mergedFacet
}

// A mergedFacet is one attribute of several indexes.
type mergedFacet struct {
	by       FacetSort
	index    string // that by is of
	values   map[string]*countedValue
	min, max *float64
}

// countFacets counts the values of attributes of one index among docs.
func (w *federated) countFacets(rd *reading, v *view, asked []string, docs *roaring.Bitmap) error {
	m := rd.state.meta
	attributes, err := m.facets(asked)
	if err != nil {
		return apierr.Newf(apierr.InvalidMultiSearchFacets, "%s", apierr.From(err).Message)
	}
	if attributes == nil {
		attributes = []string{}
	}
	if !w.federation.MergeFacets {
		sr := &searcher{view: v, plan: &plan{settings: &m.Settings}}
		counts, err := sr.facetCounts(attributes, docs)
		w.res.FacetsByIndex = append(w.res.FacetsByIndex, IndexFacets{m.UID, counts})
		return err
	}
	list := docs.ToArray()
	for _, a := range attributes {
		values, err := v.count(a, list, nil)
		if err != nil {
			return err
		}
		low, high, err := v.numberRange(a, list)
		if err != nil {
			return err
		}
		if err := w.facets.add(m.UID, a, m.Settings.Faceting.sortOf(a), values, low, high); err != nil {
			return err
		}
	}
	return nil
}

// add merges the values of an attribute of one more index.
func (f *mergedFacets) add(uid, attribute string, by FacetSort, values []countedValue, low, high *float64) error {
	m := f.byName[attribute]
	if m == nil {
		if f.byName == nil {
			f.byName = map[string]*mergedFacet{}
		}
		m = &mergedFacet{by: by, index: uid, values: map[string]*countedValue{}}
		f.byName[attribute] = m
		f.attributes = append(f.attributes, attribute)
	}
	if m.by != by {
		return apierr.Newf(apierr.InvalidMultiSearchFacetOrder, "Its values of `%.100s` are in the order \"%s\", those of index `%s` in \"%s\"; give both the same in the setting faceting.sortFacetValuesBy, or do not merge facets.", attribute, by, m.index, m.by)
	}
	for _, v := range values {
		if have := m.values[v.key]; have == nil {
			m.values[v.key] = &v
		} else {
			have.count += v.count
			if v.most > have.most {
				have.most, have.shown = v.most, v.shown
			}
		}
	}
	if low != nil && (m.min == nil || *low < *m.min) {
		m.min = low
	}
	if high != nil && (m.max == nil || *high > *m.max) {
		m.max = high
	}
	return nil
}

// mergeFacets gives the result the merged facets, where they were asked for.
func (w *federated) mergeFacets() error {
	f := w.federation
	if !f.MergeFacets {
		return nil
	}
	most := defaultFaceting().MaxValuesPerFacet
	if f.MaxValuesPerFacet != nil {
		most = *f.MaxValuesPerFacet
	}
	w.res.Facets = []FacetCounts{}
	slices.Sort(w.facets.attributes)
	for _, a := range w.facets.attributes {
		m := w.facets.byName[a]
		values := make([]countedValue, 0, len(m.values))
		for _, v := range m.values {
			values = append(values, *v)
		}
		w.res.Facets = append(w.res.Facets, FacetCounts{Attribute: a, Values: firstValues(values, m.by, most), Min: m.min, Max: m.max})
	}
	return nil
}
