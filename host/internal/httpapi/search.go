package httpapi

import (
	"encoding/json"
	"strconv"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/search"
)

// searchRequest is the body of POST /indexes/:uid/search.
type searchRequest struct {
	Q                     string          `json:"q"`
	Offset                int             `json:"offset"`
	Limit                 *int            `json:"limit"`
	Filter                json.RawMessage `json:"filter"`
	AttributesToRetrieve  []string        `json:"attributesToRetrieve"`
	ShowRankingScore      bool            `json:"showRankingScore"`
	MatchingStrategy      string          `json:"matchingStrategy"`
	RankingScoreThreshold float64         `json:"rankingScoreThreshold"`
}

var searchFields = apierr.Fields{
	"q":                     apierr.InvalidSearchQ,
	"offset":                apierr.InvalidSearchOffset,
	"limit":                 apierr.InvalidSearchLimit,
	"filter":                apierr.InvalidSearchFilter,
	"attributesToRetrieve":  apierr.InvalidSearchAttributesRetrieve,
	"showRankingScore":      apierr.InvalidSearchShowRankingScore,
	"matchingStrategy":      apierr.InvalidSearchMatchingStrategy,
	"rankingScoreThreshold": apierr.InvalidSearchRankingThreshold,
}

// searchParameters are the query parameters of GET /indexes/:uid/search.
var searchParameters = []string{
	"q", "offset", "limit", "filter", "attributesToRetrieve", "showRankingScore", "matchingStrategy", "rankingScoreThreshold",
}

type searchBody struct {
	Hits               []json.RawMessage `json:"hits"`
	Query              string            `json:"query"`
	ProcessingTimeMS   int64             `json:"processingTimeMs"`
	Limit              int               `json:"limit"`
	Offset             int               `json:"offset"`
	EstimatedTotalHits int               `json:"estimatedTotalHits"`
}

// search answers POST /indexes/:uid/search.
func (s *Server) search(r *call) error {
	var b searchRequest
	if err := s.decode(r, &b, searchFields); err != nil {
		return err
	}
	return s.find(r, b.query())
}

func (b *searchRequest) query() search.Query {
	return search.Query{
		Q: b.Q, Offset: b.Offset, Limit: b.Limit, Filter: b.Filter, AttributesToRetrieve: b.AttributesToRetrieve,
		ShowRankingScore: b.ShowRankingScore, MatchingStrategy: search.Strategy(b.MatchingStrategy), RankingScoreThreshold: b.RankingScoreThreshold,
	}
}

// searchByURL answers GET /indexes/:uid/search.
func (s *Server) searchByURL(r *call) error {
	offset, limit, err := r.query.page(apierr.InvalidSearchOffset, apierr.InvalidSearchLimit)
	if err != nil {
		return err
	}
	scores, err := r.query.boolean("showRankingScore", apierr.InvalidSearchShowRankingScore)
	if err != nil {
		return err
	}
	q := search.Query{
		Q: r.query["q"], Offset: offset, Limit: &limit, AttributesToRetrieve: r.query.list("attributesToRetrieve"),
		ShowRankingScore: scores, MatchingStrategy: search.Strategy(r.query["matchingStrategy"]),
	}
	if f, ok := r.query["filter"]; ok {
		q.Filter = encode(f)
	}
	if t, ok := r.query["rankingScoreThreshold"]; ok {
		if q.RankingScoreThreshold, err = strconv.ParseFloat(t, 64); err != nil {
			return apierr.Newf(apierr.InvalidSearchRankingThreshold, "The query parameter `rankingScoreThreshold` must be a number from 0 to 1, but is %.64q.", t)
		}
	}
	return s.find(r, q)
}

func (s *Server) find(r *call, q search.Query) error {
	uid, err := s.index(r)
	if err != nil {
		return err
	}
	res, err := s.Search.Search(s.ctx, r.caller, uid, q)
	if err != nil {
		return err
	}
	return ok(r, newSearchBody(res, &q))
}

func newSearchBody(res *search.Result, q *search.Query) searchBody {
	b := searchBody{
		Hits: make([]json.RawMessage, len(res.Hits)), Query: res.Query, ProcessingTimeMS: res.ProcessingTime.Milliseconds(),
		Limit: res.Limit, Offset: res.Offset, EstimatedTotalHits: res.EstimatedTotalHits,
	}
	for i := range res.Hits {
		b.Hits[i] = newHit(&res.Hits[i], q)
	}
	return b
}

// newHit is a hit as q asked for it.
func newHit(h *search.Hit, q *search.Query) json.RawMessage {
	if !q.ShowRankingScore {
		return h.Document
	}
	return withMember(h.Document, "_rankingScore", strconv.AppendFloat(nil, h.Score, 'g', -1, 64))
}

// withMember adds a member to a document, which is an object. Neither name nor
// value is looked into.
func withMember(doc json.RawMessage, name string, value []byte) json.RawMessage {
	last := len(doc) - 1
	for doc[last] != '}' {
		last--
	}
	out := append(make([]byte, 0, len(doc)+len(name)+len(value)+4), doc[:last]...)
	for i := last - 1; ; i-- {
		if c := out[i]; c == '{' {
			break // an empty object
		} else if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			out = append(out, ',')
			break
		}
	}
	out = append(append(append(append(out, '"'), name...), `":`...), value...)
	return append(out, '}')
}
