package indexapi

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/highlight"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// SearchParameters are the query parameters of GET /indexes/:uid/search.
var SearchParameters = []string{
	"q", "offset", "limit", "page", "hitsPerPage", "filter", "sort", "distinct", "facets",
	"attributesToRetrieve", "attributesToHighlight", "attributesToCrop", "cropLength", "cropMarker", "highlightPreTag", "highlightPostTag",
	"showMatchesPosition", "showRankingScore", "showRankingScoreDetails", "matchingStrategy", "rankingScoreThreshold",
	"attributesToSearchOn", "locales", "vector", "hybridEmbedder", "hybridSemanticRatio", "retrieveVectors",
	"personalizeUserContext", "useNetwork", "showPerformanceDetails",
}

// SearchByURL answers GET /indexes/:uid/search.
func (s *Server) SearchByURL(r *request.Call) error {
	p := urlSearch{Query: r.Query, codes: searchFields}
	q := search.Query{
		Q: r.Query["q"], Limit: p.integer("limit"), Page: p.integer("page"), HitsPerPage: p.integer("hitsPerPage"),
		Filter: readFilter(r.Query), Sort: splitSort(r.Query["sort"]), Distinct: r.Query["distinct"], Facets: p.names("facets"),
		AttributesToRetrieve: p.names("attributesToRetrieve"),
		Format: highlight.Format{
			Highlight: p.names("attributesToHighlight"), Crop: p.names("attributesToCrop"), CropLength: p.integer("cropLength"),
			CropMarker: p.text("cropMarker"), PreTag: p.text("highlightPreTag"), PostTag: p.text("highlightPostTag"),
			Positions: p.boolean("showMatchesPosition"),
		},
		ShowRankingScore: p.boolean("showRankingScore"), ShowRankingScoreDetails: p.boolean("showRankingScoreDetails"),
		MatchingStrategy: settings.Strategy(r.Query["matchingStrategy"]), RankingScoreThreshold: p.fraction("rankingScoreThreshold"),
		AttributesToSearchOn: p.names("attributesToSearchOn"), Locales: p.names("locales"),
		Vector: p.vector(), Hybrid: p.hybrid(), RetrieveVectors: p.boolean("retrieveVectors"),
	}
	if n := p.integer("offset"); n != nil {
		q.Offset = *n
	}
	q.Personalize = r.Query["personalizeUserContext"] != ""
	if _, ok := r.Query["useNetwork"]; ok {
		use := p.boolean("useNetwork")
		q.UseNetwork = &use
	}
	performance := p.boolean("showPerformanceDetails")
	if p.err != nil {
		return p.err
	}
	return s.find(r, q, nil, performance)
}

// A urlSearch reads the parameters of a search. What is not sent is nil; the
// first that is wrong is err.
type urlSearch struct {
	request.Query
	codes apierr.Fields
	err   error
}

func (p *urlSearch) integer(name string) *int {
	if _, ok := p.Query[name]; !ok {
		return nil
	}
	n, err := p.Query.Integer(name, 0, p.codes[name])
	p.wrong(err)
	return &n
}

func (p *urlSearch) boolean(name string) bool {
	b, err := p.Query.Boolean(name, p.codes[name])
	p.wrong(err)
	return b
}

func (p *urlSearch) fraction(name string) float64 {
	v, ok := p.Query[name]
	if !ok {
		return 0
	}
	f, err := strconv.ParseFloat(v, 64)
	if err != nil {
		p.wrong(apierr.Newf(p.codes[name], "The query parameter `%s` must be a number from 0 to 1, but is %.64q.", name, v))
	}
	return f
}

func (p *urlSearch) text(name string) *string {
	v, ok := p.Query[name]
	if !ok {
		return nil
	}
	return &v
}

// names returns the parts that commas divide.
func (p *urlSearch) names(name string) []string {
	v, ok := p.Query[name]
	if !ok {
		return nil
	}
	parts := strings.Split(v, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

// vector reads numbers that commas divide.
func (p *urlSearch) vector() []float32 {
	var v []float32
	for _, part := range p.names("vector") {
		x, err := strconv.ParseFloat(part, 32)
		if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
			p.wrong(apierr.Newf(searcherr.InvalidSearchVector, "The query parameter `vector` must be numbers with commas between, but has %.64q among them.", part))
			return nil
		}
		v = append(v, float32(x))
	}
	return v
}

func (p *urlSearch) hybrid() *settings.Hybrid {
	embedder, named := p.Query["hybridEmbedder"]
	ratio, weighed := p.Query["hybridSemanticRatio"]
	if !named && !weighed {
		return nil
	}
	h := &settings.Hybrid{Embedder: embedder}
	if weighed {
		x, err := strconv.ParseFloat(ratio, 64)
		if err != nil {
			p.wrong(apierr.Newf(searcherr.InvalidSearchSemanticRatio, "The query parameter `hybridSemanticRatio` must be a number from 0 to 1, but is %.64q.", ratio))
		}
		h.SemanticRatio = &x
	}
	return h
}

func (p *urlSearch) wrong(err error) {
	if p.err == nil {
		p.err = err
	}
}

// readFilter returns the parameter filter: an array in JSON, or one expression.
func readFilter(q request.Query) json.RawMessage {
	f, ok := q["filter"]
	if !ok {
		return nil
	}
	if strings.HasPrefix(strings.TrimSpace(f), "[") && json.Valid([]byte(f)) {
		return json.RawMessage(f)
	}
	return request.Encode(f)
}

// splitSort splits criteria at the commas that stand outside of parentheses.
func splitSort(s string) []string {
	if s == "" {
		return nil
	}
	var out []string
	depth, from := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, strings.TrimSpace(s[from:i]))
				from = i + 1
			}
		}
	}
	return append(out, strings.TrimSpace(s[from:]))
}
