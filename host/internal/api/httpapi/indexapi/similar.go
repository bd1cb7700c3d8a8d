package indexapi

import (
	"encoding/json"
	"strings"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/search"
)

// similarRequest is the body of POST /indexes/:uid/similar.
type similarRequest struct {
	ID                      json.RawMessage `json:"id"`
	Embedder                string          `json:"embedder"`
	Filter                  json.RawMessage `json:"filter"`
	Offset                  int             `json:"offset"`
	Limit                   *int            `json:"limit"`
	AttributesToRetrieve    []string        `json:"attributesToRetrieve"`
	RetrieveVectors         bool            `json:"retrieveVectors"`
	ShowRankingScore        bool            `json:"showRankingScore"`
	ShowRankingScoreDetails bool            `json:"showRankingScoreDetails"`
	RankingScoreThreshold   float64         `json:"rankingScoreThreshold"`
	ShowPerformanceDetails  bool            `json:"showPerformanceDetails"`
}

var similarFields = apierr.Fields{
	"id":                      searcherr.InvalidSimilarID,
	"embedder":                searcherr.InvalidSimilarEmbedder,
	"filter":                  searcherr.InvalidSimilarFilter,
	"offset":                  searcherr.InvalidSimilarOffset,
	"limit":                   searcherr.InvalidSimilarLimit,
	"attributesToRetrieve":    searcherr.InvalidSimilarAttributes,
	"retrieveVectors":         searcherr.InvalidSimilarRetrieveVectors,
	"showRankingScore":        searcherr.InvalidSimilarShowScore,
	"showRankingScoreDetails": searcherr.InvalidSimilarShowScoreDetails,
	"rankingScoreThreshold":   searcherr.InvalidSimilarThreshold,
	"showPerformanceDetails":  searcherr.InvalidSimilarShowPerformance,
}

// SimilarParameters are the query parameters of GET /indexes/:uid/similar.
var SimilarParameters = []string{
	"id", "embedder", "filter", "offset", "limit", "attributesToRetrieve", "retrieveVectors", "showRankingScore", "showRankingScoreDetails", "rankingScoreThreshold", "showPerformanceDetails",
}

type similarBody struct {
	Hits               *struct{}   `json:"hits"` // written apart
	ID                 string      `json:"id"`
	ProcessingTimeMS   int64       `json:"processingTimeMs"`
	Limit              int         `json:"limit"`
	Offset             int         `json:"offset"`
	EstimatedTotalHits int         `json:"estimatedTotalHits"`
	Performance        performance `json:"performanceDetails,omitzero"`
}

// Similar answers POST /indexes/:uid/similar.
func (s *Server) Similar(r *request.Call) error {
	var b similarRequest
	if err := r.Decode(&b, similarFields); err != nil {
		return err
	}
	if b.ID == nil {
		return noSimilarID()
	}
	var id string
	if json.Unmarshal(b.ID, &id) != nil {
		var n json.Number
		if json.Unmarshal(b.ID, &n) != nil || n == "" {
			return apierr.Newf(searcherr.InvalidSimilarID, "`id` must be the id of a document, a string or an integer.")
		}
		id = n.String()
	}
	return s.findSimilar(r, b.ShowRankingScore, b.ShowPerformanceDetails, search.SimilarQuery{
		ID: id, Embedder: b.Embedder, Filter: b.Filter, Offset: b.Offset, Limit: b.Limit,
		AttributesToRetrieve: b.AttributesToRetrieve, RetrieveVectors: b.RetrieveVectors,
		ShowRankingScoreDetails: b.ShowRankingScoreDetails, RankingScoreThreshold: b.RankingScoreThreshold,
	})
}

// SimilarByURL answers GET /indexes/:uid/similar.
func (s *Server) SimilarByURL(r *request.Call) error {
	p := urlSearch{Query: r.Query, codes: similarFields}
	scores, performance := p.boolean("showRankingScore"), p.boolean("showPerformanceDetails")
	q := search.SimilarQuery{
		ID: r.Query["id"], Embedder: r.Query["embedder"], Filter: readFilter(r.Query), Limit: p.integer("limit"),
		AttributesToRetrieve: p.names("attributesToRetrieve"), RetrieveVectors: p.boolean("retrieveVectors"),
		ShowRankingScoreDetails: p.boolean("showRankingScoreDetails"), RankingScoreThreshold: p.fraction("rankingScoreThreshold"),
	}
	if n := p.integer("offset"); n != nil {
		q.Offset = *n
	}
	if p.err != nil {
		return p.err
	}
	return s.findSimilar(r, scores, performance, q)
}

func noSimilarID() error {
	return apierr.Newf(apierr.BadRequest, "`id` is missing: send the id of the document that others are to be like.")
}

func (s *Server) findSimilar(r *request.Call, scores, performance bool, q search.SimilarQuery) error {
	uid, err := s.index(r)
	if err != nil {
		return err
	}
	if q.ID == "" {
		return noSimilarID()
	}
	answer := r.NewDocuments(`{"hits":[`)
	q.Show = showIn(answer, scores)
	res, err := s.Search.Similar(r.Base, r.Caller, uid, q)
	if err != nil {
		return err
	}
	b := similarBody{
		ID: q.ID, ProcessingTimeMS: res.ProcessingTime.Milliseconds(),
		Limit: res.Limit, Offset: res.Offset, EstimatedTotalHits: res.EstimatedTotalHits,
	}
	if performance {
		for _, step := range res.Steps {
			step.Name = strings.Replace(strings.Replace(step.Name, "execute local search > ", "", 1), "search", "similar", 1)
			b.Performance = append(b.Performance, step)
		}
	}
	if err := answer.CloseList(b); err != nil {
		return err
	}
	return answer.End()
}
