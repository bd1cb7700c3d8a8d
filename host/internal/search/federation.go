package search

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/auth"
)

// A Federation makes one list of the hits of several queries.
type Federation struct {
	Offset int
	Limit  *int // nil: 20
}

// FederationOptions say how one query takes part in a [Federation].
type FederationOptions struct {
	Weight *float64 // what its scores are multiplied by; nil: 1
	// Position, where not nil, is shown as the query's position, for a search
	// that another host split among several.
	Position *int
}

// A FederatedResult is what a federated search found.
type FederatedResult struct {
	Hits               []FederatedHit // best first
	Offset, Limit      int
	EstimatedTotalHits int
	ProcessingTime     time.Duration
	Degraded           bool
}

// A FederatedHit is a hit and where it came from.
type FederatedHit struct {
	Hit
	IndexUID      string
	Query         int // which query found it
	Position      int // the position to show for it
	WeightedScore float64
}

// FederatedSearch answers queries as one: hits by their score times the
// query's weight, and a document that several queries found in one index where
// it stands best. Rights and errors are those of [Service.MultiSearch].
func (s *Service) FederatedSearch(ctx context.Context, caller *auth.Caller, f Federation, queries []MultiQuery) (*FederatedResult, error) {
	start := time.Now()
	res := &FederatedResult{Hits: []FederatedHit{}, Offset: f.Offset, Limit: DefaultLimit}
	if f.Limit != nil {
		res.Limit = *f.Limit
	}
	if err := f.check(queries); err != nil {
		return nil, err
	}
	need := min(res.Offset+res.Limit, maxTotalHits)
	for i := range queries {
		q := queries[i].Query
		q.Offset, q.Limit = 0, &need
		found, err := s.Search(ctx, caller, queries[i].IndexUID, q)
		if err != nil {
			return nil, inQuery(i, err)
		}
		res.EstimatedTotalHits += found.EstimatedTotalHits
		res.Degraded = res.Degraded || found.Degraded
		for _, h := range found.Hits {
			res.Hits = append(res.Hits, queries[i].federated(i, h))
		}
	}
	res.Hits = page(mergeHits(res.Hits), res.Offset, res.Limit)
	res.ProcessingTime = time.Since(start)
	return res, nil
}

// check checks a federation and the part that queries have in it.
func (f *Federation) check(queries []MultiQuery) error {
	if err := checkQueries(queries); err != nil {
		return err
	}
	switch {
	case f.Offset < 0:
		return apierr.Newf(apierr.InvalidSearchOffset, "`federation.offset` is %d; it must be zero or more.", f.Offset)
	case f.Limit != nil && *f.Limit < 0:
		return apierr.Newf(apierr.InvalidSearchLimit, "`federation.limit` is %d; it must be zero or more.", *f.Limit)
	}
	for i := range queries {
		q := &queries[i]
		if q.Limit != nil || q.Offset != 0 || q.Page != nil || q.HitsPerPage != nil {
			return apierr.Newf(apierr.InvalidMultiSearchPagination, "`queries[%d]` has a page of its own; in a federated search send offset and limit in `federation`.", i)
		}
		if o := q.Options; o != nil && o.Weight != nil && *o.Weight < 0 {
			return apierr.Newf(apierr.InvalidMultiSearchWeight, "`queries[%d].federationOptions.weight` is %v; it must be zero or more.", i, *o.Weight)
		}
		if o := q.Options; o != nil && o.Position != nil && *o.Position < 0 {
			return apierr.Newf(apierr.InvalidMultiSearchPosition, "`queries[%d].federationOptions.queryPosition` is %d; it must be zero or more.", i, *o.Position)
		}
	}
	return nil
}

// federated is a hit of q, which stands at position i.
func (q *MultiQuery) federated(i int, h Hit) FederatedHit {
	out := FederatedHit{Hit: h, IndexUID: q.IndexUID, Query: i, Position: i, WeightedScore: h.Score}
	if o := q.Options; o != nil {
		if o.Weight != nil {
			out.WeightedScore *= *o.Weight
		}
		if o.Position != nil {
			out.Position = *o.Position
		}
	}
	return out
}

// mergeHits orders hits that come query by query, and leaves a document of
// which there are several in its best place.
func mergeHits(hits []FederatedHit) []FederatedHit {
	slices.SortStableFunc(hits, func(a, b FederatedHit) int { return cmp.Compare(b.WeightedScore, a.WeightedScore) })
	type place struct{ index, id string }
	seen := make(map[place]bool, len(hits))
	return slices.DeleteFunc(hits, func(h FederatedHit) bool {
		p := place{h.IndexUID, h.ID}
		again := seen[p]
		seen[p] = true
		return again
	})
}

// page returns offset to offset+limit of a list.
func page[T any](list []T, offset, limit int) []T {
	list = list[min(offset, len(list)):]
	return list[:min(limit, len(list))]
}
