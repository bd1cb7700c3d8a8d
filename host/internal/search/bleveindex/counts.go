package bleveindex

import (
	"cmp"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/parley-search/parley/host/internal/base/rawjson"
)

// A Count is a value while it is being counted.
type Count struct {
	Key   string // what it is compared by
	Shown string // as the first document that came writes it
	Count int
	// Number: it is a number, and Key what is written for it.
	Number bool
	// several: it is written in several ways. seq is then the place, in the order of
	// insertion, of the document that Shown is of.
	several bool
	seq     float64
}

// CountValues returns the values of a field among docs, which are sorted, as far as
// keep (nil: all) takes their keys. Nothing of it is from other documents. A number and
// a text that is written like it are two values with one key.
func (v *View) CountValues(field string, docs []uint32, keep func(key string) bool) ([]Count, error) {
	byKey := map[string]*Count{}
	several := false
	// texts: what looks like a number is none; takes says which values of a document
	// count, nil: all.
	count := func(seg *Segment, c *textColumn, part []uint32, texts bool, takes func(doc, value uint32) bool) error {
		// A document that writes a value in two ways has it once.
		written, again := make([]int, len(c.Keys)), make([]int, len(c.Keys))
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
					again[n]++
				}
			}
		}
		for n, count := range written {
			if err := v.Step(); err != nil {
				return err
			}
			key := c.Keys[n]
			if count == 0 || keep != nil && !keep(key) {
				continue
			}
			number, of := LooksLikeNumber(key), key
			if number && texts {
				number, of = false, key+textMark
			}
			value := byKey[of]
			if value == nil {
				value = &Count{Key: key, Shown: c.shown[n], Number: number, seq: math.Inf(1)}
				byKey[of] = value
			}
			value.Count += count - again[n]
			value.several = value.several || c.shown[n] != value.Shown
			several = several || value.several
		}
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
			return LooksLikeNumber(c.Keys[value]) && !hasNumber(numbersOf, doc, c.Keys[value])
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
	if err == nil && several {
		err = v.showFirst(field, docs, byKey)
	}
	out := make([]Count, 0, len(byKey))
	for _, value := range byKey {
		out = append(out, *value)
	}
	return out, err
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

// ShowFirst has values of a field shown as the first document of all that came writes
// them, hit or not.
func (v *View) ShowFirst(field string, values []Count) error {
	byKey := map[string]*Count{}
	for i := range v.Segs {
		c, err := v.TextColumn(&v.Segs[i], FieldText+field)
		if err != nil {
			return err
		}
		for k := range values {
			value := &values[k]
			n, _ := slices.BinarySearch(c.Keys, value.Key)
			for ; n < len(c.Keys) && c.Keys[n] == value.Key; n++ {
				if c.shown[n] != value.Shown && !value.Number {
					value.several, value.seq = true, math.Inf(1)
					byKey[value.Key] = value
				}
			}
		}
	}
	if len(byKey) == 0 {
		return nil
	}
	return v.showFirst(field, v.Live.ToArray(), byKey)
}

// showFirst has values that are written in several ways shown as the first document
// that came writes them.
func (v *View) showFirst(field string, docs []uint32, byKey map[string]*Count) error {
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
				value := byKey[c.Keys[n]]
				if value == nil || value.Number {
					value = byKey[c.Keys[n]+textMark]
				}
				if value != nil && value.several && seqs[from+i] < value.seq {
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
		if low == nil || first < *low {
			low = &first
		}
		if high == nil || last > *high {
			high = &last
		}
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
