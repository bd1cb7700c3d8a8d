package folder

import (
	"slices"
)

// A Count is a value while it is being counted.
type Count struct {
	Key   string // what it is compared by
	Shown string
	Count int
	Most  int // of those who write it as shown
}

// CountValues returns the values of a field among docs, which are sorted, as far as
// keep (nil: all) takes their keys. Nothing of it is from other documents.
func (v *View) CountValues(field string, docs []uint32, keep func(key string) bool) ([]Count, error) {
	byKey := map[string]*Count{}
	err := v.eachPart(docs, func(seg *Segment, _ int, part []uint32) error {
		c, err := v.TextColumn(seg, FieldText+field)
		if err != nil {
			return err
		}
		// A document that writes a value in two ways has it once.
		written, again := make([]int, len(c.Keys)), make([]int, len(c.Keys))
		for _, d := range part {
			if err := v.Step(); err != nil {
				return err
			}
			texts := c.Of(d - seg.First)
			for i, n := range texts {
				written[n]++
				if i > 0 && c.Keys[n] == c.Keys[texts[i-1]] {
					again[n]++
				}
			}
		}
		for n, count := range written {
			if err := v.Step(); err != nil {
				return err
			}
			key := c.Keys[n]
			if count == 0 || key == "" || keep != nil && !keep(key) {
				continue
			}
			value := byKey[key]
			if value == nil {
				value = &Count{Key: key}
				byKey[key] = value
			}
			if value.Count += count - again[n]; count > value.Most {
				value.Most, value.Shown = count, c.shown[n]
			}
		}
		return nil
	})
	out := make([]Count, 0, len(byKey))
	for _, value := range byKey {
		out = append(out, *value)
	}
	return out, err
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
