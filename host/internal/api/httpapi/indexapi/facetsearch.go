package indexapi

import (
	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/search"
)

// facetSearchRequest is the body of POST /indexes/:uid/facet-search. It takes
// all fields of a search, so that a client can send the same ones; those about
// how hits are shown say nothing here.
type facetSearchRequest struct {
	FacetName  string  `json:"facetName"`
	FacetQuery *string `json:"facetQuery"`
	// ExhaustiveFacetCount asks for counts that are exact where the index has a distinct
	// attribute or the query a threshold; others always are.
	ExhaustiveFacetCount bool `json:"exhaustiveFacetCount"`
	searchRequest
}

// facetSearchFields are the codes of the fields: those of a search hold, too.
func facetSearchFields() apierr.Fields {
	f := apierr.Fields{
		"facetName":            searcherr.InvalidFacetName,
		"facetQuery":           searcherr.InvalidFacetQuery,
		"exhaustiveFacetCount": searcherr.InvalidFacetExhaustive,
	}
	for name, code := range searchFields {
		f[name] = code
	}
	return f
}

// facetHit is a value that was found.
type facetHit struct {
	Value string `json:"value"`
	Count int    `json:"count"`
}

type facetSearchBody struct {
	Hits             []facetHit `json:"facetHits"`
	Query            *string    `json:"facetQuery"`
	ProcessingTimeMS int64      `json:"processingTimeMs"`
}

// SearchFacet answers POST /indexes/:uid/facet-search.
func (s *Server) SearchFacet(r *request.Call) error {
	var b facetSearchRequest
	body, err := r.ReadBody()
	if err != nil {
		return err
	}
	// Clients send what they keep for a search, with fields of their own.
	if err := apierr.DecodeKnown(body, &b, facetSearchFields()); err != nil {
		return err
	}
	uid, err := s.index(r)
	if err != nil {
		return err
	}
	if b.FacetName == "" {
		return apierr.Newf(searcherr.MissingFacetName, "`facetName` is missing: send the attribute whose values are looked for.")
	}
	b.Personalize = nil // as other fields about how hits are shown
	q := search.FacetQuery{Facet: b.FacetName, Exact: b.ExhaustiveFacetCount, Query: b.query()}
	if b.FacetQuery != nil {
		q.Text = *b.FacetQuery
	}
	res, err := s.Search.SearchFacet(r.Base, r.Caller, uid, q)
	if err != nil {
		return err
	}
	hits := make([]facetHit, len(res.Values))
	for i, v := range res.Values {
		hits[i] = facetHit{v.Value, v.Count}
	}
	if b.FacetQuery != nil {
		b.FacetQuery = &res.Text
	}
	return r.OK(facetSearchBody{hits, b.FacetQuery, res.ProcessingTime.Milliseconds()})
}
