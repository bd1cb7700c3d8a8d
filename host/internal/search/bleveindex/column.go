package bleveindex

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"
	bleveapi "github.com/blevesearch/bleve_index_api"
)

// A column is one field of one segment as arrays: the values of document d, in
// order, are values[start[d]:start[d+1]]. It is made from the terms once and
// never changes, since a segment never does.
type column[T any] struct {
	start  []uint32 // one more than documents
	values []T
}

// Of returns the values of a document, numbered within the segment.
func (c *column[T]) Of(doc uint32) []T { return c.values[c.start[doc]:c.start[doc+1]] }

// A TextColumn has the numbers of texts, which are numbered in their order.
// Texts that are compared as the same but written differently are neighbours.
type textColumn struct {
	column[uint32]
	Keys  []string // what each text is compared by
	shown []string // how it is written
	like  []bool   // that is as a number is
}

// columnOf makes a column of count documents out of the terms' documents; make
// gives the value of the n-th term.
func columnOf[T any](count uint32, terms [][]uint32, value func(n int) T) column[T] {
	c := column[T]{start: make([]uint32, count+1)}
	total := 0
	for _, docs := range terms {
		for _, d := range docs {
			c.start[d+1]++
		}
		total += len(docs)
	}
	for d := range count {
		c.start[d+1] += c.start[d]
	}
	c.values = make([]T, total)
	next := slices.Clone(c.start[:count])
	for n, docs := range terms {
		v := value(n)
		for _, d := range docs {
			c.values[next[d]] = v
			next[d]++
		}
	}
	return c
}

// numberColumn returns the numbers of a field of AppendNumber's terms.
func (v *View) numberColumn(seg *Segment, field string) (*column[float64], error) {
	c, err := v.cachedColumn(seg, field, func() (any, int, error) {
		c := &column[float64]{start: make([]uint32, 0, seg.count+1)}
		// Of all documents, deleted or not: a view opened before may have them yet.
		docs := make([]uint32, seg.count)
		for i := range docs {
			docs[i] = seg.First + uint32(i)
		}
		at := -1
		err := v.storedNumbers(field, docs, func(i int, x float64) {
			for ; at < i; at++ {
				c.start = append(c.start, uint32(len(c.values)))
			}
			c.values = append(c.values, x)
		})
		if err != nil {
			return nil, 0, err
		}
		for len(c.start) <= int(seg.count) {
			c.start = append(c.start, uint32(len(c.values)))
		}
		return c, 4*len(c.start) + 8*len(c.values), nil
	})
	if err != nil {
		return nil, err
	}
	return c.(*column[float64]), nil
}

// storedNumbers calls f for the numbers that each of docs has in a field, in
// order, from bleve's own columns: slower by the document than a column of ours,
// and at hand.
func (v *View) storedNumbers(field string, docs []uint32, f func(i int, x float64)) error {
	r, err := v.snap.DocValueReader([]string{field})
	if err != nil {
		return fmt.Errorf("read column %s: %w", field, err)
	}
	for i, d := range docs {
		err := r.VisitDocValues(bleveapi.NewIndexInternalID(nil, uint64(d)), func(_ string, term []byte) {
			f(i, ParseNumber(term))
		})
		if err != nil {
			return fmt.Errorf("read column %s: %w", field, err)
		}
	}
	return nil
}

// TextColumn returns the texts of a field of text.FacetTerm's terms.
func (v *View) TextColumn(seg *Segment, field string) (*textColumn, error) {
	c, err := v.cachedColumn(seg, field, func() (any, int, error) {
		type entry struct {
			key, shown string
			docs       []uint32
		}
		var entries []entry
		size := 0
		err := seg.eachTerm(field, nil, nil, nil, func(term string, posting func() (*roaring.Bitmap, error)) error {
			docs, err := posting()
			if err == nil {
				key, shown := v.facetTerm(term)
				if shown == "" {
					return nil // an empty text is no value, as in Meilisearch
				}
				entries = append(entries, entry{key, shown, docs.ToArray()})
				size += len(term) + 32
			}
			return err
		})
		if err != nil {
			return nil, 0, err
		}
		if v.foldsMore {
			slices.SortFunc(entries, func(a, b entry) int {
				return cmp.Or(strings.Compare(a.key, b.key), strings.Compare(a.shown, b.shown))
			})
		}
		out := &textColumn{}
		terms := make([][]uint32, len(entries))
		for i, e := range entries {
			out.Keys, out.shown, terms[i] = append(out.Keys, e.key), append(out.shown, e.shown), e.docs
			out.like = append(out.like, LooksLikeNumber(e.key))
		}
		out.column = columnOf(seg.count, terms, func(n int) uint32 { return uint32(n) })
		return out, size + 4*len(out.start) + 4*len(out.values), nil
	})
	if err != nil {
		return nil, err
	}
	return c.(*textColumn), nil
}

// cachedColumn returns a column of the segment, made by build, which also says how
// many bytes it takes.
func (v *View) cachedColumn(seg *Segment, field string, build func() (any, int, error)) (any, error) {
	c, err := v.keptIn(v.columns.columns, seg, field, build)
	if err != nil {
		return nil, fmt.Errorf("make column %s: %w", field, err)
	}
	return c, nil
}

// fewOf is the part of a segment's documents that may be read from bleve's columns,
// by one search or many, before one of ours is made: each read of these decodes a
// thousand values.
const fewOf = 256

// wants reports whether a column is worth its making, for one more read of n documents.
func (v *View) wants(seg *Segment, field string, n int) (bool, error) {
	if _, made := v.columns.columns.get(v.segmentKey(seg), field); made {
		return true, nil
	}
	read, err := v.keptIn(v.columns.columns, seg, field+" read", func() (any, int, error) { return new(atomic.Int64), 256, nil })
	if err != nil {
		return false, err
	}
	return read.(*atomic.Int64).Add(int64(n)) >= int64(seg.count)/fewOf, nil
}

// FirstNumbers calls f for the first and the last number of each document of docs,
// which are sorted, that has one in a field.
func (v *View) FirstNumbers(field string, docs []uint32, f func(i int, first, last float64)) error {
	return v.eachPart(docs, func(seg *Segment, from int, part []uint32) error {
		wanted, err := v.wants(seg, field, len(part))
		if err != nil {
			return err
		}
		if !wanted {
			return v.firstStored(field, from, part, f)
		}
		c, err := v.numberColumn(seg, field)
		if err != nil {
			return err
		}
		for i, d := range part {
			if n := c.Of(d - seg.First); len(n) > 0 {
				f(from+i, n[0], n[len(n)-1])
			}
		}
		return nil
	})
}

// firstStored is FirstNumbers without a column.
func (v *View) firstStored(field string, from int, docs []uint32, f func(i int, first, last float64)) error {
	at, first, last := -1, 0.0, 0.0
	err := v.storedNumbers(field, docs, func(i int, x float64) {
		if i != at {
			if at >= 0 {
				f(from+at, first, last)
			}
			at, first = i, x
		}
		last = x
	})
	if at >= 0 && err == nil {
		f(from+at, first, last)
	}
	return err
}

// eachPart calls f for the part of docs, which are sorted, that each segment
// has; from is its place in docs.
func (v *View) eachPart(docs []uint32, f func(seg *Segment, from int, part []uint32) error) error {
	for i, from := 0, 0; i < len(v.Segs) && from < len(docs); i++ {
		seg := &v.Segs[i]
		n, _ := slices.BinarySearch(docs[from:], seg.First+seg.count)
		if n == 0 {
			continue
		}
		if err := f(seg, from, docs[from:from+n]); err != nil {
			return err
		}
		from += n
	}
	return nil
}
