package indexapi

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/highlight"
	"github.com/parley-search/parley/host/internal/search/retrieval"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// searchRequest is the body of POST /indexes/:uid/search.
type searchRequest struct {
	Q                       string                     `json:"q"`
	Offset                  int                        `json:"offset"`
	Limit                   *int                       `json:"limit"`
	Page                    *int                       `json:"page"`
	HitsPerPage             *int                       `json:"hitsPerPage"`
	Filter                  json.RawMessage            `json:"filter"`
	Sort                    []string                   `json:"sort"`
	Distinct                string                     `json:"distinct"`
	Facets                  []string                   `json:"facets"`
	AttributesToRetrieve    []string                   `json:"attributesToRetrieve"`
	AttributesToHighlight   []string                   `json:"attributesToHighlight"`
	AttributesToCrop        []string                   `json:"attributesToCrop"`
	CropLength              *int                       `json:"cropLength"`
	CropMarker              *string                    `json:"cropMarker"`
	HighlightPreTag         *string                    `json:"highlightPreTag"`
	HighlightPostTag        *string                    `json:"highlightPostTag"`
	ShowMatchesPosition     bool                       `json:"showMatchesPosition"`
	ShowRankingScore        bool                       `json:"showRankingScore"`
	ShowRankingScoreDetails bool                       `json:"showRankingScoreDetails"`
	MatchingStrategy        string                     `json:"matchingStrategy"`
	RankingScoreThreshold   float64                    `json:"rankingScoreThreshold"`
	AttributesToSearchOn    []string                   `json:"attributesToSearchOn"`
	Locales                 []string                   `json:"locales"`
	Vector                  []float32                  `json:"vector"`
	Media                   map[string]json.RawMessage `json:"media"`
	Hybrid                  *hybridRequest             `json:"hybrid"`
	RetrieveVectors         bool                       `json:"retrieveVectors"`
	Personalize             *personalizeRequest        `json:"personalize"`
	UseNetwork              *bool                      `json:"useNetwork"`
	ShowPerformanceDetails  *bool                      `json:"showPerformanceDetails"`
}

type personalizeRequest struct {
	UserContext *string `json:"userContext"`
}

// check says what is missing.
func (b *personalizeRequest) check(path string) error {
	if b != nil && b.UserContext == nil {
		return apierr.Newf(searcherr.InvalidSearchPersonalize, "`%s.userContext` is missing.", path)
	}
	return nil
}

type hybridRequest struct {
	Embedder      string   `json:"embedder"`
	SemanticRatio *float64 `json:"semanticRatio"`
}

var searchFields = apierr.Fields{
	"q":                       searcherr.InvalidSearchQ,
	"offset":                  searcherr.InvalidSearchOffset,
	"limit":                   searcherr.InvalidSearchLimit,
	"page":                    searcherr.InvalidSearchPage,
	"hitsPerPage":             searcherr.InvalidSearchHitsPerPage,
	"filter":                  searcherr.InvalidSearchFilter,
	"sort":                    searcherr.InvalidSearchSort,
	"distinct":                searcherr.InvalidSearchDistinct,
	"facets":                  searcherr.InvalidSearchFacets,
	"attributesToRetrieve":    searcherr.InvalidSearchAttributesRetrieve,
	"attributesToHighlight":   searcherr.InvalidSearchAttributesHighlight,
	"attributesToCrop":        searcherr.InvalidSearchAttributesCrop,
	"cropLength":              searcherr.InvalidSearchCropLength,
	"cropMarker":              searcherr.InvalidSearchCropMarker,
	"highlightPreTag":         searcherr.InvalidSearchHighlightPreTag,
	"highlightPostTag":        searcherr.InvalidSearchHighlightPostTag,
	"showMatchesPosition":     searcherr.InvalidSearchShowMatchesPosition,
	"showRankingScore":        searcherr.InvalidSearchShowRankingScore,
	"showRankingScoreDetails": searcherr.InvalidSearchShowScoreDetails,
	"matchingStrategy":        searcherr.InvalidSearchMatchingStrategy,
	"rankingScoreThreshold":   searcherr.InvalidSearchRankingThreshold,
	"attributesToSearchOn":    searcherr.InvalidSearchAttributesSearchOn,
	"locales":                 searcherr.InvalidSearchLocales,
	"vector":                  searcherr.InvalidSearchVector,
	"media":                   searcherr.InvalidSearchMedia,
	"hybrid":                  searcherr.InvalidSearchHybrid,
	"hybrid.*":                searcherr.InvalidSearchHybrid,
	"hybrid.embedder":         searcherr.InvalidSearchEmbedder,
	"hybrid.semanticRatio":    searcherr.InvalidSearchSemanticRatio,
	"retrieveVectors":         searcherr.InvalidSearchRetrieveVector,
	"personalize":             searcherr.InvalidSearchPersonalize,
	"personalize.*":           searcherr.InvalidSearchPersonalize,
	"personalize.userContext": searcherr.InvalidSearchPersonalizeContext,
	"useNetwork":              searcherr.InvalidSearchUseNetwork,
	"showPerformanceDetails":  searcherr.InvalidSearchShowPerformance,
}

// SearchIndex answers POST /indexes/:uid/search.
func (s *Server) SearchIndex(r *request.Call) error {
	var b struct {
		searchRequest
		Passages *passagesRequest `json:"passages"`
	}
	if err := r.Decode(&b, soloFields); err != nil {
		return err
	}
	if err := b.Personalize.check("personalize"); err != nil {
		return err
	}
	return s.find(r, b.query(), b.Passages, b.performance())
}

// passagesRequest asks for passages beside the hits of a search by itself.
type passagesRequest struct {
	MaxBytes *int `json:"maxBytes"` // null: as the index's chat settings say
	Explain  bool `json:"explain"`  // say why these were found
}

var soloFields = func() apierr.Fields {
	fields := maps.Clone(searchFields)
	fields["passages.explain"] = searcherr.InvalidSearchPassages
	fields["passages"], fields["passages.maxBytes"] = searcherr.InvalidSearchPassages, searcherr.InvalidSearchPassages
	return fields
}()

// passagesBody are the places of documents that answer a question, best first.
type passagesBody struct {
	// Coverage is how much of the question, by what its words are worth, one of the best has: 0 to 1.
	Coverage float64          `json:"coverage"`
	Hits     []passageBody    `json:"hits"`
	Words    []retrieval.Word `json:"words,omitempty"`  // of the question, the worthiest first
	NoRoom   *int             `json:"noRoom,omitempty"` // further passages that have a word of it
}

type passageBody struct {
	ID       string   `json:"id"`   // of the document
	Name     string   `json:"name"` // of the place: file › heading
	Title    string   `json:"title"`
	URL      string   `json:"url,omitempty"`
	Text     string   `json:"text"`
	Coverage *float64 `json:"coverage,omitempty"` // of this passage, where the answer is explained
}

// passages finds what a request asks for; nil where it asks for none.
func (s *Server) passages(r *request.Call, uid string, q search.Query, asked *passagesRequest) (*passagesBody, error) {
	if asked == nil {
		return nil, nil
	}
	size := 0
	if asked.MaxBytes != nil {
		size = max(*asked.MaxBytes, 1) // 0 is no size either
	}
	found, err := s.Search.Passages(r.Base, r.Caller, uid, q, size)
	if err != nil {
		return nil, err
	}
	b := &passagesBody{Hits: []passageBody{}}
	if found.Coverage != nil {
		b.Coverage = math.Round(*found.Coverage*100) / 100
	}
	if asked.Explain {
		b.Words, b.NoRoom = found.Words, &found.NoRoom
	}
	for _, h := range found.Hits {
		p := passageBody{ID: h.ID, Name: h.Name(), Title: h.Title, URL: h.URL, Text: h.Text}
		if asked.Explain {
			p.Coverage = new(math.Round(h.Score*100) / 100)
		}
		b.Hits = append(b.Hits, p)
	}
	return b, nil
}

func (b *searchRequest) query() search.Query {
	q := search.Query{
		Q: b.Q, Offset: b.Offset, Limit: b.Limit, Page: b.Page, HitsPerPage: b.HitsPerPage,
		Filter: b.Filter, Sort: b.Sort, Distinct: b.Distinct, Facets: b.Facets,
		AttributesToRetrieve: b.AttributesToRetrieve,
		Format: highlight.Format{
			Highlight: b.AttributesToHighlight, Crop: b.AttributesToCrop, CropLength: b.CropLength, CropMarker: b.CropMarker,
			PreTag: b.HighlightPreTag, PostTag: b.HighlightPostTag, Positions: b.ShowMatchesPosition,
		},
		ShowRankingScore: b.ShowRankingScore, ShowRankingScoreDetails: b.ShowRankingScoreDetails,
		MatchingStrategy: settings.Strategy(b.MatchingStrategy), RankingScoreThreshold: b.RankingScoreThreshold,
		AttributesToSearchOn: b.AttributesToSearchOn, Locales: b.Locales,
		Vector: b.Vector, Media: b.Media, RetrieveVectors: b.RetrieveVectors,
		Personalize: b.Personalize != nil, UseNetwork: b.UseNetwork,
	}
	if b.Hybrid != nil {
		q.Hybrid = &settings.Hybrid{Embedder: b.Hybrid.Embedder, SemanticRatio: b.Hybrid.SemanticRatio}
	}
	return q
}

// performance reports whether the parts of the search are to be shown.
func (b *searchRequest) performance() bool {
	return b.ShowPerformanceDetails != nil && *b.ShowPerformanceDetails
}

func (s *Server) find(r *request.Call, q search.Query, asked *passagesRequest, performance bool) error {
	uid, err := s.index(r)
	if err != nil {
		return err
	}
	answer := r.NewDocuments(`{"hits":[`)
	q.Show = showIn(answer, q.ShowRankingScore)
	res, err := s.Search.Search(r.Base, r.Caller, uid, q)
	if err != nil {
		return err
	}
	r.Found = res
	b := newSearchBody(res, &q, performance)
	b.Metadata = s.metadata(r, uid, "")
	q.Show = nil
	if b.Passages, err = s.passages(r, uid, q, asked); err != nil {
		return err
	}
	if err := answer.CloseList(b); err != nil {
		return err
	}
	return answer.End()
}

// metadata says what a search was, where its client asks for that by a header.
type metadata struct {
	QueryUID   string `json:"queryUid"`
	IndexUID   string `json:"indexUid"`
	PrimaryKey string `json:"primaryKey,omitempty"` // "": not known, as of an index on a remote
	Remote     string `json:"remote,omitempty"`     // that answered; "": this host
}

func (s *Server) metadata(r *request.Call, uid, remote string) *metadata {
	if r.Get("Meili-Include-Metadata") == "" {
		return nil
	}
	m := &metadata{QueryUID: newRequestUID(), IndexUID: uid, Remote: remote}
	if info, err := s.Search.Index(r.Caller, uid); err == nil && remote == "" {
		m.PrimaryKey = info.PrimaryKey
	}
	return m
}

// showIn returns what writes a hit into an answer, with its score or without.
func showIn(answer *request.Documents, score bool) func(h *search.Hit) error {
	return func(h *search.Hit) error {
		answer.Add(h.Document, membersOf(h, score)...)
		return nil
	}
}

// searchBody is what a search found: with a page where one was asked for. Its hits are
// written apart: see [request.Documents].
type searchBody struct {
	Hits             *struct{} `json:"hits"`
	Query            string    `json:"query"`
	ProcessingTimeMS int64     `json:"processingTimeMs"`
	pageBody
	FacetDistribution json.RawMessage        `json:"facetDistribution,omitempty"`
	FacetStats        map[string]facetNumber `json:"facetStats,omitzero"`
	QueryVector       []float32              `json:"queryVector,omitempty"`
	RequestUID        string                 `json:"requestUid"`
	Metadata          *metadata              `json:"metadata,omitempty"`
	SemanticHitCount  *int                   `json:"semanticHitCount,omitempty"`
	Passages          *passagesBody          `json:"passages,omitempty"`
	Performance       performance            `json:"performanceDetails,omitzero"`
}

// pageBody says which hits are shown, and of how many: the first four where a page was
// asked for, else the others.
type pageBody struct {
	HitsPerPage        *int `json:"hitsPerPage,omitempty"`
	Page               *int `json:"page,omitempty"`
	TotalPages         *int `json:"totalPages,omitempty"`
	TotalHits          *int `json:"totalHits,omitempty"`
	Limit              *int `json:"limit,omitempty"`
	Offset             *int `json:"offset,omitempty"`
	EstimatedTotalHits *int `json:"estimatedTotalHits,omitempty"`
}

// facetNumber is the range of an attribute's numbers.
type facetNumber struct {
	Min float64 `json:"min"`
	Max float64 `json:"max"`
}

// A performance says how long the parts of a search took, by their names.
type performance []search.Step

// MarshalJSON implements [json.Marshaler]: the parts stay in their order.
func (p performance) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, step := range p {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(appendText(out, step.Name), `:"`...), roundDuration(step.Took)...)
		out = append(out, '"')
	}
	return append(out, '}'), nil
}

// roundDuration writes a duration as Meilisearch does: 1.25ms.
func roundDuration(d time.Duration) string {
	unit, name := time.Second, "s"
	switch {
	case d < time.Microsecond:
		unit, name = time.Nanosecond, "ns"
	case d < time.Millisecond:
		unit, name = time.Microsecond, "µs"
	case d < time.Second:
		unit, name = time.Millisecond, "ms"
	}
	return strconv.FormatFloat(float64(d)/float64(unit), 'f', 2, 64) + name
}

func newSearchBody(res *search.Result, q *search.Query, steps bool) searchBody {
	b := searchBody{Query: res.Query, ProcessingTimeMS: res.ProcessingTime.Milliseconds(), RequestUID: newRequestUID(), SemanticHitCount: res.SemanticHits}
	if q.RetrieveVectors {
		b.QueryVector = res.QueryVector
	}
	if steps {
		b.Performance = res.Steps
	}
	if res.Paged {
		b.HitsPerPage, b.Page, b.TotalPages, b.TotalHits = &res.HitsPerPage, &res.Page, &res.TotalPages, &res.TotalHits
	} else {
		b.Limit, b.Offset, b.EstimatedTotalHits = &res.Limit, &res.Offset, &res.EstimatedTotalHits
	}
	if res.Facets != nil {
		b.FacetDistribution, b.FacetStats = facetDistribution(res.Facets), facetStats(res.Facets)
	}
	return b
}

// newRequestUID names a search, so that what is said of it later can be told apart.
// Later ones sort behind.
func newRequestUID() string {
	uid, err := uuid.NewV7()
	if err != nil {
		panic("search: make a uid: " + err.Error()) // there always is randomness
	}
	return uid.String()
}

// facetDistribution is how many hits have each value, by attribute. It is
// written by hand since an order of values was asked for.
func facetDistribution(facets []search.FacetCounts) json.RawMessage {
	out := []byte{'{'}
	for i, f := range facets {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendText(out, f.Attribute), ":{"...)
		for k, v := range f.Values {
			if k > 0 {
				out = append(out, ',')
			}
			out = append(appendText(out, v.Value), ':')
			out = strconv.AppendInt(out, int64(v.Count), 10)
		}
		out = append(out, '}')
	}
	return append(out, '}')
}

// appendText appends a text in JSON that leaves the signs of HTML as they are.
func appendText(dst []byte, s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err) // a text always can be
	}
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}

func facetStats(facets []search.FacetCounts) map[string]facetNumber {
	stats := map[string]facetNumber{}
	for _, f := range facets {
		if f.Min != nil {
			stats[f.Attribute] = facetNumber{*f.Min, *f.Max}
		}
	}
	return stats
}

// membersOf are what is shown of a hit beside its document.
func membersOf(h *search.Hit, score bool) (out []request.Member) {
	add := func(name string, value []byte) { out = append(out, request.Member{Name: name, Value: value}) }
	if h.Formatted != nil {
		add("_formatted", h.Formatted)
	}
	if h.Matches != nil {
		add("_matchesPosition", h.Matches)
	}
	if h.Distance != nil {
		add("_geoDistance", strconv.AppendInt(nil, *h.Distance, 10))
	}
	if score {
		add("_rankingScore", strconv.AppendFloat(nil, h.Score, 'g', -1, 64))
	}
	if h.Details != nil {
		add("_rankingScoreDetails", h.Details)
	}
	return out
}
