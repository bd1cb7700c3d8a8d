package search

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/base/memory"
	"github.com/parley-search/parley/host/internal/search/attribute"
	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/search/rank"
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

// manyDocuments bounds the documents of which numbers are ordered as texts, 10 before 9.
// With more, they are ordered by value. Meilisearch has the same bound.
const manyDocuments = 3000

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
			return facetFields(m, ""), nil
		}
		if !m.Settings.Facetable(a) {
			return nil, apierr.Newf(searcherr.InvalidSearchFacets, "facets[%d] is `%.100s`, %s.", i, a, notFacetable(m, ruled))
		}
		for _, f := range append(facetFields(m, a), a) {
			if !slices.Contains(out, f) {
				out = append(out, f)
			}
		}
	}
	return out, nil
}

// notFacetable says why values are not shown, and whose are. It does not tell
// an attribute that is hidden from one that does not exist. For ruled see
// newPlan.
func notFacetable(m *index.Meta, ruled bool) string {
	known := "no attribute of this index is both filterable and displayed"
	f := facetFields(m, "")
	if ruled {
		f = m.Settings.FilterPatterns()
	}
	if len(f) > 0 {
		known = "to be had here: " + text.Clip(strings.Join(f, ", "), 1000)
	}
	return "which is not an attribute that is filterable and displayed; " + known + "; see the settings filterableAttributes and displayedAttributes"
}

// facetFields are the paths whose values may be shown and counted, as far as documents
// have them, and the objects that they are in; of "": all, else those at of and within.
func facetFields(m *index.Meta, of string) []string {
	out := []string{}
	for i, f := range m.Fields {
		if m.FieldCounts[i] == 0 || of != "" && !attribute.Covers(of, f) {
			continue
		}
		for n := len(f); n > 0; n = strings.LastIndexByte(f[:n], '.') {
			if path := f[:n]; (of == "" || attribute.Covers(of, path)) && m.Settings.Facetable(path) {
				out = append(out, path)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// absent reports whether an attribute that was not asked for by its own name is left
// out, with its values: of a ruled caller's documents none has it, and that others do is
// not for that caller to know.
func (rd *reading) absent(asked []string, f *AttributeValues) bool {
	return rd.rule != nil && len(f.Values) == 0 && !slices.Contains(asked, f.Attribute)
}

// AttributeValues are all values of one attribute among some documents.
type AttributeValues struct {
	Attribute string
	Values    []bleveindex.Count
	By        settings.FacetSort // the order in which the index's settings show them
	Many      bool               // counted in more than manyDocuments: numbers are ordered by value
	Min, Max  *float64           // of the numbers among the values; nil where there are none
}

// countValues calls add for each of the attributes with its values among docs,
// as far as the caller may know of it; asked is what the caller wrote.
func (rd *reading) countValues(v *bleveindex.View, attributes, asked []string, docs *roaring.Bitmap, add func(*AttributeValues)) error {
	list := docs.ToArray()
	for _, a := range attributes {
		f := AttributeValues{Attribute: a, By: rd.state.Meta.Settings.Faceting.SortOf(a), Many: len(list) > manyDocuments}
		var err error
		if f.Values, err = v.CountValues(a, list, nil); err != nil {
			return err
		}
		if rd.absent(asked, &f) {
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
	var full error
	most := s.plan.Settings.Faceting.MaxValuesPerFacet
	err := rd.countValues(s.View, attributes, s.plan.query.Facets, docs, func(f *AttributeValues) {
		values := FirstValues(f.Values, f.By, f.Many, most)
		full = cmp.Or(full, takeValues(s.Ctx, f.Attribute, values))
		out = append(out, FacetCounts{Attribute: f.Attribute, Values: values, By: f.By, Min: f.Min, Max: f.Max})
	})
	return out, cmp.Or(full, err)
}

// takeValues takes what an attribute's values come to in an answer.
func takeValues(ctx context.Context, attribute string, values []FacetValue) error {
	size := len(attribute)
	for _, v := range values {
		size += len(v.Value) + facetSize
	}
	return memory.Of(ctx).TakeAnswer(size)
}

// facetSize is what a value with its count takes of an answer beside its text.
const facetSize = 10

// FirstValues returns the first values as they are shown, in the order of [FirstCounts].
// As in Meilisearch, a text that is shown like a number before it takes that one's place,
// and its count.
func FirstValues(values []bleveindex.Count, by settings.FacetSort, many bool, most int) []FacetValue {
	out := []FacetValue{}
	at := map[string]int{}
	for _, v := range FirstCounts(values, by, many, most) {
		if i, have := at[v.Shown]; have && !v.Number {
			out[i].Count = v.Count
			continue
		}
		at[v.Shown] = len(out)
		out = append(out, FacetValue{v.Shown, v.Count})
	}
	return out
}

// FirstCounts returns the first values in an order: numbers before texts, and the last
// one first of values that equally many documents have. Numbers are ordered as texts,
// unless many documents are counted or the order is by counts.
func FirstCounts(values []bleveindex.Count, by settings.FacetSort, many bool, most int) []bleveindex.Count {
	byText := func(a, b *bleveindex.Count) int {
		if c := strings.Compare(a.Key, b.Key); c != 0 {
			return c
		}
		return strings.Compare(a.Shown, b.Shown)
	}
	byNumber := byText
	if many || by == settings.FacetCount {
		byNumber = func(a, b *bleveindex.Count) int { return cmp.Compare(number(a.Key), number(b.Key)) }
	}
	if by == settings.FacetCount {
		byText, byNumber = byCount(byText), byCount(byNumber)
	}
	return firstOf(values, most, func(a, b *bleveindex.Count) int {
		switch {
		case a.Number && b.Number:
			return byNumber(a, b)
		case a.Number:
			return -1
		case b.Number:
			return 1
		}
		return byText(a, b)
	})
}

// firstOf returns the first of values in an order, at most so many. Most values are
// compared once: with the last of those that are the first so far.
func firstOf(values []bleveindex.Count, most int, order func(a, b *bleveindex.Count) int) []bleveindex.Count {
	if most == 0 || len(values) == 0 {
		return nil
	}
	kept := values
	if most < len(values)/4 {
		kept = make([]bleveindex.Count, 0, 2*most)
		at, step := 0, 1
		if order(&values[0], &values[len(values)-1]) > 0 { // the first ones are likely at the end
			at, step = len(values)-1, -1
		}
		var last *bleveindex.Count
		for ; at >= 0 && at < len(values); at += step {
			if last != nil && order(&values[at], last) > 0 {
				continue
			}
			if kept = append(kept, values[at]); len(kept) == 2*most {
				rank.SelectFirst(kept, most, order)
				kept = kept[:most]
				last = new(slices.MaxFunc(kept, func(a, b bleveindex.Count) int { return order(&a, &b) }))
			}
		}
	}
	slices.SortFunc(kept, func(a, b bleveindex.Count) int { return order(&a, &b) })
	return kept[:min(len(kept), most)]
}

// byCount orders by counts, the highest first, and equal ones against an order.
func byCount(order func(a, b *bleveindex.Count) int) func(a, b *bleveindex.Count) int {
	return func(a, b *bleveindex.Count) int {
		if a.Count != b.Count {
			return cmp.Compare(b.Count, a.Count)
		}
		return order(b, a)
	}
}

// number reads what a number is written as.
func number(s string) float64 {
	f, _ := strconv.ParseFloat(s, 64)
	return f
}

// shownValues returns the first of values as they are shown.
func shownValues(values []bleveindex.Count, most int) []FacetValue {
	out := []FacetValue{}
	for _, v := range values[:min(len(values), most)] {
		out = append(out, FacetValue{v.Shown, v.Count})
	}
	return out
}
