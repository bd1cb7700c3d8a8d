// Package rank finds the documents that match a query and puts them in order.
//
// A query's words become a graph of what may stand for them (alternatives.go,
// expand.go, graph.go). [Searcher.Match] makes of it the documents that have all
// words, and those that have fewer, as bitmaps. [Searcher.Order] parts these by
// one ranking rule after another, only as far as hits are asked for
// (buckets.go); the rules that need to know where words stand look at each
// document (judge.go), and score.go makes a number of what they said. A search
// by meaning is merged in by [Searcher.AddMeaning].
//
// To change what a rule prefers, see judge.go; to change what a score is, see
// score.go. The package knows no callers, rights or filters: what a caller may
// not see is not in [Searcher.Reach], which bounds all that is counted, and what a filter leaves out is not
// in [Searcher.Universe].
package rank

import (
	"context"
	"errors"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// ErrCutoff is the cause of the context that ends when ranking should.
var ErrCutoff = errors.New("the time for the search is up")

// A Searcher finds and orders the hits of one search on one view. Set Universe and Reach,
// then call Match, then Order or AddMeaning, and read Results. Not safe for
// concurrent use.
type Searcher struct {
	Ctx  context.Context // of the request
	cut  context.Context // ends when ranking should
	plan *Plan
	View *bleveindex.View

	Universe *roaring.Bitmap // what filters and excluded words let through
	Matched  *roaring.Bitmap // what matches, of the universe
	// Reach is what the caller may see, filters of the query aside; nil: all that is there.
	// What is counted is counted within it. Only for reading.
	Reach *roaring.Bitmap

	universe, within bySegment // of Universe and Reach
	graph            *graph
	relaxed          []unitSet               // what a hit may be asked to have, most first
	having           []*roaring.Bitmap       // who has it, and none of those before
	worth            []float64               // of each unit, where any word will do
	wholes           map[int]*roaring.Bitmap // see wholeOf

	rules     []settings.Criterion
	mostTypos []int           // that each unit may have
	mosts     map[groupOf]int // see mostAlong
	Results   Results
}

// New returns a Searcher for a plan on a view. cut ends, with ErrCutoff as its
// cause, when ranking should.
func New(ctx, cut context.Context, p *Plan, v *bleveindex.View) *Searcher {
	return &Searcher{Ctx: ctx, cut: cut, plan: p, View: v}
}

// check returns the context's error now and then; n counts the caller's steps.
func (s *Searcher) check(n int) error {
	if n&0xff != 0 {
		return nil
	}
	if s.Ctx.Err() != nil {
		return context.Cause(s.Ctx)
	}
	// While it is not known what matches, the search goes on: there would be
	// nothing to return.
	if s.Matched != nil {
		return s.expired()
	}
	return nil
}

// expired returns errCutoff once the time for ranking is up.
func (s *Searcher) expired() error {
	if s.cut.Err() != nil {
		return context.Cause(s.cut)
	}
	return nil
}

// Match works out which documents of the universe match.
func (s *Searcher) Match() error {
	p := &s.plan.Parsed
	if id := s.plan.Unlike; id != "" {
		if err := s.leaveOut(id); err != nil {
			return err
		}
	}
	for _, ws := range p.Excluded {
		b, err := s.phrase(ws)
		if err != nil {
			return err
		}
		s.Universe = roaring.AndNot(s.Universe, b)
	}
	if len(p.Units) == 0 {
		s.Matched = s.Universe
		return nil
	}
	var err error
	if s.graph, err = s.newGraph(p.Units); err != nil {
		return err
	}
	all := allUnits(s.graph.n)
	matched, err := s.relax(all)
	if err != nil {
		return err
	}
	if matched.IsEmpty() && s.plan.Strategy != settings.All && s.plan.Strategy != settings.Any {
		// Who asks for words that no document has besides others is better served by
		// the others than by nothing.
		known, err := s.known(s.reach())
		if err != nil {
			return err
		}
		if known != all && known != 0 {
			if matched, err = s.relax(known); err != nil {
				return err
			}
		}
	}
	s.Matched = matched
	return nil
}

// relax says who has the units, or some of them, and returns all that do.
func (s *Searcher) relax(all unitSet) (*roaring.Bitmap, error) {
	if s.plan.Strategy == settings.Any {
		return s.relaxToAny(), nil
	}
	frequency := s.plan.Strategy == settings.Frequency
	s.relaxed = s.graph.relaxations(all, s.reach(), s.plan.Parsed.Units, s.plan.Strategy)
	s.having = s.having[:0]
	among := s.Universe
	if frequency {
		among = s.graph.havingAtLeast(among, s.relaxed[len(s.relaxed)-1]) // no others match
	}
	var matched *roaring.Bitmap
	for i, units := range s.relaxed {
		docs := s.graph.having(among, units)
		// What is left of all is seldom small, and what matched is.
		if matched != nil {
			docs = roaring.AndNot(docs, matched)
		}
		s.having, matched = append(s.having, docs), either(matched, docs)
		if matched.GetCardinality() == among.GetCardinality() {
			s.relaxed = s.relaxed[:i+1]
			break
		}
	}
	return matched, nil
}

// relaxToAny is [Searcher.relax] where any of the words will do.
func (s *Searcher) relaxToAny() *roaring.Bitmap {
	s.worth = s.graph.weigh(s.Universe)
	s.relaxed, s.having = nil, nil
	matched := roaring.New()
	for _, p := range s.graph.part(s.Universe, s.plan.Parsed.Units, s.worth) {
		s.relaxed, s.having = append(s.relaxed, p.units), append(s.having, p.docs)
		matched.Or(p.docs)
	}
	return matched
}

// Order ranks what matches, as far as it is asked for. With errCutoff the rest
// of it follows in no order.
func (s *Searcher) Order() error {
	p := s.plan
	s.startResults()
	b := bucket{parts: []part{{docs: s.Matched}}}
	if s.graph != nil {
		b.parts[0].units = s.relaxed[0]
		s.mostTypos = make([]int, len(p.Parsed.Units))
		for i, u := range p.Parsed.Units {
			if !u.Phrase {
				// A word may be written as two, if nothing else, which counts as one.
				s.mostTypos[i] = max(p.Typo.Allowed(u.Words[0].Term), 1)
			}
		}
	}
	err := s.rank(b, s.rules)
	if errors.Is(err, ErrCutoff) {
		for it := roaring.AndNot(s.Matched, s.Results.Docs).Iterator(); it.HasNext() && !s.Results.full(); {
			s.Results.add(s, &Found{Doc: it.Next(), ranking: ranking{unranked: true}})
		}
	}
	return err
}

// startResults makes ready for the first hit.
func (s *Searcher) startResults() {
	p := s.plan
	s.rules = p.rules()
	s.Results = Results{need: p.Need, exact: p.Exact, threshold: p.Threshold, falling: falling(s.rules), below: roaring.New(), Docs: roaring.New()}
	if p.Distinct != "" {
		s.Results.distinct = &DistinctSeen{Attribute: p.Distinct, Values: map[string]struct{}{}}
	}
}

// falling reports whether each rule that the score is made of comes before all
// others.
func falling(rules []settings.Criterion) bool {
	first := slices.IndexFunc(rules, func(r settings.Criterion) bool { return !r.OfTexts() })
	return first < 0 || !slices.ContainsFunc(rules[first:], func(r settings.Criterion) bool { return r.OfTexts() })
}
