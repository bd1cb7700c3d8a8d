package bleveindex

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/parley-search/parley/host/internal/base/rawjson"
)

// A Count is a value while it is being counted.
type Count struct {
	Key   string // what it is compared by
	Shown string // as the first document that came writes it
	Count int
	// Number: it is a number, and Key what is written for it.
	Number  bool
	several bool // it is written in several ways
}

// compareCounts orders values by key, a number before the text that is written like it.
func compareCounts(a, b Count) int {
	if c := strings.Compare(a.Key, b.Key); c != 0 || a.Number == b.Number {
		return c
	} else if a.Number {
		return -1
	}
	return 1
}

// mergeCounts returns the values of two lists that are ordered by compareCounts as such a
// list. It adds up the counts of those that are in both.
func mergeCounts(a, b []Count) []Count {
	if len(a) == 0 || len(b) == 0 {
		return append(a, b...)
	}
	out := make([]Count, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch c := compareCounts(a[0], b[0]); {
		case c < 0:
			out, a = append(out, a[0]), a[1:]
		case c > 0:
			out, b = append(out, b[0]), b[1:]
		default:
			x, y := a[0], b[0]
			x.Count += y.Count
			x.several = x.several || y.several || x.Shown != y.Shown
			out, a, b = append(out, x), a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// CountValues returns the values of a field among docs, which are sorted, as far as
// keep (nil: all) takes their keys, ordered by key. Nothing of it is from other documents.
// A number and a text that is written like it are two values with one key.
func (v *View) CountValues(field string, docs []uint32, keep func(key string) bool) ([]Count, error) {
	var parts [][]Count
	// texts: what looks like a number is none; takes says which values of a document
	// count, nil: all.
	count := func(seg *Segment, c *textColumn, part []uint32, texts bool, takes func(doc, value uint32) bool) error {
		// A document that writes a value in two ways has it once.
		written := make([]int32, len(c.Keys))
		var again map[uint32]int32
		for _, d := range part {
			if err := v.Step(); err != nil {
				return err
			}
			values := c.Of(d - seg.First)
			for i, n := range values {
				if takes != nil && !takes(d-seg.First, n) {
					continue
				}
				written[n]++
				if i > 0 && c.Keys[n] == c.Keys[values[i-1]] {
					if again == nil {
						again = map[uint32]int32{}
					}
					again[n]++
				}
			}
		}
		var found []Count
		if keep == nil {
			found = make([]Count, 0, min(len(c.Keys), len(part)))
		}
		for n, count := range written {
			if err := v.Step(); err != nil {
				return err
			}
			key := c.Keys[n]
			if count == 0 || keep != nil && !keep(key) {
				continue
			}
			count -= again[uint32(n)]
			if last := len(found) - 1; last >= 0 && found[last].Key == key { // written in another way
				found[last].Count += int(count)
				found[last].several = true
				continue
			}
			found = append(found, Count{Key: key, Shown: c.shown[n], Number: !texts && c.like[n], Count: int(count)})
		}
		parts = append(parts, found)
		return nil
	}
	err := v.eachPart(docs, func(seg *Segment, _ int, part []uint32) error {
		c, err := v.TextColumn(seg, FieldText+field)
		if err != nil {
			return err
		}
		texts, err := v.textsOf(seg, field)
		if err != nil || texts.likeNumbers.IsEmpty() {
			return cmp.Or(err, count(seg, c, part, false, nil))
		}
		numbersOf, err := v.numberColumn(seg, fieldNumber+field)
		if err != nil {
			return err
		}
		isText := func(doc, value uint32) bool {
			return c.like[value] && !hasNumber(numbersOf, doc, c.Keys[value])
		}
		var others []uint32 // with values that look like numbers and are texts
		numbers := make([]uint32, 0, len(part))
		for _, d := range part {
			if texts.likeNumbers.Contains(d - seg.First) {
				others = append(others, d)
			} else {
				numbers = append(numbers, d)
			}
		}
		return cmp.Or(
			count(seg, c, numbers, false, nil),
			count(seg, c, others, true, isText),
			count(seg, c, others, false, func(doc, value uint32) bool { return !isText(doc, value) }))
	})
	if err != nil || len(parts) == 0 {
		return nil, err
	}
	for ; len(parts) > 1; parts = parts[2:] { // each is merged about log2(len(parts)) times
		parts = append(parts, mergeCounts(parts[0], parts[1]))
	}
	return parts[0], v.showFirst(field, docs, parts[0])
}

// hasNumber reports whether a document, numbered within its segment, has the number that
// is written as key.
func hasNumber(c *column[float64], doc uint32, key string) bool {
	return slices.ContainsFunc(c.Of(doc), func(f float64) bool { return rawjson.FormatNumber(f) == key })
}

// textMark is behind the key of a text that looks like a number, beside numbers.
const textMark = "\x00"

// CountTexts is CountValues without the numbers among the values.
func (v *View) CountTexts(field string, docs *roaring.Bitmap, keep func(key string) bool) ([]Count, error) {
	out, err := v.CountValues(field, docs.ToArray(), keep)
	return slices.DeleteFunc(out, func(c Count) bool { return c.Number }), err
}

// ShowFirst has values of a field, as CountTexts returns them, shown as the first document
// of all that came writes them, hit or not.
func (v *View) ShowFirst(field string, values []Count) error {
	for i := range v.Segs {
		c, err := v.TextColumn(&v.Segs[i], FieldText+field)
		if err != nil {
			return err
		}
		rest := values
		for n, key := range c.Keys { // both are ordered by key
			for len(rest) > 0 && rest[0].Key < key {
				rest = rest[1:]
			}
			if len(rest) == 0 {
				break
			}
			if rest[0].Key == key && c.shown[n] != rest[0].Shown {
				rest[0].several = true
			}
		}
	}
	if !slices.ContainsFunc(values, func(c Count) bool { return c.several }) {
		return nil
	}
	return v.showFirst(field, v.Live.ToArray(), values)
}

// showFirst has the texts among values that are written in several ways shown as the first
// of docs that came writes them.
func (v *View) showFirst(field string, docs []uint32, values []Count) error {
	type first struct {
		*Count
		seq float64 // in the order of insertion, of the document that Shown is of
	}
	byKey := map[string]*first{}
	for i := range values {
		if value := &values[i]; value.several && !value.Number {
			byKey[value.Key] = &first{value, math.Inf(1)}
		}
	}
	if len(byKey) == 0 {
		return nil
	}
	seqs := make([]float64, len(docs))
	if err := v.FirstNumbers(FieldSeq, docs, func(i int, seq, _ float64) { seqs[i] = seq }); err != nil {
		return err
	}
	return v.eachPart(docs, func(seg *Segment, from int, part []uint32) error {
		c, err := v.TextColumn(seg, FieldText+field)
		if err != nil {
			return err
		}
		for i, d := range part {
			if err := v.Step(); err != nil {
				return err
			}
			for _, n := range c.Of(d - seg.First) {
				if value := byKey[c.Keys[n]]; value != nil && seqs[from+i] < value.seq {
					value.Shown, value.seq = c.shown[n], seqs[from+i]
				}
			}
		}
		return nil
	})
}

// NumberRange returns the smallest and the largest number of a field among
// docs, which are sorted; nil where there is none.
func (v *View) NumberRange(field string, docs []uint32) (low, high *float64, err error) {
	err = v.FirstNumbers(fieldNumber+field, docs, func(_ int, first, last float64) {
		if low == nil {
			low, high = new(first), new(last)
		}
		*low, *high = min(*low, first), max(*high, last)
	})
	return low, high, err
}

// SegmentOf returns the segment that has a document.
func (v *View) SegmentOf(doc uint32) *Segment {
	i, _ := slices.BinarySearchFunc(v.Segs, doc, func(s Segment, d uint32) int {
		switch {
		case s.First+s.count <= d:
			return -1
		case s.First > d:
			return 1
		}
		return 0
	})
	return &v.Segs[i]
}
