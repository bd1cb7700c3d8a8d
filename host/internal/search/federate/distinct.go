package federate

import (
	"context"
	"slices"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/search"
)

// spread has a query obey the federation's attribute, too: of two hits of one
// query that share a value, the federation would drop the second.
func (w *federated) spread(j *search.Joint, q *search.Query) error {
	attr := w.federation.Distinct
	if attr == "" {
		return nil
	}
	if err := j.CheckDistinct(attr); err != nil {
		return apierr.Newf(searcherr.InvalidSearchDistinct, "`federation.distinct`: %s", apierr.From(err).Message)
	}
	q.Distinct = attr
	return nil
}

// seenValues are those of the federation's attribute that hits brought so far.
type seenValues map[string]bool

// take reports whether no hit before had a value of h, whose values are noted then.
func (s seenValues) take(h *Hit) bool {
	if slices.ContainsFunc(h.Place.Distinct, func(v string) bool { return s[v] }) {
		return false
	}
	for _, v := range h.Place.Distinct {
		s[v] = true
	}
	return true
}

// once returns the hits of one index in their order, each document where it stands best,
// as many as may be shown. As in Meilisearch a document that has a value of one before it
// is not found at all, but only as far as hits are looked at.
func (w *federated) once(j *search.Joint, hits []Hit) []Hit {
	sortHits(hits)
	seen, values := make(map[uint32]bool, len(hits)), seenValues{}
	out := []Hit{}
	for i := range hits {
		h := &hits[i]
		switch {
		case len(out) == w.need():
			return out
		case seen[h.Place.Doc]:
		case values.take(h):
			out = append(out, *h)
		default:
			j.Leave(h.Place.Doc)
		}
		seen[h.Place.Doc] = true
	}
	return out
}

// facetsOfHits notes what hits add to the facets of their index, where one of another
// index may yet stand for them.
func (w *federated) facetsOfHits(ctx context.Context, j *search.Joint, asked []string, hits []Hit) error {
	if w.federation.Distinct == "" {
		return nil
	}
	docs := make([]uint32, len(hits))
	for i := range hits {
		docs[i] = hits[i].Place.Doc
	}
	facets, err := j.FacetsOf(ctx, asked, docs)
	for i := range facets {
		hits[i].facets = facets[i]
	}
	return err
}

// apart returns the hits, which are in order, without those that have a value of one
// before, which count neither among all hits nor in facets. Within an index none has.
func (w *federated) apart() []Hit {
	values, out := seenValues{}, []Hit{}
	for i := range w.hits {
		h := &w.hits[i]
		if values.take(h) {
			out = append(out, *h)
			continue
		}
		w.res.EstimatedTotalHits = max(w.res.EstimatedTotalHits-1, 0)
		for k := range h.facets {
			w.facetsOf(h.IndexUID, nil).leave(&h.facets[k])
		}
	}
	return out
}
