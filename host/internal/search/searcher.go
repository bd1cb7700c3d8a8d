package search

import (
	"context"
	"errors"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/parley-search/parley/host/internal/search/folder"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/text"
)

// errCutoff is the cause of the context that ends when ranking should.
var errCutoff = errors.New("the time for the search is up")

// A ranker finds and orders the hits of one search on one view. Set universe, then call match, then order or addMeaning.
type ranker struct {
	ctx   context.Context // of the request
	cut   context.Context // ends when ranking should
	fuzzy text.Speller
	plan  *rankPlan
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

// newRanker returns one for a plan on a view. cut ends, with errCutoff as its
// cause, when ranking should.
func newRanker(ctx, cut context.Context, fuzzy text.Speller, p *rankPlan, v *folder.View) *ranker {
	return &ranker{ctx: ctx, cut: cut, fuzzy: fuzzy, plan: p, view: v, whole: whole{roaring.New(), roaring.New()}}
}

// check returns the context's error now and then; n counts the caller's steps.
func (s *ranker) check(n int) error {
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
func (s *ranker) expired() error {
	if s.cut.Err() != nil {
		return context.Cause(s.cut)
	}
	return nil
}

// match works out which documents of the universe match.
func (s *ranker) match() error {
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

// order ranks what matches, as far as it is asked for. With errCutoff the rest
// of it follows in no order.
func (s *ranker) order() error {
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
func (s *ranker) startResults() {
	p := s.plan
	s.rules = p.rules()
	s.results = results{need: p.need, threshold: p.threshold, falling: falling(s.rules), docs: roaring.New()}
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
