package federate

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/text"
)

// take puts what a remote found among the hits of this host.
func (w *federated) take(r *remoteSearch) error {
	if r.err != nil {
		w.res.RemoteErrors[r.name] = r.err
		w.service.opts.Log(fmt.Sprintf("remote %q did not take part in a search", r.name), r.err)
		return nil
	}
	a := r.answer
	w.res.EstimatedTotalHits += a.EstimatedTotalHits
	w.res.Degraded = w.res.Degraded || a.Degraded
	if a.SemanticHitCount != nil && w.res.SemanticHits == nil {
		w.res.SemanticHits = new(int)
	}
	for _, h := range a.hits {
		h.Remote = r.name
		if o := w.queries[h.Query].Options; o.Position != nil {
			h.Position = *o.Position
		}
		w.hits = append(w.hits, h)
	}
	for _, f := range a.facets {
		for _, c := range f.Facets {
			if err := w.takeFacet(&f, &c); err != nil {
				return inFacets(f.IndexUID, err)
			}
		}
	}
	return nil
}

// takeFacet counts an attribute of a remote's index together with what is known
// of it. The order of this host's settings goes before that of the remote's.
func (w *federated) takeFacet(f *IndexFacets, c *search.FacetCounts) error {
	by := c.By
	if known := w.facetsOf(f.IndexUID, f.Shown).byName[c.Attribute]; known != nil && known.by != "" {
		by = known.by
	}
	var values []bleveindex.Count
	for _, v := range c.Values {
		values = append(values, bleveindex.Count{Key: text.FacetKey(v.Value), Shown: v.Value, Count: v.Count, Number: bleveindex.LooksLikeNumber(v.Value)})
	}
	return w.addFacet(f.IndexUID, c.Attribute, by, values, c.Min, c.Max, f.Shown)
}

// A remoteAnswer is what a remote found.
type remoteAnswer struct {
	EstimatedTotalHits int
	SemanticHitCount   *int
	Degraded           bool
	Hits               []json.RawMessage
	FacetsByIndex      map[string]struct {
		Distribution map[string]json.RawMessage
		Stats        map[string]struct{ Min, Max *float64 }
		// Of a host that knows [Header]: the order of each attribute's
		// values, and how many its settings show.
		Order map[string]settings.FacetSort
		Shown *int
	}

	hits   []Hit
	facets []IndexFacets // by name
}

// readRemote reads an answer to queries. An error says what is wrong with it,
// and repeats nothing of it.
func readRemote(body []byte, queries []int) (*remoteAnswer, error) {
	a := &remoteAnswer{}
	if err := json.Unmarshal(body, a); err != nil || a.Hits == nil {
		return nil, errors.New("it is not JSON of the shape")
	}
	if a.EstimatedTotalHits < 0 {
		return nil, errors.New("it counts fewer than no hits")
	}
	for i, raw := range a.Hits {
		h, err := readRemoteHit(raw)
		if err != nil || !slices.Contains(queries, h.Query) {
			return nil, fmt.Errorf("hit %d does not say which query found it", i)
		}
		a.hits = append(a.hits, h)
	}
	for _, uid := range slices.Sorted(maps.Keys(a.FacetsByIndex)) {
		f := a.FacetsByIndex[uid]
		one := IndexFacets{IndexUID: uid}
		if f.Shown != nil {
			one.Shown = new(min(max(*f.Shown, 0), settings.MostFacetValues))
		}
		for _, attribute := range slices.Sorted(maps.Keys(f.Distribution)) {
			c := search.FacetCounts{Attribute: attribute, By: f.Order[attribute], Min: f.Stats[attribute].Min, Max: f.Stats[attribute].Max}
			var counts map[string]int
			if json.Unmarshal(f.Distribution[attribute], &counts) != nil {
				return nil, errors.New("a count of a facet is not a number")
			}
			for _, v := range slices.Sorted(maps.Keys(counts)) {
				c.Values = append(c.Values, search.FacetValue{Value: v, Count: counts[v]})
			}
			if c.By != settings.FacetAlpha && c.By != settings.FacetCount {
				c.By = ""
			}
			one.Facets = append(one.Facets, c)
		}
		a.facets = append(a.facets, one)
	}
	return a, nil
}

// readRemoteHit takes the member `_federation` out of a hit.
func readRemoteHit(raw []byte) (Hit, error) {
	var h Hit
	if len(raw) == 0 || raw[0] != '{' {
		return h, errors.New("a hit is not an object")
	}
	var own []byte
	doc := []byte{'{'}
	rawjson.EachMember(raw, func(key, v []byte) bool {
		if rawjson.Unquote(key) == "_federation" {
			own = v
			return true
		}
		if len(doc) > 1 {
			doc = append(doc, ',')
		}
		doc = append(append(append(doc, key...), ':'), v...)
		return true
	})
	h.Document = append(doc, '}')
	if own == nil {
		return h, errors.New("a hit without _federation")
	}
	var f struct {
		IndexUID             string
		QueriesPosition      *int
		WeightedRankingScore *float64
		Order                []wireStep
		Distinct             []string
		ByMeaning            bool
	}
	if err := json.Unmarshal(own, &f); err != nil || f.QueriesPosition == nil || f.WeightedRankingScore == nil {
		return h, errors.New("a hit whose _federation lacks something")
	}
	h.IndexUID, h.Query, h.Position, h.WeightedScore = f.IndexUID, *f.QueriesPosition, *f.QueriesPosition, *f.WeightedRankingScore
	h.weight = 1 // scores of steps come weighed
	h.Place.Distinct, h.Place.ByMeaning = f.Distinct, f.ByMeaning
	for _, s := range f.Order {
		h.Place.Order = append(h.Place.Order, s.step())
	}
	return h, nil
}
