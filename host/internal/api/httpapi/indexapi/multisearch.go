package indexapi

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/federate"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// multiSearchRequest is the body of POST /multi-search.
type multiSearchRequest struct {
	Federation *federationRequest `json:"federation"`
	Queries    []multiQuery       `json:"queries"`
}

type federationRequest struct {
	Offset        int                 `json:"offset"`
	Limit         *int                `json:"limit"`
	Page          *int                `json:"page"`
	HitsPerPage   *int                `json:"hitsPerPage"`
	Distinct      string              `json:"distinct"`
	FacetsByIndex map[string][]string `json:"facetsByIndex"`
	MergeFacets   *mergeFacetsRequest `json:"mergeFacets"`
	Personalize   *personalizeRequest `json:"personalize"`
	Performance   bool                `json:"showPerformanceDetails"`
}

type mergeFacetsRequest struct {
	MaxValuesPerFacet *int `json:"maxValuesPerFacet"`
}

// A multiQuery is a search request that names its index.
type multiQuery struct {
	IndexUID string                    `json:"indexUid"`
	Options  *federationOptionsRequest `json:"federationOptions"`
	searchRequest
}

type federationOptionsRequest struct {
	Weight        *float64 `json:"weight"`
	QueryPosition *int     `json:"queryPosition"`
	Remote        string   `json:"remote"`
}

// multiSearchFields are the codes of the fields: those of a search hold for
// each query.
func multiSearchFields() apierr.Fields {
	f := apierr.Fields{
		"federation":                               searcherr.InvalidMultiSearchFederated,
		"federation.offset":                        searcherr.InvalidSearchOffset,
		"federation.limit":                         searcherr.InvalidSearchLimit,
		"federation.page":                          searcherr.InvalidSearchPage,
		"federation.hitsPerPage":                   searcherr.InvalidSearchHitsPerPage,
		"federation.distinct":                      searcherr.InvalidSearchDistinct,
		"federation.mergeFacets.*":                 searcherr.InvalidMultiSearchMergeFacets,
		"federation.personalize":                   searcherr.InvalidSearchPersonalize,
		"federation.personalize.*":                 searcherr.InvalidSearchPersonalize,
		"federation.personalize.userContext":       searcherr.InvalidSearchPersonalizeContext,
		"federation.showPerformanceDetails":        searcherr.InvalidSearchShowPerformance,
		"federation.facetsByIndex":                 searcherr.InvalidMultiSearchFacetsByIndex,
		"federation.mergeFacets":                   searcherr.InvalidMultiSearchMergeFacets,
		"federation.mergeFacets.maxValuesPerFacet": searcherr.InvalidMultiSearchMaxValues,
		"queries.indexUid":                         indexerr.InvalidIndexUID,
		"queries.federationOptions":                searcherr.InvalidMultiSearchOptions,
		"queries.federationOptions.weight":         searcherr.InvalidMultiSearchWeight,
		"queries.federationOptions.remote":         searcherr.InvalidMultiSearchRemote,
		"queries.federationOptions.queryPosition":  searcherr.InvalidMultiSearchPosition,
	}
	for name, code := range searchFields {
		f["queries."+name] = code
	}
	return f
}

// federatedBody is what a federated search found.
type federatedBody struct {
	Hits             *struct{} `json:"hits"` // written apart
	ProcessingTimeMS int64     `json:"processingTimeMs"`
	pageBody
	RequestUID string      `json:"requestUid"`
	Metadata   []*metadata `json:"metadata,omitempty"` // of each query

	QueryVectors      map[int][]float32            `json:"queryVectors,omitzero"`
	RemoteErrors      map[string]request.ErrorBody `json:"remoteErrors,omitzero"`
	FacetDistribution json.RawMessage              `json:"facetDistribution,omitempty"`
	FacetStats        map[string]facetNumber       `json:"facetStats,omitzero"`
	FacetsByIndex     map[string]facetsBody        `json:"facetsByIndex,omitzero"`
	SemanticHitCount  *int                         `json:"semanticHitCount,omitempty"`
	Performance       performance                  `json:"performanceDetails,omitzero"`
}

// facetsBody are the facets of one index.
type facetsBody struct {
	Distribution json.RawMessage        `json:"distribution"`
	Stats        map[string]facetNumber `json:"stats"`

	// For another host alone, see federate.Header.
	Order map[string]settings.FacetSort `json:"order,omitempty"`
	Shown *int                          `json:"shown,omitempty"`
}

// federationBody stands in each hit of a federated search.
type federationBody struct {
	IndexUID      string  `json:"indexUid"`
	Position      int     `json:"queriesPosition"`
	WeightedScore float64 `json:"weightedRankingScore"`
	Remote        string  `json:"remote,omitempty"`

	// For another host alone, see federate.Header.
	Order     json.RawMessage `json:"order,omitempty"`
	Distinct  json.RawMessage `json:"distinct,omitempty"`
	ByMeaning bool            `json:"byMeaning,omitempty"`
}

// MultiSearch answers POST /multi-search.
func (s *Server) MultiSearch(r *request.Call) error {
	body, err := r.ReadBody()
	if err != nil {
		return err
	}
	var sent struct {
		Queries []json.RawMessage `json:"queries"`
	}
	if json.Unmarshal(body, &sent) == nil { // else it is refused below
		if err := federate.CheckCount(len(sent.Queries)); err != nil {
			return err // before each of them becomes a kilobyte
		}
	}
	var b multiSearchRequest
	if err := apierr.DecodeStrict(body, &b, multiSearchFields()); err != nil {
		return err
	}
	if b.Queries == nil {
		return apierr.Newf(apierr.BadRequest, "`queries` is missing: send an array of searches, each with its `indexUid`.")
	}
	queries := make([]federate.Query, len(b.Queries))
	for i := range b.Queries {
		if err := b.Queries[i].Personalize.check(fmt.Sprintf("queries[%d].personalize", i)); err != nil {
			return err
		}
		queries[i] = b.Queries[i].query()
		queries[i].Raw = sent.Queries[i]
	}
	if err := r.CountSearches(max(len(queries), 1)); err != nil {
		return err
	}
	if b.Federation != nil {
		return s.federatedSearch(r, b.Federation, queries)
	}
	var answer *request.Documents
	err = s.Federate.MultiSearch(r.Base, r.Caller, queries, func(i int) func(*search.Result) error {
		text := `{"indexUid":` + string(request.Encode(queries[i].IndexUID)) + `,"hits":[`
		if answer == nil {
			answer = r.NewDocuments(`{"results":[` + text)
		} else {
			answer.Continue("," + text)
		}
		queries[i].Show = showIn(answer, queries[i].ShowRankingScore)
		return func(res *search.Result) error {
			body := newSearchBody(res, &queries[i].Query, b.Queries[i].performance())
			body.Metadata = s.metadata(r, queries[i].IndexUID, "")
			return answer.CloseList(body)
		}
	})
	switch {
	case err != nil:
		return err
	case answer == nil:
		return r.OK(struct {
			Results []string `json:"results"`
		}{[]string{}})
	}
	answer.Continue("]}")
	return answer.End()
}

func (q *multiQuery) query() federate.Query {
	m := federate.Query{IndexUID: q.IndexUID, Query: q.searchRequest.query(), Performance: q.ShowPerformanceDetails != nil}
	if q.Options != nil {
		m.Options = &federate.QueryOptions{Weight: q.Options.Weight, Position: q.Options.QueryPosition, Remote: q.Options.Remote}
	}
	return m
}

func (s *Server) federatedSearch(r *request.Call, f *federationRequest, queries []federate.Query) error {
	if err := f.Personalize.check("federation.personalize"); err != nil {
		return err
	}
	federation := f.federation()
	federation.Host = r.Get(federate.Header) != ""
	res, err := s.Federate.FederatedSearch(r.Base, r.Caller, federation, queries)
	if err != nil {
		return err
	}
	b := federatedBody{
		ProcessingTimeMS: res.ProcessingTime.Milliseconds(),
		RequestUID:       newRequestUID(), QueryVectors: res.QueryVectors, SemanticHitCount: res.SemanticHits,
	}
	if f.Performance {
		b.Performance = res.Steps
	}
	for i := range queries {
		var remote string
		if o := queries[i].Options; o != nil {
			remote = o.Remote
		}
		if m := s.metadata(r, queries[i].IndexUID, remote); m != nil {
			b.Metadata = append(b.Metadata, m)
		}
	}
	if res.Paged {
		b.HitsPerPage, b.Page, b.TotalPages, b.TotalHits = &res.HitsPerPage, &res.Page, &res.TotalPages, &res.EstimatedTotalHits
	} else {
		b.Limit, b.Offset, b.EstimatedTotalHits = &res.Limit, &res.Offset, &res.EstimatedTotalHits
	}
	answer := r.NewDocuments(`{"hits":[`)
	for i := range res.Hits {
		h := &res.Hits[i]
		f := federationBody{IndexUID: h.IndexUID, Position: h.Position, WeightedScore: h.WeightedScore, Remote: cmp.Or(h.Remote, res.Self)}
		if federation.Host {
			f.Order, f.Distinct, f.ByMeaning = h.Order()
		}
		var more []request.Member
		if h.Remote == "" {
			more = membersOf(&h.Hit, queries[h.Query].ShowRankingScore)
		}
		answer.Add(h.Document, append(more, request.Member{Name: "_federation", Value: request.Encode(f)})...)
		h.Hit = search.Hit{} // it is written
	}
	if res.RemoteErrors != nil {
		b.RemoteErrors = map[string]request.ErrorBody{}
	}
	for name, e := range res.RemoteErrors {
		b.RemoteErrors[name] = request.NewErrorBody(e)
	}
	if res.Facets != nil {
		b.FacetDistribution, b.FacetStats = facetDistribution(res.Facets), facetStats(res.Facets)
	}
	if res.FacetsByIndex != nil {
		b.FacetsByIndex = map[string]facetsBody{}
		for _, f := range res.FacetsByIndex {
			one := facetsBody{Distribution: facetDistribution(f.Facets), Stats: facetStats(f.Facets)}
			if federation.Host {
				one.Shown, one.Order = f.Shown, facetOrder(f.Facets)
			}
			b.FacetsByIndex[f.IndexUID] = one
		}
	}
	if err := answer.CloseList(b); err != nil {
		return err
	}
	return answer.End()
}

// facetOrder is the order of the values of each attribute.
func facetOrder(facets []search.FacetCounts) map[string]settings.FacetSort {
	out := make(map[string]settings.FacetSort, len(facets))
	for _, f := range facets {
		out[f.Attribute] = f.By
	}
	return out
}

func (f *federationRequest) federation() federate.Federation {
	out := federate.Federation{Offset: f.Offset, Limit: f.Limit, Page: f.Page, HitsPerPage: f.HitsPerPage, Distinct: f.Distinct, FacetsByIndex: f.FacetsByIndex, Personalize: f.Personalize != nil}
	if f.MergeFacets != nil {
		out.MergeFacets, out.MaxValuesPerFacet = true, f.MergeFacets.MaxValuesPerFacet
	}
	return out
}
