package search

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/search/highlight"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// A Query is one search. Its zero value takes the first 20 of all documents.
type Query struct {
	Q      string
	Filter json.RawMessage // a string, or an array of strings and arrays of strings; nil: none
	// Sort are criteria such as `price:asc` and `_geoPoint(48.8, 2.3):asc`. They
	// count where the setting rankingRules has the rule sort.
	Sort []string
	// Distinct is an attribute of whose values each brings one hit at most; "":
	// the setting distinctAttribute.
	Distinct string
	// Facets are attributes whose values are counted; with "*" all that are
	// filterable.
	Facets []string

	Offset int
	Limit  *int // nil: 20
	// Page counts from 1. Where it or HitsPerPage (nil: 20) is set, Offset and
	// Limit do not count, and the totals are exact.
	Page, HitsPerPage *int

	// AttributesToRetrieve narrows the displayed attributes; nil, or with "*":
	// all of them.
	AttributesToRetrieve []string
	Format               highlight.Format

	// Show is given each hit as soon as it is made, best first, in place of [Result.Hits]: an
	// answer need not hold them all. It keeps nothing of it. nil: none is.
	Show func(h *Hit) error

	ShowRankingScore        bool
	ShowRankingScoreDetails bool
	// MatchingStrategy says which words may be missing; "": last.
	MatchingStrategy      settings.Strategy
	RankingScoreThreshold float64 // hits below it are left out; 0: none are
	// AttributesToSearchOn narrows the searchable attributes; nil, or with "*":
	// all of them.
	AttributesToSearchOn []string
	// Locales are the languages of Q: of an attribute that the setting
	// localizedAttributes gives several, these count; nil: all of them.
	Locales []string

	// Vector is the query's own; nil: the embedder makes it of Q and Media.
	Vector []float32
	// Media is what the embedder's search fragments show beside Q; nil: none.
	Media  map[string]json.RawMessage
	Hybrid *settings.Hybrid // nil: by words alone
	// RetrieveVectors shows the vectors of hits, in the field `_vectors`, as far
	// as that is displayed.
	RetrieveVectors bool
	// Personalize asks for an order made for one user, which is not offered, and
	// UseNetwork says whether other hosts are asked, too; nil: it says nothing.
	Personalize bool
	UseNetwork  *bool

	// Budget is that of the request that the query is a part of; nil: its own.
	Budget *Budget

	unlike string        // the id of a document that is no hit
	joint  *JointOptions // of the list that the hits go to; nil: they go to none
}

// A Result is what a search found.
type Result struct {
	Hits  []Hit
	Query string
	// Paged: Page, HitsPerPage, TotalPages and TotalHits count; else Offset,
	// Limit and EstimatedTotalHits.
	Paged                                    bool
	Offset, Limit                            int
	EstimatedTotalHits                       int
	Page, HitsPerPage, TotalPages, TotalHits int
	// Facets are the attributes asked for; nil where none were.
	Facets         []FacetCounts
	ProcessingTime time.Duration
	Steps          []Step // what took it
	// SemanticHits is how many of the hits were found by meaning; nil where it was
	// not asked for.
	SemanticHits *int
	// QueryVector is what the query's meaning was looked for by; nil where it was not.
	QueryVector []float32
	// Degraded: the time was up before all was ranked.
	Degraded bool
	// Negative: the query excludes a word or phrase.
	Negative bool
}

// A Hit is one document that a search found.
type Hit struct {
	ID       string
	Document json.RawMessage // the attributes asked for, as far as they are displayed; an object
	// Formatted is Document with texts highlighted and cropped, and numbers as
	// texts; nil where no format was asked for.
	Formatted json.RawMessage
	// Matches are the places of the words found, by attribute; an object, or
	// nil where it was not asked for.
	Matches json.RawMessage
	// Distance is the way in metres to the place of the sort's `_geoPoint`; nil
	// without one, or where the document's place is not displayed.
	Distance *int64
	// Score is 0 to 1, for texts alone; 1 in a search without words.
	Score float64
	// Details say how each rule judged; an object, or nil where it was not
	// asked for.
	Details json.RawMessage

	Place Place `json:"-"` // of a hit of a [Joint]
}

// DefaultLimit is the number of hits, or documents, where none is asked for.
const DefaultLimit = 20

// A paging is the part of the hits that is asked for.
type paging struct {
	paged         bool
	number        int // from 1; 0 has no hits
	offset, limit int
	most          int // hits beyond it are not given
}

// end is how many hits must be ranked.
func (p *paging) end() int {
	if p.paged && (p.limit == 0 || p.number == 0) {
		return 0
	}
	if p.offset > p.most-p.limit { // no overflow
		return p.most
	}
	return p.offset + p.limit
}

// paging reads the parameters of pagination.
func (q *Query) paging(most int) (paging, error) {
	p := paging{offset: q.Offset, limit: DefaultLimit, most: most}
	if q.Limit != nil {
		p.limit = *q.Limit
	}
	switch {
	case q.Offset < 0:
		return p, apierr.Newf(searcherr.InvalidSearchOffset, "offset is %d; it must be zero or more.", q.Offset)
	case p.limit < 0:
		return p, apierr.Newf(searcherr.InvalidSearchLimit, "limit is %d; it must be zero or more.", p.limit)
	case q.Page != nil && *q.Page < 0:
		return p, apierr.Newf(searcherr.InvalidSearchPage, "page is %d; it must be zero or more, and the first is 1.", *q.Page)
	case q.HitsPerPage != nil && *q.HitsPerPage < 0:
		return p, apierr.Newf(searcherr.InvalidSearchHitsPerPage, "hitsPerPage is %d; it must be zero or more.", *q.HitsPerPage)
	case q.Page == nil && q.HitsPerPage == nil:
		return p, nil
	}
	p.paged, p.number, p.limit = true, 1, DefaultLimit
	if q.Page != nil {
		p.number = *q.Page
	}
	if q.HitsPerPage != nil {
		p.limit = *q.HitsPerPage
	}
	p.offset = most
	if before := max(p.number, 1) - 1; p.limit == 0 || before <= most/p.limit {
		p.offset = before * p.limit
	}
	return p, nil
}

// blank reports whether nothing is looked for, neither words nor what has a meaning.
func (q *Query) blank() bool {
	return strings.TrimSpace(q.Q) == "" && q.Vector == nil && q.Media == nil
}

// check checks what needs no index.
func (q *Query) check() error {
	if t := q.RankingScoreThreshold; !(t >= 0 && t <= 1) {
		return apierr.Newf(searcherr.InvalidSearchRankingThreshold, "rankingScoreThreshold is %v; it must be 0 to 1.", t)
	}
	switch q.MatchingStrategy {
	case "", settings.Last, settings.All, settings.Frequency, settings.Any:
	default:
		return apierr.Newf(searcherr.InvalidSearchMatchingStrategy, "matchingStrategy is `%.100s`; it must be last, all, frequency or any.", string(q.MatchingStrategy))
	}
	if n := q.Format.CropLength; n != nil && *n < 0 {
		return apierr.Newf(searcherr.InvalidSearchCropLength, "cropLength is %d; it must be zero or more words.", *n)
	}
	if err := q.checkSizes(); err != nil {
		return err
	}
	for i, code := range q.Locales {
		if !settings.IsLocale(code) {
			return apierr.Newf(searcherr.InvalidSearchLocales, "locales[%d] is `%.100s`; expected a language's code of ISO 639, such as `jpn` or `ja`.", i, code)
		}
	}
	return nil
}

const (
	// maxNames bounds a list of attributes: each is held against each field of
	// each hit.
	maxNames = 1000
	// maxMark bounds the bytes of what is put around a word: it comes as often
	// as the word does.
	maxMark = 1000
)

// checkSizes refuses lists and texts that would make an answer out of all
// proportion.
func (q *Query) checkSizes() error {
	for _, list := range []struct {
		name  string
		names []string
		code  apierr.Code
	}{
		{"facets", q.Facets, searcherr.InvalidSearchFacets},
		{"attributesToRetrieve", q.AttributesToRetrieve, searcherr.InvalidSearchAttributesRetrieve},
		{"attributesToHighlight", q.Format.Highlight, searcherr.InvalidSearchAttributesHighlight},
		{"attributesToCrop", q.Format.Crop, searcherr.InvalidSearchAttributesCrop},
		{"attributesToSearchOn", q.AttributesToSearchOn, searcherr.InvalidSearchAttributesSearchOn},
		{"locales", q.Locales, searcherr.InvalidSearchLocales},
	} {
		if n := len(list.names); n > maxNames {
			return apierr.Newf(list.code, "%s has %d elements; it may have at most %d.", list.name, n, maxNames)
		}
	}
	for _, mark := range []struct {
		name string
		text *string
		code apierr.Code
	}{
		{"cropMarker", q.Format.CropMarker, searcherr.InvalidSearchCropMarker},
		{"highlightPreTag", q.Format.PreTag, searcherr.InvalidSearchHighlightPreTag},
		{"highlightPostTag", q.Format.PostTag, searcherr.InvalidSearchHighlightPostTag},
	} {
		if mark.text != nil && len(*mark.text) > maxMark {
			return apierr.Newf(mark.code, "%s has %d bytes; it may have at most %d.", mark.name, len(*mark.text), maxMark)
		}
	}
	return nil
}
