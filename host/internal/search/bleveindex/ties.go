package bleveindex

import (
	"cmp"
	"slices"
	"strconv"
)

// How Meilisearch groups the values of a field, in their order: by four, and with many
// values the groups by four again. What an index got in one batch is so; later batches
// may divide groups, which is not followed.
const (
	fewestGrouped = 20     // values that are grouped at all
	manyGrouped   = 1000   // so many are grouped more than once
	mostGrouped   = 20_000 // of more the order of equal counts is that of their keys alone
)

// A tree is the values of one kind, numbers or texts, of a field.
type tree struct {
	keys   []string // in order
	levels int      // of groups: the group of values[i] at level n is i >> 2n
	groups [][]int  // by level, from 1: how many documents have a value of each group
	seen   [][]uint32
}

// newTree groups keys, which are in order; enough is how many groups are grouped again.
func newTree(keys []string, enough int) *tree {
	t := &tree{keys: keys}
	if len(keys) < fewestGrouped {
		return t
	}
	for size := len(keys); t.levels == 0 || len(keys) >= manyGrouped && size >= enough; t.levels++ {
		size = (size + 3) / 4
		t.groups, t.seen = append(t.groups, make([]int, size)), append(t.seen, make([]uint32, size))
	}
	return t
}

// add counts document number doc, from 1, for the groups of the value i.
func (t *tree) add(doc uint32, i int) {
	for level := range t.levels {
		i >>= 2
		if t.seen[level][i] != doc {
			t.seen[level][i] = doc
			t.groups[level][i]++
		}
	}
}

// late is how many levels up the group of the value i has no other documents than it.
func (t *tree) late(i, count int) int {
	for level := range t.levels {
		if i >>= 2; t.groups[level][i] > count {
			return level
		}
	}
	return t.levels
}

// OrderTies sets Late of values, which are those of a field among docs, which are
// sorted. It looks at the values of all documents.
func (v *View) OrderTies(field string, docs []uint32, values []Count) error {
	numbers, texts, err := v.trees(field)
	if err != nil || numbers.levels+texts.levels == 0 {
		return err
	}
	type place struct {
		in *tree
		at int
	}
	places := map[string]place{}
	for _, t := range []*tree{numbers, texts} {
		for i, key := range t.keys {
			places[key] = place{t, i}
		}
	}
	err = v.eachPart(docs, func(seg *Segment, from int, part []uint32) error {
		c, err := v.TextColumn(seg, FieldText+field)
		if err != nil {
			return err
		}
		here := make([]place, len(c.Keys)) // found once, and not for each document
		for n, key := range c.Keys {
			here[n] = places[key]
		}
		for i, d := range part {
			if err := v.Step(); err != nil {
				return err
			}
			for _, n := range c.Of(d - seg.First) {
				here[n].in.add(uint32(from+i+1), here[n].at)
			}
		}
		return nil
	})
	for i := range values {
		c := &values[i]
		if p, ok := places[c.Key]; ok && c.Number == (p.in == numbers) {
			c.Late = p.in.late(p.at, c.Count)
		}
	}
	return err
}

// trees groups the values of a field, those of deleted documents maybe among them.
func (v *View) trees(field string) (numbers, texts *tree, err error) {
	var keys []string
	for i := range v.Segs {
		c, err := v.TextColumn(&v.Segs[i], FieldText+field)
		if err != nil {
			return nil, nil, err
		}
		if len(keys)+len(c.Keys) > mostGrouped {
			return &tree{}, &tree{}, nil
		}
		keys = append(keys, c.Keys...)
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	var written []string
	words := slices.DeleteFunc(keys, func(key string) bool {
		if LooksLikeNumber(key) {
			written = append(written, key)
			return true
		}
		return false
	})
	parsed := func(s string) float64 { f, _ := strconv.ParseFloat(s, 64); return f }
	slices.SortStableFunc(written, func(a, b string) int { return cmp.Compare(parsed(a), parsed(b)) })
	return newTree(written, 17), newTree(words, 20), nil
}
