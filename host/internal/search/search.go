package search

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/auth"
)

// Search answers a query. A mistake in it is an [apierr.Error] with the code
// of the parameter.
func (s *Service) Search(ctx context.Context, caller *auth.Caller, indexUID string, q Query) (*Result, error) {
	start := time.Now()
	ix, rule, err := s.index(caller, indexUID)
	if err != nil {
		return nil, err
	}
	limit, err := q.check()
	if err != nil {
		return nil, err
	}
	st, release, err := ix.serving(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	filter, err := ix.filter(st.meta, q.Filter, apierr.InvalidSearchFilter)
	if err != nil {
		return nil, err
	}
	if err := st.meta.Settings.allowFilter(rule); err != nil {
		return nil, apierr.Newf(apierr.InvalidSearchFilter, "The filter in the tenant token's searchRules: %s.", err)
	}
	res := &Result{Query: q.Q, Offset: q.Offset, Limit: limit, Hits: []Hit{}}
	cut, cancel := context.WithTimeoutCause(ctx, s.opts.Cutoff, errCutoff)
	defer cancel()
	sr := &searcher{ctx: cut, fuzzy: s.fuzzy, ranks: st.meta.ranks()}
	list, err := sr.guarded(st.folder, &q, limit, and(rule, filter))
	switch {
	case errors.Is(err, errCutoff):
		res.Degraded = true
	case errors.Is(err, errDamaged):
		ix.suspect(st.folder, err)
		return nil, &apierr.Error{Code: apierr.IndexNotReady, RetryAfter: buildWait, Err: err, Message: fmt.Sprintf("Index `%s` was found damaged and is being built anew; try again in a while.", indexUID)}
	case err != nil:
		return nil, fmt.Errorf("search index %q: %w", indexUID, err)
	}
	res.EstimatedTotalHits = sr.total
	if err := s.fill(res, st.meta, list, rule, &q); err != nil {
		return nil, err
	}
	res.ProcessingTime = time.Since(start)
	return res, nil
}

// check returns the limit, bounded, of a query whose parameters are right.
func (q *Query) check() (limit int, err error) {
	limit = DefaultLimit
	if q.Limit != nil {
		limit = *q.Limit
	}
	switch {
	case q.Offset < 0:
		return 0, apierr.Newf(apierr.InvalidSearchOffset, "offset is %d; it must be zero or more.", q.Offset)
	case limit < 0:
		return 0, apierr.Newf(apierr.InvalidSearchLimit, "limit is %d; it must be zero or more.", limit)
	case q.RankingScoreThreshold < 0 || q.RankingScoreThreshold > 1:
		return 0, apierr.Newf(apierr.InvalidSearchRankingThreshold, "rankingScoreThreshold is %v; it must be 0 to 1.", q.RankingScoreThreshold)
	}
	switch q.MatchingStrategy {
	case "", Last, All, Frequency:
	default:
		return 0, apierr.Newf(apierr.InvalidSearchMatchingStrategy, "matchingStrategy is `%.100s`; it must be last, all or frequency.", string(q.MatchingStrategy))
	}
	return limit, nil
}

var (
	errCutoff  = errors.New("the time for the search is up")
	errDamaged = errors.New("the index folder is damaged")
)

// A scored document is a hit before its document is read.
type scored struct {
	id    string
	score float64
}

// A searcher runs one search on one view.
type searcher struct {
	ctx   context.Context
	fuzzy fuzzy
	ranks []uint16 // of the fields, see meta.ranks
	view  *view
	whole *roaring.Bitmap // documents that have an attribute that is exactly the query
	total int             // documents that match, whatever is returned of them
}

// check returns the context's error now and then; n counts the caller's steps.
func (s *searcher) check(n int) error {
	if n&0xff == 0 && s.ctx.Err() != nil {
		return context.Cause(s.ctx)
	}
	return nil
}

// guarded is run on a folder that may be damaged: what bleve makes of damaged
// bytes is errDamaged.
func (s *searcher) guarded(f *folder, q *Query, limit int, filter *node) (list []scored, err error) {
	// A mapped file that is shorter than it was would else end the process.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errDamaged, p)
		}
	}()
	if s.view, err = f.view(); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.view.close()) }()
	return s.run(q, limit, filter)
}

// run ranks the hits of offset to limit. With errCutoff it returns what it has.
func (s *searcher) run(q *Query, limit int, filter *node) ([]scored, error) {
	universe := s.view.live
	if filter != nil {
		var err error
		if universe, err = filter.documents(s.view); err != nil {
			return nil, err
		}
		universe.And(s.view.live)
	}
	p := parseQuery(q.Q)
	for _, ws := range p.excluded {
		b, err := s.phrase(ws)
		if err != nil {
			return nil, err
		}
		universe = roaring.AndNot(universe, b)
	}
	need := min(q.Offset+limit, maxTotalHits)
	typos := 0
	var list []ranked
	var err error
	if len(p.units) == 0 {
		list, err = s.placeholder(universe, need)
	} else {
		for _, u := range p.units {
			if !u.phrase {
				typos += allowedTypos(u.words[0].term)
			}
		}
		list, err = s.match(p, universe, q.MatchingStrategy, need)
	}
	if err != nil && !errors.Is(err, errCutoff) {
		return nil, err
	}
	var out []scored
	for i, r := range list {
		if i >= need {
			break
		}
		score := r.ranking.score(len(p.units), typos)
		if score < q.RankingScoreThreshold {
			continue
		}
		if i < q.Offset {
			continue
		}
		id, err := s.view.id(r.doc)
		if err != nil {
			return nil, err
		}
		out = append(out, scored{id, score})
	}
	return out, err
}

// fewDocuments is how many are faster sorted than found by walking fieldSeq.
const fewDocuments = 2000

// placeholder returns the first documents, in the order of insertion.
func (s *searcher) placeholder(universe *roaring.Bitmap, need int) ([]ranked, error) {
	s.total = int(universe.GetCardinality())
	if need == 0 {
		return nil, nil
	}
	if s.total > fewDocuments {
		var err error
		if universe, err = s.oldest(universe, need); err != nil {
			return nil, err
		}
	}
	list := make([]ranked, 0, universe.GetCardinality())
	for it := universe.Iterator(); it.HasNext(); {
		list = append(list, ranked{doc: it.Next()})
	}
	err := s.order(list)
	return list[:min(len(list), need)], err
}

// oldest returns the oldest need documents of each segment, among them the
// oldest of all.
func (s *searcher) oldest(universe *roaring.Bitmap, need int) (*roaring.Bitmap, error) {
	out := roaring.New()
	for i := range s.view.segs {
		seg := &s.view.segs[i]
		part := seg.part(universe)
		dict, err := seg.dict(fieldSeq)
		if err != nil {
			return nil, err
		}
		found := 0
		it := dict.AutomatonIterator(nil, nil, nil)
		for n := 0; found < need; n++ {
			if err := s.check(n); err != nil {
				return nil, err
			}
			e, err := it.Next()
			if err != nil {
				return nil, fmt.Errorf("read terms of %s: %w", fieldSeq, err)
			}
			if e == nil {
				break
			}
			docs, err := seg.postings(dict, []byte(e.Term))
			if err != nil {
				return nil, err
			}
			if docs.Intersects(part) {
				seg.addTo(out, docs)
				found++
			}
		}
	}
	return out, nil
}
