package search

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/filter"
	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/search/rank"
)

// Search answers a query. A mistake in it is an [apierr.Error] with the code
// of the parameter.
func (s *Service) Search(ctx context.Context, caller *auth.Caller, indexUID string, q Query) (*Result, error) {
	start := time.Now()
	var res *Result
	err := s.reading(ctx, caller, indexUID, &q, func(rd *reading) error {
		var err error
		res, err = s.answer(ctx, rd)
		return err
	})
	if err != nil {
		return nil, err
	}
	res.ProcessingTime = time.Since(start)
	res.Steps = append(res.Steps, Step{"search", res.ProcessingTime})
	return res, nil
}

// A reading is an index open for searches.
type reading struct {
	service *Service
	index   *index.Index
	state   *index.State
	plan    *plan
	rule    *filter.Node // of the caller
	asked   *filter.Node // the query's filter
	leave   func()       // gives the slot of the service's gate back

	budget   *Budget
	degraded bool // a search on it was cut off by time
	steps    []Step
}

// reading opens an index for a search of caller and calls f.
func (s *Service) reading(ctx context.Context, caller *auth.Caller, indexUID string, q *Query, f func(*reading) error) error {
	return s.opened(ctx, caller, indexUID, func(rd *reading) error {
		if err := rd.prepare(ctx, q); err != nil {
			return err
		}
		return f(rd)
	})
}

// opened opens an index for searches of caller and calls f. A folder that turns
// out to be damaged is built anew.
func (s *Service) opened(ctx context.Context, caller *auth.Caller, indexUID string, f func(*reading) error) (err error) {
	rd := &reading{service: s}
	start := time.Now()
	defer func() {
		s.opts.Searched(Searched{Took: time.Since(start), Degraded: rd.degraded, Left: ctx.Err() != nil, Err: err})
	}()
	ix, rule, err := s.index(caller, indexUID)
	if err != nil {
		return err
	}
	st, release, err := ix.Acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	rd.index, rd.state, rd.rule = ix, st, rule
	waited := rd.step("wait in queue")
	if rd.leave, err = s.gate.enter(ctx); err != nil {
		return err
	}
	waited()
	defer func() { rd.leave() }()
	err = index.Guard(func() error { return f(rd) })
	if errors.Is(err, index.ErrDamaged) {
		ix.Suspect(st.Folder, err)
		return &apierr.Error{Code: indexerr.IndexNotReady, RetryAfter: index.BuildWait, Err: err, Message: fmt.Sprintf("Index `%s` was found damaged and is being built anew; try again in a while.", indexUID)}
	}
	if _, ok := errors.AsType[*apierr.Error](err); ok || err == nil {
		return err
	}
	return fmt.Errorf("search index %q: %w", indexUID, err)
}

// prepare has rd search for q.
func (rd *reading) prepare(ctx context.Context, q *Query) (err error) {
	m := rd.state.Meta
	if err := rd.service.checkOffered(q); err != nil {
		return err
	}
	if rd.plan, err = newPlan(ctx, m, q, rd.rule != nil); err != nil {
		return err
	}
	leaveOut(m, &rd.plan.Fields, rd.state.Folder.Schema)
	if rd.budget = q.Budget; rd.budget == nil {
		rd.budget = NewBudget()
	}
	if err := rd.budget.checkTime(rd.patience()); err != nil {
		return err
	}
	if err := rd.budget.conditions.Take(rd.rule.Conditions()); err != nil {
		return filter.Refuse(err, searcherr.InvalidSearchFilter)
	}
	if rd.asked, err = rd.index.ParseFilter(m, q.Filter, searcherr.InvalidSearchFilter, rd.budget.ofFilters()); err != nil {
		return err
	}
	if err := rd.rule.Check(&m.Settings); err != nil {
		return apierr.Newf(searcherr.InvalidSearchFilter, "The filter in the tenant token's searchRules: %s.", err)
	}
	return nil
}

// answer runs the search of rd.
func (s *Service) answer(ctx context.Context, rd *reading) (res *Result, err error) {
	v, err := rd.state.Folder.View(s.columns)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	res, _, err = s.answerOn(ctx, rd, v)
	return res, err
}

// answerOn runs the search of rd on a view. found are all documents that it
// gives, whatever of them the result shows.
func (s *Service) answerOn(ctx context.Context, rd *reading, v *bleveindex.View) (res *Result, found *roaring.Bitmap, err error) {
	embedded := rd.step("search > execute local search > embed query")
	meaning, err := s.meaning(ctx, rd)
	if err != nil {
		return nil, nil, err
	}
	if rd.plan.semantics != nil && rd.plan.semantics.Vector == nil {
		embedded()
	}
	cut, end := withTime(ctx, rd.cutoff(), &rd.budget.finding)
	defer end()
	sr := s.searcher(ctx, cut, rd.plan, v)
	p := rd.plan
	res = &Result{Query: p.query.Q, Hits: []Hit{}, Negative: len(p.Parsed.Excluded) > 0}
	if err := sr.match(rd); err != nil {
		return nil, nil, err
	}
	if meaning == nil || meaning.Ratio < 1 {
		ranked := rd.step(p.query.rankingStep())
		err = sr.Order()
		ranked()
	}
	if err == nil && meaning != nil && (meaning.Ratio == 1 || !sr.Results.GoodEnough(p.page.offset+p.page.limit, 1-meaning.Ratio)) {
		res.QueryVector = meaning.Vector
		ranked := rd.step("search > execute local search > semantic ranking")
		err = sr.AddMeaning(s.spaces, &meaning.Meaning)
		ranked()
	}
	if errors.Is(err, rank.ErrCutoff) {
		rd.degraded = true
	} else if err != nil {
		return nil, nil, err
	}
	if q := p.query; q.Hybrid != nil && q.Hybrid.Ratio() > 0 && !q.blank() {
		res.SemanticHits = new(int)
	}
	if found, err = sr.Results.All(v, sr.Matched); err != nil {
		return nil, nil, err
	}
	res.count(&p.page, int(found.GetCardinality()))
	if p.facets != nil {
		counted := rd.step("search > execute local search > facet distribution")
		err := rd.count(ctx, v, func() (err error) {
			res.Facets, err = sr.facetCounts(rd, p.facets, found)
			return err
		})
		if err != nil {
			return nil, nil, err
		}
		counted()
	}
	res.Degraded = rd.degraded
	list := sr.Results.List
	formatted := rd.step("search > execute local search > format")
	err = sr.fill(s, res, rd, list[min(p.page.offset, len(list)):])
	formatted()
	res.Steps = rd.steps
	return res, found, err
}

// count sets what the result says of its totals.
func (r *Result) count(p *paging, total int) {
	r.EstimatedTotalHits = total
	r.Offset, r.Limit = p.offset, p.limit
	if r.Paged = p.paged; !p.paged {
		return
	}
	r.Page, r.HitsPerPage, r.TotalHits = p.number, p.limit, total
	if p.limit > 0 {
		r.TotalPages = (r.TotalHits + p.limit - 1) / p.limit
	}
}

// cutoff is how long ranking may take, from when the filters begin.
func (rd *reading) cutoff() time.Duration {
	if own := rd.state.Meta.Settings.SearchCutoff; own != nil {
		return *own
	}
	return rd.service.opts.Cutoff
}

// patience is how long filters may take, and facets as long again. An index
// whose hits are hardly to be ranked has its filters and facets all the same.
func (rd *reading) patience() time.Duration {
	return max(rd.cutoff(), rd.service.opts.Cutoff)
}

// count calls f, which counts facets. Where the time is up before it ends, what
// it has not counted is left out.
func (rd *reading) count(ctx context.Context, v *bleveindex.View, f func() error) error {
	ctx, end := withTime(ctx, rd.patience(), &rd.budget.counting)
	defer end()
	err := v.Under(ctx, f)
	if errors.Is(err, rank.ErrCutoff) {
		rd.degraded = true
		return nil
	}
	return err
}

// A searcher runs one search on one view.
type searcher struct {
	*rank.Searcher
	plan *plan
	cut  context.Context // ends when the search should
}

// searcher returns one for a plan on a view.
func (s *Service) searcher(ctx, cut context.Context, p *plan, v *bleveindex.View) *searcher {
	return &searcher{rank.New(ctx, cut, &p.Plan, v), p, cut}
}

// match works out which documents match, under the filters of rd.
func (s *searcher) match(rd *reading) error {
	filtered := rd.step("search > execute local search > evaluate filter")
	if err := s.restrict(rd); err != nil {
		return err
	}
	if filtered(); s.plan.query.blank() {
		return s.Searcher.Match()
	}
	defer rd.step("search > execute local search > evaluate query")()
	return s.Searcher.Match()
}

// restrict narrows the universe to the documents that are there and that the filters of rd let through. Of
// documents that the caller's rule hides nothing is counted.
func (s *searcher) restrict(rd *reading) (err error) {
	s.Universe = s.View.Live
	if rd.rule != nil {
		if s.Reach, err = s.under(rd, rd.rule); err != nil {
			return err
		}
		s.Universe = s.Reach
	}
	if rd.asked == nil {
		return nil
	}
	docs, err := s.under(rd, rd.asked)
	if err != nil {
		return err
	}
	docs.And(s.Universe)
	s.Universe = docs
	return nil
}

// under returns the documents that are there and that a filter lets through.
func (s *searcher) under(rd *reading, cond *filter.Node) (docs *roaring.Bitmap, err error) {
	ctx, end := withTime(s.Ctx, rd.patience(), &rd.budget.filtering)
	err = s.View.Under(ctx, func() (err error) {
		docs, err = cond.Documents(s.View)
		return err
	})
	end()
	if errors.Is(err, rank.ErrCutoff) {
		// To go on would show what the filter may not let through.
		return nil, apierr.Newf(searcherr.InvalidSearchFilter, "The filter could not be worked out in the %v that a search of this index has: ask with fewer conditions, or raise the setting searchCutoffMs.", rd.patience())
	}
	if err != nil {
		return nil, err
	}
	docs.And(s.View.Live)
	return docs, nil
}
