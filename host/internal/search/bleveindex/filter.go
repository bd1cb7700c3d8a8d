package bleveindex

import (
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/parley-search/parley/host/internal/search/text"
)

// What filters ask of a view: see [filter.Columns].

// AllDocuments returns the documents that are not deleted. Only for reading.
func (v *View) AllDocuments() *roaring.Bitmap { return v.Live }

// Existing returns the documents that have the attribute.
func (v *View) Existing(attr string) (*roaring.Bitmap, error) { return v.term(fieldExists, attr) }

// Null returns the documents that have null at the attribute.
func (v *View) Null(attr string) (*roaring.Bitmap, error) { return v.term(fieldNull, attr) }

// Empty returns the documents that have "", [] or {} at the attribute.
func (v *View) Empty(attr string) (*roaring.Bitmap, error) { return v.term(fieldEmpty, attr) }

// TextsFrom returns the documents with a scalar whose facet term begins with
// prefix.
func (v *View) TextsFrom(attr, prefix string) (*roaring.Bitmap, error) {
	if v.foldsMore {
		return v.between(FieldText+attr, nil, nil, func(term string) bool {
			key, shown := v.facetTerm(term)
			return shown != "" && strings.HasPrefix(key+"\x00", prefix)
		})
	}
	var keep func(term string) bool
	if prefix == emptyText {
		keep = func(term string) bool { return term != emptyText }
	}
	return v.between(FieldText+attr, []byte(prefix), NextKey([]byte(prefix)), keep)
}

// emptyText is the facet term of the empty text, which is no value.
const emptyText = "\x00"

// facetTerm returns the two halves of a facet term.
func (v *View) facetTerm(term string) (key, shown string) {
	key, shown, _ = strings.Cut(term, "\x00")
	if v.foldsMore {
		key = text.FacetKey(shown)
	}
	return key, shown
}

// Numbers returns the documents that have a number from low to high at attr.
func (v *View) Numbers(attr string, low, high float64) (*roaring.Bitmap, error) {
	if low > high {
		return roaring.New(), nil
	}
	return v.between(fieldNumber+attr, AppendNumber(nil, low), NextKey(AppendNumber(nil, high)), nil)
}
