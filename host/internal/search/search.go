package search

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/auth"
	"github.com/parley-search/parley/host/internal/feature"
	"github.com/parley-search/parley/host/internal/search/filter"
	"github.com/parley-search/parley/host/internal/search/folder"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/text"
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
	return res, nil
}

// A reading is an index open for searches.
type reading struct {
	index *index
	state *state
	plan  *plan
	rule  *filter.Node // of the caller
	cond  *filter.Node // rule and the query's filter
	leave func()       // gives the slot of the service's gate back

	budget   *budget
	degraded bool // a search on it was cut off by time
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
	rd := &reading{}
	start := time.Now()
	defer func() { s.opts.Searched(Searched{Took: time.Since(start), Degraded: rd.degraded, Err: err}) }()
	ix, rule, err := s.index(caller, indexUID)
	if err != nil {
		return err
	}
	st, release, err := ix.serving(ctx)
	if err != nil {
		return err
	}
	defer release()
	rd.index, rd.state, rd.rule = ix, st, rule
	if rd.leave, err = s.gate.enter(ctx); err != nil {
		return err
	}
	defer func() { rd.leave() }()
	err = guarded(func() error { return f(rd) })
	if errors.Is(err, errDamaged) {
		ix.suspect(st.folder, err)
		return &apierr.Error{Code: apierr.IndexNotReady, RetryAfter: buildWait, Err: err, Message: fmt.Sprintf("Index `%s` was found damaged and is being built anew; try again in a while.", indexUID)}
	}
	if _, ok := errors.AsType[*apierr.Error](err); ok || err == nil {
		return err
	}
	return fmt.Errorf("search index %q: %w", indexUID, err)
}

// prepare has rd search for q.
func (rd *reading) prepare(ctx context.Context, q *Query) (err error) {
	m := rd.state.meta
	if q.Media != nil && !rd.index.service.opts.Features().Multimodal {
		return feature.Off(feature.Multimodal, "`media`")
	}
	if rd.plan, err = newPlan(ctx, m, q, rd.rule != nil); err != nil {
		return err
	}
	rd.plan.fields.leaveOut(m, rd.state.folder.Schema)
	if rd.budget = q.budget; rd.budget == nil {
		rd.budget = newBudget()
	}
	if err := rd.budget.conditions.Take(rd.rule.Conditions()); err != nil {
		return filter.Refuse(err, apierr.InvalidSearchFilter)
	}
	asked, err := rd.index.filter(m, q.Filter, apierr.InvalidSearchFilter, rd.budget)
	if err != nil {
		return err
	}
	if err := rd.rule.Check(&m.Settings); err != nil {
		return apierr.Newf(apierr.InvalidSearchFilter, "The filter in the tenant token's searchRules: %s.", err)
	}
	rd.cond = filter.And(rd.rule, asked)
	return nil
}

// answer runs the search of rd.
func (s *Service) answer(ctx context.Context, rd *reading) (res *Result, err error) {
	v, err := rd.state.folder.View(s.columns)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	res, _, err = s.answerOn(ctx, rd, v)
	return res, err
}

// answerOn runs the search of rd on a view. found are all documents that it
// gives, whatever of them the result shows.
func (s *Service) answerOn(ctx context.Context, rd *reading, v *folder.View) (res *Result, found *roaring.Bitmap, err error) {
	meaning, err := s.meaning(ctx, rd)
	if err != nil {
		return nil, nil, err
	}
	cut, end := withTime(ctx, rd.cutoff(), &rd.budget.finding)
	defer end()
	sr := s.searcher(ctx, cut, rd.plan, v)
	p := rd.plan
	res = &Result{Query: p.query.Q, Hits: []Hit{}, Negative: len(p.parsed.Excluded) > 0}
	if err := sr.match(rd); err != nil {
		return nil, nil, err
	}
	if meaning == nil || meaning.ratio < 1 {
		err = sr.order()
	}
	if err == nil && meaning != nil {
		err = sr.addMeaning(s.spaces, meaning)
	}
	if errors.Is(err, errCutoff) {
		rd.degraded = true
	} else if err != nil {
		return nil, nil, err
	}
	if p.query.Hybrid != nil && p.query.Hybrid.Ratio() > 0 {
		res.SemanticHits = new(int)
	}
	if found, err = sr.results.all(v, sr.matched); err != nil {
		return nil, nil, err
	}
	res.count(&p.page, int(found.GetCardinality()))
	if p.facets != nil {
		err := rd.count(ctx, v, func() (err error) {
			res.Facets, err = sr.facetCounts(rd, p.facets, found)
			return err
		})
		if err != nil {
			return nil, nil, err
		}
	}
	res.Degraded = rd.degraded
	list := sr.results.list
	return res, found, sr.fill(s, res, rd, list[min(p.page.offset, len(list)):])
}

// count sets what the result says of its totals.
func (r *Result) count(p *paging, total int) {
	r.EstimatedTotalHits = total
	r.Offset, r.Limit = p.offset, p.limit
	if r.Paged = p.paged; !p.paged {
		return
	}
	r.Page, r.HitsPerPage, r.TotalHits = p.number, p.limit, min(total, p.most)
	if p.limit > 0 {
		r.TotalPages = (r.TotalHits + p.limit - 1) / p.limit
	}
}

var (
	errCutoff  = errors.New("the time for the search is up")
	errDamaged = errors.New("the index folder is damaged")
)

// cutoff is how long ranking may take, from when the filters begin.
func (rd *reading) cutoff() time.Duration {
	if own := rd.state.meta.Settings.SearchCutoff; own != nil {
		return *own
	}
	return rd.index.service.opts.Cutoff
}

// patience is how long filters may take, and facets as long again. An index
// whose hits are hardly to be ranked has its filters and facets all the same.
func (rd *reading) patience() time.Duration {
	return max(rd.cutoff(), rd.index.service.opts.Cutoff)
}

// count calls f, which counts facets. Where the time is up before it ends, what
// it has not counted is left out.
func (rd *reading) count(ctx context.Context, v *folder.View, f func() error) error {
	ctx, end := withTime(ctx, rd.patience(), &rd.budget.counting)
	defer end()
	err := v.Under(ctx, f)
	if errors.Is(err, errCutoff) {
		rd.degraded = true
		return nil
	}
	return err
}

// guarded calls f, which reads a folder that may be damaged: what bleve makes
// of damaged bytes is errDamaged.
func guarded(f func() error) (err error) {
	// A mapped file that is shorter than it was would else end the process.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errDamaged, p)
		}
	}()
	return f()
}

// A searcher runs one search on one view.
type searcher struct {
	ctx   context.Context // of the request
	cut   context.Context // ends when ranking should
	fuzzy text.Speller
	plan  *plan
	view  *folder.View

	universe *roaring.Bitmap                     // what filters and excluded words let through
	matched  *roaring.Bitmap                     // what matches, of the universe
	parts    map[*folder.Segment]*roaring.Bitmap // of partsOf, by segment, see universeIn
	partsOf  *roaring.Bitmap
	graph    *graph
	relaxed  []unitSet         // what a hit may be asked to have, most first
	having   []*roaring.Bitmap // who has it, and none of those before
	whole    whole

	rules     []settings.Criterion
	mostTypos int // that the query may have in all
	results   results
}

// searcher returns one for a plan on a view.
func (s *Service) searcher(ctx, cut context.Context, p *plan, v *folder.View) *searcher {
	return &searcher{ctx: ctx, cut: cut, fuzzy: s.fuzzy, plan: p, view: v, whole: whole{roaring.New(), roaring.New()}}
}

// check returns the context's error now and then; n counts the caller's steps.
func (s *searcher) check(n int) error {
	if n&0xff != 0 {
		return nil
	}
	if s.ctx.Err() != nil {
		return context.Cause(s.ctx)
	}
	// While it is not known what matches, the search goes on: there would be
	// nothing to return.
	if s.matched != nil {
		return s.expired()
	}
	return nil
}

// expired returns errCutoff once the time for ranking is up.
func (s *searcher) expired() error {
	if s.cut.Err() != nil {
		return context.Cause(s.cut)
	}
	return nil
}

// match works out which documents match, under the filters of rd.
func (s *searcher) match(rd *reading) error {
	if err := s.restrict(rd); err != nil {
		return err
	}
	p := &s.plan.parsed
	for _, ws := range p.Excluded {
		b, err := s.phrase(ws)
		if err != nil {
			return err
		}
		s.universe = roaring.AndNot(s.universe, b)
	}
	if len(p.Units) == 0 {
		s.matched = s.universe
		return nil
	}
	var err error
	if s.graph, err = s.newGraph(p.Units); err != nil {
		return err
	}
	s.relaxed = s.graph.relaxations(s.universe, p.Units, s.plan.strategy)
	matched := roaring.New()
	for _, units := range s.relaxed {
		docs := s.graph.having(s.universe, units)
		docs = roaring.AndNot(docs, matched)
		s.having = append(s.having, docs)
		matched.Or(docs)
	}
	s.matched = matched
	return nil
}

// restrict narrows the universe to the documents that are there and that the filters of rd let through.
func (s *searcher) restrict(rd *reading) error {
	s.universe = s.view.Live
	if rd.cond == nil {
		return nil
	}
	ctx, end := withTime(s.ctx, rd.patience(), &rd.budget.filtering)
	err := s.view.Under(ctx, func() (err error) {
		s.universe, err = rd.cond.Documents(s.view)
		return err
	})
	end()
	if errors.Is(err, errCutoff) {
		// To go on would show what the filter may not let through.
		return apierr.Newf(apierr.InvalidSearchFilter, "The filter could not be worked out in the %v that a search of this index has: ask with fewer conditions, or raise the setting searchCutoffMs.", rd.patience())
	}
	if err != nil {
		return err
	}
	s.universe.And(s.view.Live)
	return nil
}

// order ranks what matches, as far as it is asked for. With errCutoff the rest
// of it follows in no order.
func (s *searcher) order() error {
	p := s.plan
	s.startResults()
	b := bucket{docs: s.matched}
	if s.graph != nil {
		b.units = s.relaxed[0]
		for _, u := range p.parsed.Units {
			if !u.Phrase {
				s.mostTypos += p.typo.allowed(u.Words[0].Term)
			}
		}
	}
	err := s.findWhole()
	if err == nil {
		err = s.rank(b, s.rules)
	}
	if errors.Is(err, errCutoff) {
		for it := roaring.AndNot(s.matched, s.results.docs).Iterator(); it.HasNext() && !s.results.full(); {
			s.results.add(s, &found{doc: it.Next(), ranking: ranking{unranked: true}})
		}
	}
	return err
}

// startResults makes ready for the first hit.
func (s *searcher) startResults() {
	p := s.plan
	s.rules = p.rules()
	s.results = results{need: p.page.end(), threshold: p.query.RankingScoreThreshold, falling: falling(s.rules), docs: roaring.New()}
	if p.distinct != "" {
		s.results.distinct = &distinctSeen{p.distinct, map[string]struct{}{}}
	}
}

// falling reports whether each rule that the score is made of comes before all
// others.
func falling(rules []settings.Criterion) bool {
	first := slices.IndexFunc(rules, func(r settings.Criterion) bool { return !r.OfTexts() })
	return first < 0 || !slices.ContainsFunc(rules[first:], func(r settings.Criterion) bool { return r.OfTexts() })
}
