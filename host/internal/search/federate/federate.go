// Package federate answers several queries at once: one by one, or as one whose
// hits are in one list. Some of those queries may be for other hosts; package
// search answers the others.
package federate

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/rank"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// A Federation makes one list of the hits of several queries.
type Federation struct {
	Offset int
	Limit  *int // nil: 20
	// Page, from 1, and HitsPerPage ask for a page; where one is set, Offset and Limit do
	// not count.
	Page, HitsPerPage *int
	// Distinct is an attribute of whose values each brings one hit at most,
	// whatever index it is from; "": none.
	Distinct string
	// FacetsByIndex are attributes whose values are counted among all documents
	// that the queries find in an index.
	FacetsByIndex map[string][]string
	// MergeFacets counts them together for all indexes.
	MergeFacets bool
	// MaxValuesPerFacet bounds the values of a merged facet; nil: 100.
	MaxValuesPerFacet *int
	// Personalize asks for an order made for one user, which is not offered.
	Personalize bool
	// Host: another host asks, which counts facets together with its own. It is
	// given their values whole, and not only those that are shown.
	Host bool
}

// QueryOptions say how one query takes part in a [Federation].
type QueryOptions struct {
	Weight *float64 // what its scores are multiplied by; nil: 1
	// Position, where not nil, is shown as the query's position, for a search
	// that another host split among several.
	Position *int
	// Remote is the name of the host that answers it; "": this one.
	Remote string
}

// A Result is what a federated search found.
type Result struct {
	Hits               []Hit // best first
	Offset, Limit      int
	EstimatedTotalHits int
	// Paged: Page, HitsPerPage and TotalPages count, too; else Offset and Limit.
	Paged                         bool
	Page, HitsPerPage, TotalPages int
	// QueryVectors are the vectors of the queries that show those of hits, by the place
	// of the query; nil where none does.
	QueryVectors map[int][]float32
	// FacetsByIndex are the facets asked for, by index, or Facets, those of all
	// of them; nil where none were.
	FacetsByIndex []IndexFacets
	Facets        []search.FacetCounts
	SemanticHits  *int // of Hits; nil where no query looked for meaning
	// Self is the name of this host in the network, where a query named a host;
	// "": none did, or this one has no name.
	Self string
	// RemoteErrors say which remotes did not take part, and why; nil where none
	// was asked.
	RemoteErrors   map[string]*apierr.Error
	ProcessingTime time.Duration
	Steps          []search.Step // what took it
	Degraded       bool
}

// IndexFacets are facets of one index.
type IndexFacets struct {
	IndexUID string
	Facets   []search.FacetCounts
	Shown    *int // values of each that the index's settings show; nil: not known
}

// A Hit is a hit and where it came from.
type Hit struct {
	search.Hit
	IndexUID      string
	Query         int // which query found it
	Position      int // the position to show for it
	WeightedScore float64
	// Remote is the name of the host that found it, whose Document is all that is
	// shown of the hit; "": this one.
	Remote string

	weight float64
	facets []search.AttributeValues // that it adds to those of its index; see [federated.apart]
}

// FederatedSearch answers queries as one: hits in the order of their indexes'
// rules, with scores times the query's weight, and a document that several
// queries found in one index where it stands best. Rights and errors are those
// of [Service.MultiSearch].
func (s *Service) FederatedSearch(ctx context.Context, caller *auth.Caller, f Federation, queries []Query) (*Result, error) {
	start := time.Now()
	if err := f.check(queries); err != nil {
		return nil, err
	}
	w := &federated{service: s, caller: caller, federation: &f, queries: queries, res: &Result{Offset: f.Offset, Limit: search.DefaultLimit}, budget: search.NewBudget()}
	if f.Limit != nil {
		w.res.Limit = *f.Limit
	}
	if f.Page != nil || f.HitsPerPage != nil {
		w.res.turnTo(&f)
	}
	if err := w.run(ctx); err != nil {
		return nil, err
	}
	w.res.countPages()
	if f.Personalize {
		return nil, search.NoPersonalization("federation.personalize")
	}
	w.res.ProcessingTime = time.Since(start)
	w.res.Steps = append(w.res.Steps, search.Step{Name: "search", Took: w.res.ProcessingTime})
	return w.res, nil
}

// check checks a federation and the part that queries have in it.
func (f *Federation) check(queries []Query) error {
	if err := checkQueries(queries); err != nil {
		return err
	}
	switch {
	case f.Offset < 0:
		return apierr.Newf(searcherr.InvalidSearchOffset, "`federation.offset` is %d; it must be zero or more.", f.Offset)
	case f.Limit != nil && *f.Limit < 0:
		return apierr.Newf(searcherr.InvalidSearchLimit, "`federation.limit` is %d; it must be zero or more.", *f.Limit)
	case f.Page != nil && *f.Page < 0:
		return apierr.Newf(searcherr.InvalidSearchPage, "`federation.page` is %d; it must be zero or more, and the first is 1.", *f.Page)
	case f.HitsPerPage != nil && *f.HitsPerPage < 0:
		return apierr.Newf(searcherr.InvalidSearchHitsPerPage, "`federation.hitsPerPage` is %d; it must be zero or more.", *f.HitsPerPage)
	case f.MaxValuesPerFacet != nil && *f.MaxValuesPerFacet < 0:
		return apierr.Newf(searcherr.InvalidMultiSearchMaxValues, "`federation.mergeFacets.maxValuesPerFacet` is %d; it must be zero or more.", *f.MaxValuesPerFacet)
	}
	for i := range queries {
		q := &queries[i]
		if q.Limit != nil || q.Offset != 0 || q.Page != nil || q.HitsPerPage != nil {
			return apierr.Newf(searcherr.InvalidMultiSearchPagination, "`queries[%d]` has its own page; in a federated search send offset and limit, or page and hitsPerPage, in `federation`.", i)
		}
		if q.Facets != nil {
			return apierr.Newf(searcherr.InvalidMultiSearchQueryFacets, "`queries[%d].facets`: in a federated search send the facets of each index in `federation.facetsByIndex`.", i)
		}
		if q.Distinct != "" && f.Distinct != "" {
			return apierr.Newf(searcherr.InvalidMultiSearchDistinct, "`queries[%d].distinct` and `federation.distinct` are both set; send one of them.", i)
		}
		if q.Personalize {
			return apierr.Newf(searcherr.InvalidMultiSearchPersonalize, "`queries[%d].personalize`: in a federated search it can only be in `federation`.", i)
		}
		if q.Performance {
			return apierr.Newf(searcherr.InvalidMultiSearchPerformance, "`queries[%d].showPerformanceDetails`: in a federated search send it in `federation`.", i)
		}
		if o := q.Options; o != nil && o.Remote != "" && q.UseNetwork != nil && *q.UseNetwork {
			return apierr.Newf(searcherr.InvalidMultiSearchOptions, "`queries[%d]` has both `useNetwork` and `federationOptions.remote`; send one of them.", i)
		}
		if o := q.Options; o != nil && o.Weight != nil && *o.Weight < 0 {
			return apierr.Newf(searcherr.InvalidMultiSearchWeight, "`queries[%d].federationOptions.weight` is %v; it must be zero or more.", i, *o.Weight)
		}
		if o := q.Options; o != nil && o.Position != nil && *o.Position < 0 {
			return apierr.Newf(searcherr.InvalidMultiSearchPosition, "`queries[%d].federationOptions.queryPosition` is %d; it must be zero or more.", i, *o.Position)
		}
	}
	return nil
}

// A federated is one federated search under way.
type federated struct {
	service    *Service
	caller     *auth.Caller
	federation *Federation
	queries    []Query
	res        *Result
	hits       []Hit
	shape      []string // of the first query's order
	shapeOf    int
	facets     []indexFacets
	budget     *search.Budget
}

func (w *federated) run(ctx context.Context) error {
	local, remotes, err := w.splitRemotes(ctx)
	if err != nil {
		return err
	}
	if len(remotes) > 0 {
		w.res.RemoteErrors = map[string]*apierr.Error{} // none yet
	}
	start := time.Now()
	step := func(name string) {
		w.res.Steps = append(w.res.Steps, search.Step{Name: "search > " + name, Took: time.Since(start)})
		start = time.Now()
	}
	wait := w.ask(ctx, remotes)
	err = w.searchHere(ctx, local, remotes)
	step("execute local search")
	wait()
	if err != nil {
		return err
	}
	if len(remotes) > 0 {
		step("wait for remote results")
	}
	for _, r := range remotes {
		if err := w.take(r); err != nil {
			return err
		}
	}
	sortHits(w.hits)
	w.res.Hits = page(w.apart(), w.res.Offset, w.res.Limit)
	if n := w.res.SemanticHits; n != nil {
		for i := range w.res.Hits {
			if w.res.Hits[i].Place.ByMeaning {
				*n++
			}
		}
	}
	step("merge results")
	return w.finishFacets()
}

// searchHere answers the queries of this host.
func (w *federated) searchHere(ctx context.Context, local []int, remotes []*remoteSearch) error {
	byIndex, elsewhere := map[string][]int{}, map[string]bool{}
	for _, r := range remotes {
		for _, i := range r.queries {
			elsewhere[w.queries[i].IndexUID] = true
		}
	}
	var order []string
	for _, i := range local {
		uid := w.queries[i].IndexUID
		if byIndex[uid] == nil {
			order = append(order, uid)
		}
		byIndex[uid] = append(byIndex[uid], i)
	}
	// Facets of an index that no query asks are counted among no documents, but
	// are checked like the others.
	for _, uid := range slices.Sorted(maps.Keys(w.federation.FacetsByIndex)) {
		if byIndex[uid] == nil && !elsewhere[uid] {
			order = append(order, uid)
		}
	}
	for _, uid := range order {
		if err := w.searchIndex(ctx, uid, byIndex[uid]); err != nil {
			return err
		}
	}
	return nil
}

// searchIndex answers the queries of one index, all on the same view of it.
func (w *federated) searchIndex(ctx context.Context, uid string, positions []int) error {
	place := func(err error) error {
		if len(positions) == 0 {
			return inFacets(uid, err)
		}
		return inQuery(positions[0], err)
	}
	inside := false // errors name their query already
	joint := search.JointOptions{Distinct: w.federation.Distinct, Budget: w.budget}
	err := w.service.opts.Indexes.SearchJointly(ctx, w.caller, uid, joint, func(j *search.Joint) error {
		first := len(w.hits)
		for _, i := range positions {
			if err := w.searchQuery(ctx, j, i); err != nil {
				inside = true
				return inQuery(i, err)
			}
		}
		w.hits = append(w.hits[:first], w.once(j, w.hits[first:])...)
		w.res.EstimatedTotalHits += j.Found()
		if asked, ok := w.federation.FacetsByIndex[uid]; ok {
			inside = true
			return inFacets(uid, w.countFacets(ctx, j, uid, asked, w.hits[first:]))
		}
		return nil
	})
	if err != nil && !inside {
		return place(err)
	}
	return err
}

// searchQuery answers one query.
func (w *federated) searchQuery(ctx context.Context, j *search.Joint, i int) error {
	q := w.queries[i].Query
	need := w.need()
	q.Offset, q.Limit = 0, &need
	if err := w.spread(j, &q); err != nil {
		return err
	}
	res, err := j.Search(ctx, q, func(order []string) error { return w.sameOrder(i, order) })
	if err != nil {
		return err
	}
	w.res.Degraded = w.res.Degraded || res.Degraded
	if res.SemanticHits != nil {
		w.res.SemanticHits = new(int)
	}
	if q.RetrieveVectors {
		if w.res.QueryVectors == nil {
			w.res.QueryVectors = map[int][]float32{}
		}
		if res.QueryVector != nil {
			w.res.QueryVectors[i] = res.QueryVector
		}
	}
	for _, h := range res.Hits {
		w.hits = append(w.hits, w.queries[i].federated(i, h))
	}
	return nil
}

// sameOrder checks that the hits of query i can be brought into one order with
// those before.
func (w *federated) sameOrder(i int, shape []string) error {
	if w.shape == nil {
		w.shape, w.shapeOf = shape, i
		return nil
	}
	if n, apart := rank.ApartAt(w.shape, shape); apart {
		return apierr.Newf(searcherr.InvalidMultiSearchRankingRules, "Its hits cannot be brought into one order with those of `queries[%d]`: step %d of its order is %s, of the other's %s; see `sort` of both, and the setting rankingRules of their indexes.",
			w.shapeOf, n+1, shape[n], w.shape[n])
	}
	if len(shape) > len(w.shape) {
		w.shape, w.shapeOf = shape, i
	}
	return nil
}

// federated is a hit of q, which stands at position i.
func (q *Query) federated(i int, h search.Hit) Hit {
	out := Hit{Hit: h, IndexUID: q.IndexUID, Query: i, Position: i, weight: 1}
	if o := q.Options; o != nil {
		if o.Weight != nil {
			out.weight = *o.Weight
		}
		if o.Position != nil {
			out.Position = *o.Position
		}
	}
	out.WeightedScore = h.Score * out.weight
	return out
}

// need is how many hits of an index may be shown.
func (w *federated) need() int { return min(w.res.Offset+w.res.Limit, settings.MaxTotalHits) }

// sortHits brings hits into their order: of equal ones that of the earlier query is first.
func sortHits(hits []Hit) {
	slices.SortStableFunc(hits, func(a, b Hit) int {
		x, y := a.standing(), b.standing()
		return cmp.Or(x.Compare(&y), cmp.Compare(a.Query, b.Query))
	})
}

// standing is what orders h.
func (h *Hit) standing() rank.Standing {
	return rank.Standing{Steps: h.Place.Order, Weight: h.weight, Weighted: h.WeightedScore, Remote: h.Remote}
}

// inFacets has an error that a client sees name the facets that it is about.
func inFacets(uid string, err error) error {
	if err == nil {
		return nil
	}
	e := apierr.From(err)
	if e.Code == apierr.Internal {
		return err
	}
	c := *e
	c.Message = fmt.Sprintf("`federation.facetsByIndex.%.400s`: %s", uid, e.Message)
	return &c
}

// page returns offset to offset+limit of a list.
func page[T any](list []T, offset, limit int) []T {
	list = list[min(offset, len(list)):]
	return list[:min(limit, len(list))]
}
