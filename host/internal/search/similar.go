package search

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/vector"
)

// A SimilarQuery asks for the documents that are nearest in meaning to one.
type SimilarQuery struct {
	ID       string
	Embedder string
	Filter   json.RawMessage // as that of a [Query]
	Offset   int
	Limit    *int // nil: 20

	AttributesToRetrieve    []string
	RetrieveVectors         bool
	ShowRankingScoreDetails bool
	RankingScoreThreshold   float64
	Show                    func(h *Hit) error // as that of a [Query]
}

// similarCodes are the codes of a SimilarQuery's parameters, in place of those
// of a search.
func similarCodes() map[apierr.Code]apierr.Code {
	return map[apierr.Code]apierr.Code{
		searcherr.InvalidSearchEmbedder:         searcherr.InvalidSimilarEmbedder,
		searcherr.InvalidSearchFilter:           searcherr.InvalidSimilarFilter,
		searcherr.InvalidSearchOffset:           searcherr.InvalidSimilarOffset,
		searcherr.InvalidSearchLimit:            searcherr.InvalidSimilarLimit,
		searcherr.InvalidSearchRankingThreshold: searcherr.InvalidSimilarThreshold,
	}
}

// Similar answers a SimilarQuery. A document that caller may not see is
// [searcherr.NotFoundSimilarID], as one that is absent.
func (s *Service) Similar(ctx context.Context, caller *auth.Caller, indexUID string, q SimilarQuery) (*Result, error) {
	res, err := s.similar(ctx, caller, indexUID, &q)
	if e, ok := err.(*apierr.Error); ok {
		if code, ok := similarCodes()[e.Code]; ok {
			own := *e
			own.Code = code
			return nil, &own
		}
	}
	return res, err
}

func (s *Service) similar(ctx context.Context, caller *auth.Caller, indexUID string, q *SimilarQuery) (*Result, error) {
	ix, rule, err := s.index(caller, indexUID)
	if err != nil {
		return nil, err
	}
	m := ix.Meta()
	if _, ok := m.Settings.Embedders[q.Embedder]; !ok {
		return nil, unknownEmbedder(searcherr.InvalidSimilarEmbedder, apierr.BadRequest, "embedder", q.Embedder)
	}
	docs, err := s.opts.DB.Documents(m.Docs, []string{q.ID})
	if err != nil {
		return nil, fmt.Errorf("read document: %w", err)
	}
	if docs[0].Seq == 0 || rule != nil && !rule.Matches(docs[0].Body) {
		return nil, apierr.Newf(searcherr.NotFoundSimilarID, "Document `%.511s` not found.", q.ID)
	}
	own, err := s.vectorOf(m, q.Embedder, q.ID)
	if err != nil {
		return nil, err
	}
	one := 1.0
	query := Query{
		Vector: own, Hybrid: &settings.Hybrid{Embedder: q.Embedder, SemanticRatio: &one}, Filter: q.Filter, Offset: q.Offset, Limit: q.Limit,
		AttributesToRetrieve: q.AttributesToRetrieve, RetrieveVectors: q.RetrieveVectors,
		ShowRankingScoreDetails: q.ShowRankingScoreDetails, RankingScoreThreshold: q.RankingScoreThreshold, unlike: q.ID, Show: q.Show,
	}
	if own == nil {
		// Nothing is near to what is nowhere; the parameters are checked all the same, and the
		// candidates counted, as in Meilisearch.
		query.Hybrid, query.Limit = nil, new(int)
	}
	res, err := s.Search(ctx, caller, indexUID, query)
	if err == nil {
		res.EstimatedTotalHits = min(res.EstimatedTotalHits, m.Settings.Pagination.MaxTotalHits)
	}
	if err == nil && own == nil {
		if res.Limit = DefaultLimit; q.Limit != nil {
			res.Limit = *q.Limit
		}
	}
	return res, err
}

// vectorOf returns the first vector of a document, nil where it has none.
func (s *Service) vectorOf(m *index.Meta, embedder, id string) ([]float32, error) {
	set, ok := m.VectorSets[embedder]
	if !ok {
		return nil, nil
	}
	kept, err := s.opts.DB.Vectors(m.Docs, set.ID, []string{id})
	if err != nil {
		return nil, fmt.Errorf("read vectors: %w", err)
	}
	if kept[0] == nil {
		return nil, nil
	}
	v, err := vector.Decode(kept[0])
	if err != nil || len(v.Vectors) == 0 {
		return nil, err
	}
	return v.Vectors[0], nil
}
