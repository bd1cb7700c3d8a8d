package bleveindex

import (
	"context"
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	bleveapi "github.com/blevesearch/bleve_index_api"
)

// A View is a folder at one moment: all segments as one, documents numbered
// through. Not safe for concurrent use; its bitmaps are good until close,
// since they may lie in mapped files.
type View struct {
	reader  bleveapi.IndexReader
	letGo   func() // of the folder
	snap    *scorch.IndexSnapshot
	Segs    []Segment
	Live    *roaring.Bitmap // documents that are not deleted
	folder  string          // its name
	columns *ColumnCache
	// foldsMore: the keys of facet terms are of a layout that took values with
	// and without marks for the same. They are made anew from the values, at the
	// price of reading all terms of a field.
	foldsMore bool

	until context.Context // ends what is under way, see under; nil: nothing does
	steps int
}

// View opens f as it is now; columns keeps what is made of its segments.
func (f *Folder) View(columns *ColumnCache) (*View, error) {
	idx, letGo, err := f.hold()
	if err != nil {
		return nil, fmt.Errorf("open index for reading: %w", err)
	}
	var r bleveapi.IndexReader
	adv, err := idx.Advanced()
	if err == nil {
		r, err = adv.Reader()
	}
	if err != nil {
		letGo()
		return nil, fmt.Errorf("open index for reading: %w", err)
	}
	v := &View{reader: r, letGo: letGo, snap: r.(*scorch.IndexSnapshot), Live: roaring.New(), folder: f.Name(), columns: columns, foldsMore: f.Schema.Layout == oldestLayout}
	first := uint32(0)
	for _, s := range v.snap.Segments() {
		n := uint32(s.Segment().Count())
		v.Segs = append(v.Segs, Segment{snap: s, First: first, count: n, dicts: map[string]Dictionary{}, packed: f.Schema.Layout >= firstPacked})
		v.Live.AddRange(uint64(first), uint64(first)+uint64(n))
		if del := s.Deleted(); del != nil {
			v.Live.AndNot(roaring.AddOffset(del, first))
		}
		first += n
	}
	return v, nil
}

// Size is how many numbers documents have, those that are deleted among them.
func (v *View) Size() (n int) {
	for i := range v.Segs {
		n += int(v.Segs[i].count)
	}
	return n
}

// Close ends the use of the view, and of its bitmaps.
func (v *View) Close() error {
	defer v.letGo()
	return v.reader.Close()
}

// Under calls f, whose filters and counts end with the cause of ctx once that is
// done.
func (v *View) Under(ctx context.Context, f func() error) error {
	before := v.until
	v.until = ctx
	defer func() { v.until = before }()
	return f()
}

// stepsAtOnce is how many steps are made between two looks at the time: a
// millisecond's work or a few. What takes fewer is never cut off.
const stepsAtOnce = 1024

// Step counts a step of what under calls: a condition, a term, a document.
func (v *View) Step() error {
	if v.steps++; v.steps%stepsAtOnce == 0 && v.until != nil && v.until.Err() != nil {
		return context.Cause(v.until)
	}
	return nil
}

// ID returns the id of a document.
func (v *View) ID(doc uint32) (string, error) {
	id, err := v.snap.ExternalID(bleveapi.NewIndexInternalID(nil, uint64(doc)))
	if err != nil {
		return "", fmt.Errorf("read document id: %w", err)
	}
	return id, nil
}

// Number returns the number of the document that has an id, nil where there is
// none.
func (v *View) Number(id string) (*uint32, error) {
	internal, err := v.snap.InternalID(id)
	if err != nil {
		return nil, fmt.Errorf("find document: %w", err)
	}
	if internal == nil {
		return nil, nil
	}
	return new(uint32(internal.Value())), nil
}

// term returns the documents that have a term in a field.
func (v *View) term(field, term string) (*roaring.Bitmap, error) {
	out := roaring.New()
	for i := range v.Segs {
		s := &v.Segs[i]
		d, err := s.Dict(field)
		if err != nil {
			return nil, err
		}
		b, err := s.Postings(d, []byte(term))
		if err != nil {
			return nil, err
		}
		s.AddTo(out, b)
	}
	return out, nil
}

// between returns the documents that have a term of at least low and below
// high (nil: no end) in a field, as far as keep (nil: all) takes it.
func (v *View) between(field string, low, high []byte, keep func(term string) bool) (*roaring.Bitmap, error) {
	out := roaring.New()
	err := v.eachTerm(field, low, high, func(s *Segment, term string, docs func() (*roaring.Bitmap, error)) error {
		if keep != nil && !keep(term) {
			return nil
		}
		b, err := docs()
		if err == nil {
			s.AddTo(out, b)
		}
		return err
	})
	return out, err
}

// eachTerm calls f for the terms of a field in each segment, in order within
// it, from low to below high.
func (v *View) eachTerm(field string, low, high []byte, f func(s *Segment, term string, docs func() (*roaring.Bitmap, error)) error) error {
	for i := range v.Segs {
		s := &v.Segs[i]
		err := s.eachTerm(field, low, high, s.snap.Deleted(), func(term string, docs func() (*roaring.Bitmap, error)) error {
			if err := v.Step(); err != nil {
				return err
			}
			return f(s, term, docs)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
