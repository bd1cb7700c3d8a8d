package bleveindex

import (
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
)

// A havingCell is which documents of a segment, deleted ones among them, have
// numbers of a set as it was at a version.
type havingCell struct {
	mu      sync.Mutex
	version uint64
	docs    *roaring.Bitmap // nil: none was made. Only for reading
}

// Having returns the documents of the view whose Seq is in a set that goes by a name.
// version is another one whenever the set has changed; has returns what reports
// whether a number is in it, and is called only where that is not known of a
// segment.
func (v *View) Having(name string, version uint64, has func() (func(seq uint64) bool, error)) (*roaring.Bitmap, error) {
	out := roaring.New()
	var in func(uint64) bool
	for i := range v.Segs {
		seg := &v.Segs[i]
		kept, err := v.keptIn(v.columns.columns, seg, "having "+name, func() (any, int, error) {
			return &havingCell{}, 512 + int(seg.count)/8, nil
		})
		if err != nil {
			return nil, err
		}
		cell := kept.(*havingCell)
		cell.mu.Lock()
		if cell.docs == nil || cell.version != version {
			if in == nil {
				in, err = has()
			}
			var docs *roaring.Bitmap
			if err == nil {
				docs, err = v.seqsIn(seg, in)
			}
			if err != nil {
				cell.mu.Unlock()
				return nil, err
			}
			cell.version, cell.docs = version, docs
		}
		docs := cell.docs
		cell.mu.Unlock()
		seg.AddTo(out, docs)
	}
	return out, nil
}

// seqsIn returns the documents of a segment whose Seq in reports.
func (v *View) seqsIn(seg *Segment, in func(uint64) bool) (*roaring.Bitmap, error) {
	c, err := v.numberColumn(seg, FieldSeq)
	if err != nil {
		return nil, err
	}
	var docs []uint32
	for d := range seg.count {
		if n := c.Of(d); len(n) > 0 && in(uint64(n[0])) {
			docs = append(docs, d)
		}
	}
	return roaring.BitmapOf(docs...), nil
}
