package rank

import (
	"cmp"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// A Found document is one that matches, with how it does.
type Found struct {
	Doc     uint32
	seq     float64 // its place in the order of insertion: the older comes first among equals
	Score   float64
	ranking ranking
	// byMeaning: score is of vectors, and ranking says nothing.
	ByMeaning bool
	keys      []bleveindex.SortKey // for each of the rules that it was compared by last
}

// A bucket is a set of documents that all rules so far hold for equal. Its parts are
// apart from each other: of documents with as many units some may have others.
type bucket struct {
	parts []part
	typos int
	exact bool // typos is how many typos each has in all, at the least
}

// docs returns all documents of the bucket. Only for reading.
func (b *bucket) docs() *roaring.Bitmap {
	if len(b.parts) == 1 {
		return b.parts[0].docs
	}
	sets := make([]*roaring.Bitmap, len(b.parts))
	for i := range b.parts {
		sets[i] = b.parts[i].docs
	}
	return roaring.FastOr(sets...)
}

// within returns what of the bucket is in docs.
func (b *bucket) within(docs *roaring.Bitmap) bucket {
	out := bucket{make([]part, 0, len(b.parts)), b.typos, b.exact}
	for _, p := range b.parts {
		if here := roaring.And(p.docs, docs); !here.IsEmpty() {
			out.parts = append(out.parts, part{p.units, here})
		}
	}
	return out
}

// unitsOf returns the units that a document of the bucket has.
func (b *bucket) unitsOf(doc uint32) unitSet {
	for _, p := range b.parts[1:] {
		if p.docs.Contains(doc) {
			return p.units
		}
	}
	return b.parts[0].units
}

// maxRanked bounds the documents of one bucket that are judged by where the
// words stand; those beyond come behind, in the order of insertion.
const maxRanked = 20_000

// rank hands the documents of b to the results, ordered by rules, until these
// have enough.
func (s *Searcher) rank(b bucket, rules []settings.Criterion) error {
	all := b.docs()
	if s.Results.full() || all.IsEmpty() {
		return nil
	}
	if err := s.expired(); err != nil {
		return err
	}
	if len(rules) == 0 {
		return s.oldest(b, all.ToArray())
	}
	switch rules[0].Kind {
	case settings.WordsRule:
		for i := 0; i < len(s.relaxed) && !s.Results.full(); {
			next := bucket{}
			for first := s.relaxed[i]; i < len(s.relaxed) && (len(next.parts) == 0 || s.alike(first, s.relaxed[i])); i++ {
				docs := s.having[i]
				if all != s.Matched { // which has all of them
					docs = roaring.And(all, docs)
				}
				next.parts = append(next.parts, part{s.relaxed[i], docs})
			}
			if err := s.rank(next, rules[1:]); err != nil {
				return err
			}
		}
		return nil
	case settings.TypoRule:
		for _, next := range s.byTypos(b) {
			if err := s.rank(next, rules[1:]); err != nil {
				return err
			}
		}
		return nil
	}
	// The rules that look at each document, up to the next that does not.
	n := slices.IndexFunc(rules, func(r settings.Criterion) bool { return r.Kind == settings.WordsRule || r.Kind == settings.TypoRule })
	if n < 0 {
		n = len(rules)
	}
	if by := s.parting(b, rules[:n]); by != partedByNothing {
		parts, err := s.partByAttribute(b, by)
		if err != nil {
			return err
		}
		for _, docs := range parts {
			if s.Results.full() {
				return nil
			}
			if err := s.judged(b.within(roaring.BitmapOf(docs...)), rules[:n], rules[n:]); err != nil {
				return err
			}
		}
		return nil
	}
	return s.judged(b, rules[:n], rules[n:])
}

// judged orders the documents of b by rules that look at each, and equal ones by rest.
func (s *Searcher) judged(b bucket, rules, rest []settings.Criterion) error {
	if s.Results.full() {
		return nil
	}
	docs := b.docs().ToArray()
	if len(docs) <= maxRanked {
		return s.sorted(b, rules, rest, docs)
	}
	if !rules[0].OfTexts() {
		return s.sorted(b, rules[:1], slices.Concat(rules[1:], rest), docs)
	}
	if err := s.sorted(b, rules, rest, docs[:maxRanked]); err != nil {
		return err
	}
	return s.oldest(b, docs[maxRanked:])
}

// alike reports whether it is the same for the rule words which of two sets of units a
// document has.
func (s *Searcher) alike(a, b unitSet) bool {
	return s.plan.Strategy == settings.Frequency && a.count() == b.count()
}

// byTypos parts a bucket by the fewest typos in all with which documents have their
// units.
func (s *Searcher) byTypos(b bucket) []bucket {
	var out []bucket
	for _, p := range b.parts {
		for typos, docs := range s.graph.byTypos(p.docs, p.units) {
			if docs == nil {
				continue
			}
			for len(out) <= typos {
				out = append(out, bucket{typos: len(out), exact: true})
			}
			out[typos].parts = append(out[typos].parts, part{p.units, docs})
		}
	}
	return slices.DeleteFunc(out, func(b bucket) bool { return len(b.parts) == 0 })
}

// oldest hands docs on in the order of insertion.
func (s *Searcher) oldest(b bucket, docs []uint32) error {
	list := placesOf(docs)
	if err := s.View.FirstNumbers(bleveindex.FieldSeq, docs, func(i int, seq, _ float64) { list[i].seq = seq }); err != nil {
		return err
	}
	base := b.ranking()
	inOrder(list, s.Results.missing(), func(a, b *inserted) int { return compareInserted(*a, *b) }, func(p *inserted) bool {
		base.units = b.unitsOf(p.doc)
		s.Results.add(s, &Found{Doc: p.doc, seq: p.seq, ranking: base})
		return !s.Results.full() || len(s.rules) > 0 && s.Results.wantsEqual()
	})
	return s.Results.err
}

// ranking is what is known of the bucket's documents before they are judged:
// the worst for all else. Their units come with each of them.
func (b *bucket) ranking() ranking {
	return ranking{
		typos:     uint16(b.typos),
		proximity: math.MaxUint16, field: math.MaxUint32, place: math.MaxUint16, match: noExactMatch, inexact: math.MaxUint16,
	}
}

// sorted orders docs, which are those of b or a part of them, by rules that
// look at each, and equal ones by rest.
func (s *Searcher) sorted(b bucket, rules, rest []settings.Criterion, docs []uint32) error {
	list, err := s.compared(b, rules, docs)
	if err != nil {
		return err
	}
	compare := func(a, b *Found) int {
		keys := 0
		for i := range rules {
			c := 0
			switch r := &rules[i]; r.Kind {
			case settings.FieldRule, settings.GeoRule:
				c = a.keys[keys].Compare(&b.keys[keys], r.Descending)
				keys++
			default:
				c = a.ranking.compare(&b.ranking, r.Kind)
			}
			if c != 0 {
				return c
			}
		}
		return 0
	}
	var equal []uint32 // not handed on yet, all equal to first
	var first *Found
	pass := func() error {
		slices.Sort(equal)
		err := s.rank(b.within(roaring.BitmapOf(equal...)), rest)
		equal = equal[:0]
		return err
	}
	inOrder(list, s.Results.missing(), func(a, b *Found) int {
		return cmp.Or(compare(a, b), cmp.Compare(a.seq, b.seq))
	}, func(f *Found) bool {
		if len(rest) == 0 {
			if s.Results.full() && compare(first, f) != 0 {
				return false
			}
			first = f
			s.Results.add(s, f)
			return !s.Results.full() || s.Results.wantsEqual()
		}
		if first != nil && compare(first, f) != 0 {
			if err = pass(); err != nil {
				return false
			}
		}
		first = f
		equal = append(equal, f.Doc)
		return !s.Results.full()
	})
	if err == nil && len(equal) > 0 {
		err = pass()
	}
	return cmp.Or(err, s.Results.err)
}

// compared returns docs with what rules compare them by.
func (s *Searcher) compared(b bucket, rules []settings.Criterion, docs []uint32) ([]Found, error) {
	list := make([]Found, len(docs))
	base := ranking{typos: uint16(b.typos), match: noExactMatch}
	for i, d := range docs {
		base.units = b.unitsOf(d)
		list[i] = Found{Doc: d, seq: math.MaxFloat64, ranking: base}
	}
	if err := s.View.FirstNumbers(bleveindex.FieldSeq, docs, func(i int, seq, _ float64) { list[i].seq = seq }); err != nil {
		return nil, err
	}
	judged, keys := false, 0
	for i := range rules {
		if !rules[i].OfTexts() {
			keys++
		} else {
			judged = true
		}
	}
	if keys > 0 {
		all := make([]bleveindex.SortKey, keys*len(docs))
		for i := range list {
			list[i].keys = all[i*keys : (i+1)*keys]
		}
		k := 0
		for i := range rules {
			if rules[i].OfTexts() {
				continue
			}
			values, err := s.keys(&rules[i], docs)
			if err != nil {
				return nil, err
			}
			for d := range list {
				list[d].keys[k] = values[d]
			}
			k++
		}
	}
	if judged && len(s.plan.Parsed.Units) > 0 {
		return list, s.judgeParts(b, docs, list)
	}
	return list, nil
}

// typosIn is how many typos a place in the bucket's documents may have to be of use: of
// others there are better ones for the same unit.
func (s *Searcher) typosIn(b bucket) int {
	if b.exact {
		return b.typos
	}
	return math.MaxUint8
}

// judgeParts works out the rankings of docs, which are of b.
func (s *Searcher) judgeParts(b bucket, docs []uint32, list []Found) error {
	if len(b.parts) == 1 {
		return s.judge(b.parts[0].units, docs, list, s.typosIn(b))
	}
	for _, p := range b.parts {
		var here []uint32
		var at []int // of docs
		for i, d := range docs {
			if p.docs.Contains(d) {
				here, at = append(here, d), append(at, i)
			}
		}
		judged := make([]Found, len(here))
		for i, n := range at {
			judged[i] = list[n]
		}
		if err := s.judge(p.units, here, judged, s.typosIn(b)); err != nil {
			return err
		}
		for i, n := range at {
			list[n] = judged[i]
		}
	}
	return nil
}

// keys returns what docs are sorted by under a rule.
func (s *Searcher) keys(r *settings.Criterion, docs []uint32) ([]bleveindex.SortKey, error) {
	if r.Kind == settings.FieldRule {
		return s.View.SortKeys(r.Field, docs, r.Descending)
	}
	away, err := s.View.Distances(r.Lat, r.Lng, docs)
	keys := make([]bleveindex.SortKey, len(away))
	for i, d := range away {
		if keys[i].Number = d; math.IsInf(d, 1) {
			keys[i] = bleveindex.SortKey{Kind: 2}
		}
	}
	return keys, err
}
