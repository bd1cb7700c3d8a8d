package federate

import (
	"context"
	"slices"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// indexFacets are the values of attributes in one index, or in all of them.
type indexFacets struct {
	index      string // "": all
	most       *int   // values that are shown of each attribute; nil: not known
	attributes []string
	byName     map[string]*mergedFacet
	many       bool // see [search.FirstValues]; false of several indexes
}

// A mergedFacet is one attribute, of one index or of several.
type mergedFacet struct {
	by       settings.FacetSort // "": not known yet
	index    string             // that by is of
	values   map[facetKey]*bleveindex.Count
	gone     map[string]int // of the values as they are shown, what hits counted that are left out
	min, max *float64
}

// A facetKey tells a value of an attribute from its others.
type facetKey struct {
	key    string
	number bool
}

// maxHostValues bounds the values of an attribute that another host is given to
// count, where settings do not show more. Beyond it, its sums may lack some.
const maxHostValues = 100_000

// countFacets counts the values of attributes of one index among the documents
// that the queries found in it, hits among them.
func (w *federated) countFacets(ctx context.Context, j *search.Joint, uid string, asked []string, hits []Hit) error {
	counted, err := j.CountFacets(ctx, asked)
	if counted != nil {
		w.res.Degraded = w.res.Degraded || counted.Degraded
	}
	if apierr.Is(err, searcherr.InvalidSearchFacets) {
		return apierr.Newf(searcherr.InvalidMultiSearchFacets, "%s", apierr.From(err).Message)
	}
	if err != nil {
		return err
	}
	w.facetsOf(uid, &counted.Shown)
	for _, f := range counted.Attributes {
		if w.federation.MergeFacets { // as in Meilisearch, the values that the index shows
			f.Values = search.FirstCounts(f.Values, f.By, f.Many, counted.Shown)
		} else {
			w.facetsOf(uid, &counted.Shown).many = f.Many
		}
		if err := w.addFacet(uid, f.Attribute, f.By, f.Values, f.Min, f.Max, &counted.Shown); err != nil {
			return err
		}
	}
	return w.facetsOfHits(ctx, j, asked, hits)
}

// facetsOf returns where the facets of an index are gathered; most is how many
// values its settings show, nil where they are another host's that does not
// say it.
func (w *federated) facetsOf(uid string, most *int) *indexFacets {
	if w.federation.MergeFacets {
		uid, most = "", nil
	}
	i := slices.IndexFunc(w.facets, func(f indexFacets) bool { return f.index == uid })
	if i < 0 {
		i = len(w.facets)
		w.facets = append(w.facets, indexFacets{index: uid, byName: map[string]*mergedFacet{}})
	}
	f := &w.facets[i]
	if most != nil && (f.most == nil || *most > *f.most) {
		f.most = most
	}
	return f
}

// addFacet merges the values of an attribute of an index, which are in the order
// by ("": not known).
func (w *federated) addFacet(uid, attribute string, by settings.FacetSort, values []bleveindex.Count, low, high *float64, most *int) error {
	f := w.facetsOf(uid, most)
	m := f.byName[attribute]
	if m == nil {
		m = &mergedFacet{values: map[facetKey]*bleveindex.Count{}}
		f.byName[attribute] = m
		f.attributes = append(f.attributes, attribute)
	}
	switch {
	case by == "":
	case m.by == "":
		m.by, m.index = by, uid
	case m.by != by:
		return apierr.Newf(searcherr.InvalidMultiSearchFacetOrder, "Its values of `%.100s` are in the order \"%s\", those of index `%s` in \"%s\"; give both the same in the setting faceting.sortFacetValuesBy, or do not merge facets.", attribute, by, m.index, m.by)
	}
	for _, v := range values {
		if have := m.values[facetKey{v.Key, v.Number}]; have == nil {
			m.values[facetKey{v.Key, v.Number}] = &v
		} else {
			have.Count += v.Count
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

// leave has the values that a hit added to an attribute count no longer.
func (f *indexFacets) leave(added *search.AttributeValues) {
	m := f.byName[added.Attribute]
	if m == nil { // not counted in time
		return
	}
	if m.gone == nil {
		m.gone = map[string]int{}
	}
	for _, v := range added.Values {
		if value := m.values[facetKey{v.Key, v.Number}]; value != nil {
			m.gone[value.Shown] += v.Count
		}
	}
}

// without returns values with what hits counted that are left out taken away. As in
// Meilisearch no further value takes the place of one that none has any more.
func (m *mergedFacet) without(values []search.FacetValue) []search.FacetValue {
	for i := range values {
		values[i].Count -= m.gone[values[i].Value]
	}
	return slices.DeleteFunc(values, func(v search.FacetValue) bool { return v.Count <= 0 })
}

// finishFacets gives the result the facets that were gathered.
func (w *federated) finishFacets() error {
	f := w.federation
	if f.MergeFacets {
		most := settings.DefaultFaceting().MaxValuesPerFacet
		if f.MaxValuesPerFacet != nil {
			most = *f.MaxValuesPerFacet
		}
		w.res.Facets = w.facetsOf("", nil).counts(most)
		return nil
	}
	if f.FacetsByIndex == nil {
		return nil
	}
	w.res.FacetsByIndex = []IndexFacets{}
	for i := range w.facets {
		one := &w.facets[i]
		most := settings.DefaultFaceting().MaxValuesPerFacet
		if one.most != nil {
			most = *one.most
		}
		if f.Host {
			most = max(most, maxHostValues)
		}
		w.res.FacetsByIndex = append(w.res.FacetsByIndex, IndexFacets{one.index, one.counts(most), one.most})
	}
	return nil
}

// counts returns the facets, each cut to so many values.
func (f *indexFacets) counts(most int) []search.FacetCounts {
	out := []search.FacetCounts{}
	slices.Sort(f.attributes)
	for _, a := range f.attributes {
		m := f.byName[a]
		values := make([]bleveindex.Count, 0, len(m.values))
		for _, v := range m.values {
			values = append(values, *v)
		}
		out = append(out, search.FacetCounts{Attribute: a, Values: m.without(search.FirstValues(values, m.by, f.many, most)), By: m.by, Min: m.min, Max: m.max})
	}
	return out
}
