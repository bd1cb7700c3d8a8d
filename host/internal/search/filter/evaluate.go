package filter

import (
	"math"
	"strconv"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/search/attribute"
	"github.com/parley-search/parley/host/internal/search/text"
)

// Columns are the values of an index's documents, by attribute. The bitmaps are
// the caller's but where it says otherwise.
type Columns interface {
	// Step is called at each condition; its error ends the evaluation.
	Step() error
	// AllDocuments returns the documents that there are. Only for reading.
	AllDocuments() *roaring.Bitmap
	// Existing, Null and Empty return the documents that have the attribute, have
	// null there, and have "", [] or {} there.
	Existing(attr string) (*roaring.Bitmap, error)
	Null(attr string) (*roaring.Bitmap, error)
	Empty(attr string) (*roaring.Bitmap, error)
	// TextsFrom returns the documents with a scalar whose facet term begins with
	// prefix.
	TextsFrom(attr, prefix string) (*roaring.Bitmap, error)
	// TextRange returns the documents with a text, true or false whose facet key is from
	// low to high and which keep takes; high "": no bound above, keep nil: all. A text
	// that looks like a number does not count in a document that has this number, too.
	TextRange(attr, low, high string, keep func(key string) bool) (*roaring.Bitmap, error)
	// Numbers returns the documents with a number from low to high.
	Numbers(attr string, low, high float64) (*roaring.Bitmap, error)
	// Places returns where each of docs, which are sorted, is, in degrees; +Inf where
	// it is nowhere.
	Places(docs []uint32) (lats, lngs []float64, err error)
}

// Documents returns the documents that n lets through. The bitmap is the
// caller's.
func (n *Node) Documents(c Columns) (*roaring.Bitmap, error) {
	if err := c.Step(); err != nil {
		return nil, err
	}
	switch n.kind {
	case andNode, orNode:
		out, err := n.kids[0].Documents(c)
		for _, k := range n.kids[1:] {
			if err != nil {
				return nil, err
			}
			var b *roaring.Bitmap
			if b, err = k.Documents(c); err != nil {
				return nil, err
			}
			if n.kind == andNode {
				out.And(b)
			} else {
				out.Or(b)
			}
		}
		return out, err
	case notNode:
		b, err := n.kids[0].Documents(c)
		if err != nil {
			return nil, err
		}
		return roaring.AndNot(c.AllDocuments(), b), nil
	case compareNode:
		return n.compared(c)
	case inNode:
		out := roaring.New()
		for _, value := range n.values {
			b, err := equal(c, n.attr, value)
			if err != nil {
				return nil, err
			}
			out.Or(b)
		}
		return out, nil
	case rangeNode:
		return n.inOrder(c)
	case existsNode:
		return c.Existing(n.attr)
	case nullNode:
		return c.Null(n.attr)
	case emptyNode:
		return c.Empty(n.attr)
	case startsNode:
		prefix := text.FacetKey(n.values[0])
		if prefix == "" {
			return c.Existing(n.attr)
		}
		return c.TextRange(n.attr, prefix, prefix+maxRune, func(key string) bool { return strings.HasPrefix(key, prefix) })
	case containsNode:
		part := text.FacetKey(n.values[0])
		return c.TextRange(n.attr, "", "", func(key string) bool { return strings.Contains(key, part) })
	case radiusNode, boxNode, polygonNode:
		return n.places(c)
	}
	panic("search: filter node of an unknown kind")
}

// compared evaluates a node of compareNode.
func (n *Node) compared(c Columns) (*roaring.Bitmap, error) {
	switch n.op {
	case "=":
		return equal(c, n.attr, n.values[0])
	case "!=":
		b, err := equal(c, n.attr, n.values[0])
		if err != nil {
			return nil, err
		}
		return roaring.AndNot(c.AllDocuments(), b), nil
	}
	return n.inOrder(c)
}

// maxRune is behind all texts that begin alike.
const maxRune = "\U0010ffff"

// inOrder evaluates a range, or a comparison other than equality: numbers by value,
// texts by their keys.
func (n *Node) inOrder(c Columns) (*roaring.Bitmap, error) {
	low, high := n.bounds()
	out, err := c.TextRange(n.attr, low, high, func(key string) bool { return n.holdsText(key) })
	if err != nil || n.nums == nil {
		return out, err
	}
	from, to := math.Inf(-1), math.Inf(1)
	switch n.op {
	case "": // a range
		from, to = n.nums[0], n.nums[1]
	case ">":
		from = math.Nextafter(n.nums[0], to)
	case ">=":
		from = n.nums[0]
	case "<":
		to = math.Nextafter(n.nums[0], from)
	case "<=":
		to = n.nums[0]
	}
	numbers, err := c.Numbers(n.attr, from, to)
	if err == nil {
		out.Or(numbers)
	}
	return out, err
}

// bounds are the least and the last key that a text within order may have; "" is no
// bound.
func (n *Node) bounds() (low, high string) {
	switch n.op {
	case "":
		return n.keys[0], n.keys[1]
	case ">", ">=":
		return n.keys[0], ""
	}
	return "", n.keys[0]
}

// holdsText reports whether a text of a key is within n's order.
func (n *Node) holdsText(key string) bool {
	switch n.op {
	case "":
		return n.keys[0] <= key && key <= n.keys[1]
	case ">":
		return key > n.keys[0]
	case ">=":
		return key >= n.keys[0]
	case "<":
		return key < n.keys[0]
	}
	return key <= n.keys[0]
}

// equalKeys are the keys that a value of a filter is equal to: as text, and as
// a number where it is one.
func equalKeys(value string) []string {
	keys := []string{text.FacetKey(value)}
	if f, err := strconv.ParseFloat(value, 64); err == nil {
		if k := rawjson.FormatNumber(f); k != keys[0] {
			keys = append(keys, k)
		}
	}
	return keys
}

// isTextOnly reports whether a value of a filter is equal to texts alone, although it
// would be a number without the space around it. So it is in Meilisearch.
func isTextOnly(value string) bool {
	key := text.FacetKey(value)
	x, ok := finite(key)
	return ok && strings.TrimSpace(value) != value && rawjson.FormatNumber(x) == key
}

// equal returns the documents that have a value at attr.
func equal(c Columns, attr, value string) (*roaring.Bitmap, error) {
	if isTextOnly(value) {
		key := text.FacetKey(value)
		return c.TextRange(attr, key, key, nil)
	}
	out := roaring.New()
	for _, k := range equalKeys(value) {
		b, err := c.TextsFrom(attr, k+"\x00")
		if err != nil {
			return nil, err
		}
		out.Or(b)
	}
	return out, nil
}

// places evaluates a condition about places.
func (n *Node) places(c Columns) (*roaring.Bitmap, error) {
	switch n.kind {
	case boxNode:
		return box(c, n.nums[0], n.nums[1], n.nums[2], n.nums[3])
	case polygonNode:
		top, right, bottom, left := bounds(n.nums)
		return within(c, top, right, bottom, left, func(lat, lng float64) bool { return inPolygon(n.nums, lat, lng) })
	}
	lat, lng, metres := n.nums[0], n.nums[1], n.nums[2]
	dLat := metres / attribute.EarthRadius * 180 / math.Pi
	top, bottom := min(lat+dLat, 90), max(lat-dLat, -90)
	right, left := 180.0, -180.0
	// Near a pole, or around half the Earth, all longitudes are within reach.
	if cos := math.Cos(max(math.Abs(top), math.Abs(bottom)) * math.Pi / 180); cos > 1e-9 && dLat/cos < 180 {
		right, left = wrap(lng+dLat/cos), wrap(lng-dLat/cos)
	}
	return within(c, top, right, bottom, left, func(docLat, docLng float64) bool {
		return attribute.Distance(lat, lng, docLat, docLng) <= metres
	})
}

// within returns the documents in a box of degrees whose place keep takes.
func within(c Columns, top, right, bottom, left float64, keep func(lat, lng float64) bool) (*roaring.Bitmap, error) {
	near, err := box(c, top, right, bottom, left)
	if err != nil {
		return nil, err
	}
	docs := near.ToArray()
	lats, lngs, err := c.Places(docs)
	if err != nil {
		return nil, err
	}
	out := roaring.New()
	for i, d := range docs {
		if keep(lats[i], lngs[i]) {
			out.Add(d)
		}
	}
	return out, nil
}

// box returns the documents in a box of degrees; left of right may lie beyond
// the date line.
func box(c Columns, top, right, bottom, left float64) (*roaring.Bitmap, error) {
	out, err := c.Numbers(attribute.GeoLat, bottom, top)
	if err != nil {
		return nil, err
	}
	lngs, err := c.Numbers(attribute.GeoLng, left, right)
	if err == nil && left > right {
		var west *roaring.Bitmap
		if lngs, err = c.Numbers(attribute.GeoLng, left, 180); err == nil {
			west, err = c.Numbers(attribute.GeoLng, -180, right)
		}
		if err == nil {
			lngs.Or(west)
		}
	}
	if err != nil {
		return nil, err
	}
	out.And(lngs)
	return out, nil
}

// wrap brings a longitude into -180 to 180.
func wrap(lng float64) float64 {
	switch {
	case lng > 180:
		return lng - 360
	case lng < -180:
		return lng + 360
	}
	return lng
}
