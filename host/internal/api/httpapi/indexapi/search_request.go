package indexapi

import (
	"encoding/json"
	"maps"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/highlight"
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

var soloFields = func() apierr.Fields {
	fields := maps.Clone(searchFields)
	fields["passages.explain"] = searcherr.InvalidSearchPassages
	fields["passages"], fields["passages.maxBytes"] = searcherr.InvalidSearchPassages, searcherr.InvalidSearchPassages
	return fields
}()

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
