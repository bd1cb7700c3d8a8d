package search

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/auth"
)

// A FacetQuery looks for values of one attribute.
type FacetQuery struct {
	Facet string
	Text  string // what a value, or a word of it, begins with, typos aside; "": all values
	// Query says which documents count: its Q, Filter, MatchingStrategy,
	// RankingScoreThreshold, AttributesToSearchOn and Locales.
	Query Query
}

// A FacetResult is what a [FacetQuery] found.
type FacetResult struct {
	Values         []FacetValue // in the order of the setting faceting, and at most as many as it says
	ProcessingTime time.Duration
}

// SearchFacet answers a query for values of an attribute, counted over the
// documents that caller may see. A mistake is an [apierr.Error] with the code of
// the parameter.
func (s *Service) SearchFacet(ctx context.Context, caller *auth.Caller, indexUID string, q FacetQuery) (*FacetResult, error) {
	start := time.Now()
	res := &FacetResult{}
	q.Query.Offset, q.Query.Limit, q.Query.Page, q.Query.HitsPerPage = 0, new(0), nil, nil
	err := s.reading(ctx, caller, indexUID, &q.Query, func(rd *reading) error {
		if err := rd.state.meta.allowFacetSearch(q.Facet); err != nil {
			return err
		}
		var err error
		res.Values, err = s.facetValues(ctx, rd, &q)
		return err
	})
	if err != nil {
		return nil, err
	}
	res.ProcessingTime = time.Since(start)
	return res, nil
}

// allowFacetSearch checks that the values of an attribute may be searched.
func (m *meta) allowFacetSearch(attribute string) error {
	if !m.Settings.FacetSearch {
		return apierr.Newf(apierr.FacetSearchDisabled, "Facet search is off in this index: set the setting facetSearch to true.")
	}
	if !m.Settings.facetable(attribute) {
		return apierr.Newf(apierr.InvalidFacetName, "facetName is `%.100s`, %s.", attribute, m.notFacetable())
	}
	if r, _ := m.Settings.filterRule(attribute); !r.FacetSearch {
		return apierr.Newf(apierr.InvalidFacetName, "facetName is `%.100s`, whose values may not be searched: switch on features.facetSearch for it in the setting filterableAttributes.", attribute)
	}
	return nil
}

// facetValues works out SearchFacet.
func (s *Service) facetValues(ctx context.Context, rd *reading, q *FacetQuery) (list []FacetValue, err error) {
	cut, cancel := s.cutoff(ctx, rd)
	defer cancel()
	v, err := rd.state.folder.view(s.columns)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, v.close()) }()
	sr := s.searcher(ctx, cut, rd.plan, v)
	if err := sr.match(rd.cond); err != nil {
		return nil, err
	}
	docs := sr.matched
	if q.Query.RankingScoreThreshold > 0 {
		if err := sr.order(); err != nil && !errors.Is(err, errCutoff) {
			return nil, err
		}
		docs = sr.results.docs
	}
	keep, err := sr.valueMatcher(q.Text)
	if err != nil {
		return nil, err
	}
	values, err := v.count(q.Facet, docs.ToArray(), keep)
	if err != nil {
		return nil, err
	}
	faceting := &rd.plan.settings.Faceting
	return firstValues(values, faceting.sortOf(q.Facet), faceting.MaxValuesPerFacet), nil
}

// valueMatcher returns what tells whether a value, by its key, is looked for
// with text: the value begins so, or each word of text begins a word of it, with
// as many typos as in a search. nil takes all.
func (s *searcher) valueMatcher(text string) (func(key string) bool, error) {
	text = clip(text, maxFacetTerm)
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	an := s.plan.settings.analyzer()
	var matchers []*matcher
	for _, w := range an.words(text) {
		m, err := s.fuzzy.matcher(w.term, true, s.plan.typo.allowed(w.term))
		if err != nil {
			return nil, err
		}
		matchers = append(matchers, m)
	}
	begin := facetKey(text)
	return func(key string) bool {
		if strings.HasPrefix(key, begin) {
			return true
		}
		ws := an.words(key)
		for _, m := range matchers {
			found := false
			for _, w := range ws {
				if _, found = m.distance(w.term); found {
					break
				}
			}
			if !found {
				return false
			}
		}
		return len(matchers) > 0
	}, nil
}
