package bleveindex

import (
	"strconv"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/parley-search/parley/host/internal/base/rawjson"
)

// TextRange returns the documents with a text at attr, true and false among them but no
// number, whose facet key is from low to high, and which keep takes; high "": no bound
// above, keep nil: all. A text that looks like a number does not count in a document
// that has this number, too.
func (v *View) TextRange(attr, low, high string, keep func(key string) bool) (*roaring.Bitmap, error) {
	out := roaring.New()
	var above []byte
	if high != "" {
		above = NextKey([]byte(high + "\x00"))
	}
	from := []byte(low)
	if v.foldsMore { // terms are in another order than keys
		from, above = nil, nil
	}
	for i := range v.Segs {
		seg := &v.Segs[i]
		texts, err := v.textsOf(seg, attr)
		if err != nil {
			return nil, err
		}
		if !texts.plain && texts.likeNumbers.IsEmpty() {
			continue
		}
		err = seg.eachTerm(FieldText+attr, from, above, seg.snap.Deleted(), func(term string, docs func() (*roaring.Bitmap, error)) error {
			if err := v.Step(); err != nil {
				return err
			}
			key, shown := v.facetTerm(term)
			if shown == "" || key < low || high != "" && key > high || keep != nil && !keep(key) {
				return nil
			}
			like := LooksLikeNumber(key)
			if like && texts.likeNumbers.IsEmpty() {
				return nil
			}
			b, err := docs()
			if err != nil {
				return err
			}
			if like && b.Intersects(texts.likeNumbers) {
				numbers, err := v.withNumber(seg, attr, key)
				if err != nil {
					return err
				}
				b = roaring.AndNot(b, numbers)
			} else if like {
				return nil
			}
			seg.AddTo(out, b)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// LooksLikeNumber reports whether key is what a number is written as.
func LooksLikeNumber(key string) bool {
	if key == "" || key[0] != '-' && (key[0] < '0' || key[0] > '9') {
		return false
	}
	f, err := strconv.ParseFloat(key, 64)
	return err == nil && rawjson.FormatNumber(f) == key
}

// DistinctValues appends to out what tells the values of a document in a field, that of
// FieldText and an attribute, from those of others: a text is another value than the
// number that it looks like.
func (v *View) DistinctValues(out []string, field string, doc uint32) ([]string, error) {
	seg := v.SegmentOf(doc)
	c, err := v.TextColumn(seg, field)
	if err != nil {
		return out, err
	}
	attr := field[len(FieldText):]
	var numbers *column[float64] // of a document with texts that look like one
	for _, n := range c.Of(doc - seg.First) {
		key := c.Keys[n]
		if c.like[n] {
			if numbers == nil {
				texts, err := v.textsOf(seg, attr)
				if err != nil {
					return out, err
				}
				if texts.likeNumbers.Contains(doc - seg.First) {
					if numbers, err = v.numberColumn(seg, fieldNumber+attr); err != nil {
						return out, err
					}
				}
			}
			if numbers != nil && !hasNumber(numbers, doc-seg.First, key) {
				key += textMark
			}
		}
		out = append(out, key)
	}
	return out, nil
}

// segmentTexts tells the texts of an attribute in a segment from its numbers. Only for
// reading.
type segmentTexts struct {
	plain       bool            // there are some that no number looks like
	likeNumbers *roaring.Bitmap // the documents with some that look like a number that is not there
}

// textsOf reads the texts of an attribute in a segment, once.
func (v *View) textsOf(seg *Segment, attr string) (*segmentTexts, error) {
	kept, err := v.keptIn(v.columns.columns, seg, FieldText+attr+" texts", func() (any, int, error) {
		t := &segmentTexts{likeNumbers: roaring.New()}
		err := seg.eachTerm(FieldText+attr, nil, nil, nil, func(term string, docs func() (*roaring.Bitmap, error)) error {
			if err := v.Step(); err != nil {
				return err
			}
			key, _ := v.facetTerm(term)
			if !LooksLikeNumber(key) {
				t.plain = true
				return nil
			}
			b, err := docs()
			if err != nil {
				return err
			}
			numbers, err := v.withNumber(seg, attr, key)
			if err == nil {
				t.likeNumbers.Or(roaring.AndNot(b, numbers))
			}
			return err
		})
		return t, 512 + int(t.likeNumbers.GetSizeInBytes()), err
	})
	if err != nil {
		return nil, err
	}
	return kept.(*segmentTexts), nil
}

// withNumber returns the documents of a segment, numbered within it and deleted ones
// among them, that have the number at attr that key is written for.
func (v *View) withNumber(seg *Segment, attr, key string) (*roaring.Bitmap, error) {
	f, err := strconv.ParseFloat(key, 64)
	if err != nil {
		return nil, err
	}
	dict, err := seg.Dict(fieldNumber + attr)
	if err != nil {
		return nil, err
	}
	return seg.AllPostings(dict, AppendNumber(nil, f))
}
