package search

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/search/attribute"
	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/search/rank"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/text"
)

// A FacetQuery looks for values of one attribute, texts alone: numbers are not found.
type FacetQuery struct {
	Facet string
	Text  string // what a value begins with, typos aside; "": all values
	// Exact counts to the end what distinct and the threshold leave out; else, as in
	// Meilisearch, only as far as the first hits of a search go.
	Exact bool
	// Query says which documents count: its Q, Filter, MatchingStrategy,
	// RankingScoreThreshold, AttributesToSearchOn and Locales.
	Query Query
}

// A FacetResult is what a [FacetQuery] found.
type FacetResult struct {
	Text           string       // of the query, as far as it was looked at
	Values         []FacetValue // in the order of the setting faceting, and at most as many as it says
	ProcessingTime time.Duration
}

// SearchFacet answers a query for values of an attribute, counted over the
// documents that caller may see. A mistake is an [apierr.Error] with the code of
// the parameter.
func (s *Service) SearchFacet(ctx context.Context, caller *auth.Caller, indexUID string, q FacetQuery) (*FacetResult, error) {
	start := time.Now()
	if len(q.Text) > text.MaxFacetTerm {
		q.Text = strings.Clone(text.Clip(q.Text, text.MaxFacetTerm))
	}
	res := &FacetResult{Text: q.Text}
	q.Query.Offset, q.Query.Limit, q.Query.Page, q.Query.HitsPerPage = 0, nil, nil, nil
	q.Query.Distinct, q.Query.Sort = "", nil // the index's distinct alone counts
	if q.Exact {
		q.Query.HitsPerPage = new(0)
	}
	err := s.reading(ctx, caller, indexUID, &q.Query, func(rd *reading) error {
		if err := allowFacetSearch(rd.state.Meta, q.Facet, rd.rule != nil); err != nil {
			return err
		}
		var err error
		if res.Values, err = s.facetValues(ctx, rd, &q); err != nil {
			return err
		}
		return takeValues(ctx, q.Facet, res.Values)
	})
	if err != nil {
		return nil, err
	}
	res.ProcessingTime = time.Since(start)
	return res, nil
}

// allowFacetSearch checks that the values of an attribute may be searched. For
// ruled see newPlan.
func allowFacetSearch(m *index.Meta, name string, ruled bool) error {
	if !m.Settings.FacetSearch {
		return apierr.Newf(searcherr.FacetSearchDisabled, "Facet search is off in this index: set the setting facetSearch to true.")
	}
	if !m.Settings.Facetable(name) {
		return apierr.Newf(searcherr.InvalidFacetName, "facetName is `%.100s`, %s.", name, notFacetable(m, ruled))
	}
	if r, _ := m.Settings.FilterRule(name); !r.FacetSearch {
		return apierr.Newf(searcherr.InvalidFacetName, "facetName is `%.100s`, whose values may not be searched: switch on features.facetSearch for it in the setting filterableAttributes.", name)
	}
	return nil
}

// facetValues works out SearchFacet.
func (s *Service) facetValues(ctx context.Context, rd *reading, q *FacetQuery) (list []FacetValue, err error) {
	cut, end := withTime(ctx, rd.cutoff(), &rd.budget.finding)
	defer end()
	v, err := rd.state.Folder.View(s.columns)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	sr := s.searcher(ctx, cut, rd.plan, v)
	if err := sr.match(rd); err != nil {
		return nil, err
	}
	docs := sr.Matched
	if rd.plan.Threshold > 0 || rd.plan.Distinct != "" {
		if err := sr.Order(); err != nil && !errors.Is(err, rank.ErrCutoff) {
			return nil, err
		}
		if docs, err = sr.Results.All(v, sr.Matched); err != nil {
			return nil, err
		}
	}
	keep := sr.valueMatcher(q.Facet, q.Text)
	var values []bleveindex.Count
	counted := false
	err = rd.count(ctx, v, func() (err error) {
		values, err = v.CountTexts(q.Facet, docs, keep)
		if err == nil && rd.rule == nil {
			// To a ruled caller nothing is told of documents that are no hits.
			err = v.ShowFirst(q.Facet, values)
		}
		counted = err == nil
		return err
	})
	if err == nil && !counted {
		err = apierr.Newf(searcherr.InvalidFacetQuery, "The values could not be counted in the %v that a search of this index has: narrow it by `q` or `filter`, or raise the setting searchCutoffMs.", rd.patience())
	}
	if err != nil {
		return nil, err
	}
	faceting := &rd.plan.Settings.Faceting
	by := faceting.SortOf(q.Facet)
	switch {
	case by == settings.FacetCount:
		values = firstOf(values, faceting.MaxValuesPerFacet, byCount(func(a, b *bleveindex.Count) int { return strings.Compare(a.Shown, b.Shown) }))
	case keep != nil: // found by how they are folded, they are in that order
		values = firstOf(values, faceting.MaxValuesPerFacet, func(a, b *bleveindex.Count) int {
			return cmp.Or(strings.Compare(text.Fold(a.Key), text.Fold(b.Key)), strings.Compare(a.Key, b.Key))
		})
	default:
		return FirstValues(values, by, false, faceting.MaxValuesPerFacet), nil
	}
	return shownValues(values, faceting.MaxValuesPerFacet), nil
}

// valueMatcher returns what tells whether a value of an attribute, by its key, is
// looked for with text: it begins so, whole as it is, with as many typos as a word of
// that length may have. nil takes all.
func (s *searcher) valueMatcher(name, typed string) func(key string) bool {
	if strings.TrimSpace(typed) == "" {
		return nil
	}
	begin := text.Fold(typed)
	typos := 0
	if none := s.plan.Settings.TypoTolerance.DisableOnAttributes; len(begin) <= text.MaxWord && !attribute.CoveredBy(none, name) { // a longer one would take an automaton out of all proportion
		typos = s.plan.Typo.AllowedInValue(begin)
	}
	m := text.NewMatcher(begin, true, typos)
	return func(key string) bool { return m.Begins(text.Fold(key)) }
}
