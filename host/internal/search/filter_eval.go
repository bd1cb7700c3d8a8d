package search

import (
	"math"
	"strconv"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
)

// documents returns the documents that n lets through. The bitmap is the
// caller's.
func (n *node) documents(v *view) (*roaring.Bitmap, error) {
	switch n.kind {
	case andNode, orNode:
		out, err := n.kids[0].documents(v)
		for _, k := range n.kids[1:] {
			if err != nil {
				return nil, err
			}
			var b *roaring.Bitmap
			if b, err = k.documents(v); err != nil {
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
		b, err := n.kids[0].documents(v)
		if err != nil {
			return nil, err
		}
		return roaring.AndNot(v.live, b), nil
	case compareNode:
		return n.compared(v)
	case inNode:
		out := roaring.New()
		for _, value := range n.values {
			b, err := v.equal(n.attr, value)
			if err != nil {
				return nil, err
			}
			out.Or(b)
		}
		return out, nil
	case rangeNode:
		return v.within(n.attr, n.nums[0], n.nums[1])
	case existsNode:
		return v.term(fieldExists, n.attr)
	case nullNode:
		return v.term(fieldNull, n.attr)
	case emptyNode:
		return v.term(fieldEmpty, n.attr)
	case startsNode:
		low := []byte(facetKey(n.values[0]))
		return v.between(fieldText+n.attr, low, nextKey(low), nil)
	case containsNode:
		part := facetKey(n.values[0])
		return v.between(fieldText+n.attr, nil, nil, func(term string) bool {
			key, _, _ := strings.Cut(term, "\x00")
			return strings.Contains(key, part)
		})
	case radiusNode, boxNode:
		return n.places(v)
	}
	panic("search: filter node of an unknown kind")
}

// compared evaluates a node of compareNode.
func (n *node) compared(v *view) (*roaring.Bitmap, error) {
	switch n.op {
	case "=":
		return v.equal(n.attr, n.values[0])
	case "!=":
		b, err := v.equal(n.attr, n.values[0])
		if err != nil {
			return nil, err
		}
		return roaring.AndNot(v.live, b), nil
	case ">":
		return v.within(n.attr, math.Nextafter(n.nums[0], math.Inf(1)), math.Inf(1))
	case ">=":
		return v.within(n.attr, n.nums[0], math.Inf(1))
	case "<":
		return v.within(n.attr, math.Inf(-1), math.Nextafter(n.nums[0], math.Inf(-1)))
	}
	return v.within(n.attr, math.Inf(-1), n.nums[0])
}

// equalKeys are the keys that a value of a filter is equal to: as text, and as
// a number where it is one.
func equalKeys(value string) []string {
	keys := []string{facetKey(value)}
	if f, err := strconv.ParseFloat(value, 64); err == nil {
		if k := numberText(f); k != keys[0] {
			keys = append(keys, k)
		}
	}
	return keys
}

// equal returns the documents that have a value at attr.
func (v *view) equal(attr, value string) (*roaring.Bitmap, error) {
	out := roaring.New()
	for _, k := range equalKeys(value) {
		low := []byte(k + "\x00")
		b, err := v.between(fieldText+attr, low, nextKey(low), nil)
		if err != nil {
			return nil, err
		}
		out.Or(b)
	}
	return out, nil
}

// within returns the documents that have a number from low to high at attr.
func (v *view) within(attr string, low, high float64) (*roaring.Bitmap, error) {
	if low > high {
		return roaring.New(), nil
	}
	return v.between(fieldNumber+attr, appendNumber(nil, low), nextKey(appendNumber(nil, high)), nil)
}

const earthRadius = 6_371_008.8 // metres, mean

// places evaluates the two conditions about places.
func (n *node) places(v *view) (*roaring.Bitmap, error) {
	if n.kind == boxNode {
		return v.box(n.nums[0], n.nums[1], n.nums[2], n.nums[3])
	}
	lat, lng, metres := n.nums[0], n.nums[1], n.nums[2]
	dLat := metres / earthRadius * 180 / math.Pi
	top, bottom := min(lat+dLat, 90), max(lat-dLat, -90)
	right, left := 180.0, -180.0
	// Near a pole, or around half the Earth, all longitudes are within reach.
	if c := math.Cos(max(math.Abs(top), math.Abs(bottom)) * math.Pi / 180); c > 1e-9 && dLat/c < 180 {
		right, left = wrap(lng+dLat/c), wrap(lng-dLat/c)
	}
	near, err := v.box(top, right, bottom, left)
	if err != nil {
		return nil, err
	}
	docs := near.ToArray()
	away, err := v.distances(lat, lng, docs)
	if err != nil {
		return nil, err
	}
	out := roaring.New()
	for i, d := range docs {
		if away[i] <= metres {
			out.Add(d)
		}
	}
	return out, nil
}

// box returns the documents in a box of degrees; left of right may lie beyond
// the date line.
func (v *view) box(top, right, bottom, left float64) (*roaring.Bitmap, error) {
	out, err := v.within(geoLat, bottom, top)
	if err != nil {
		return nil, err
	}
	lngs, err := v.within(geoLng, left, right)
	if err == nil && left > right {
		var west *roaring.Bitmap
		if lngs, err = v.within(geoLng, left, 180); err == nil {
			west, err = v.within(geoLng, -180, right)
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

// distance is the length in metres of the way between two places.
func distance(lat1, lng1, lat2, lng2 float64) float64 {
	const rad = math.Pi / 180
	sLat := math.Sin((lat2 - lat1) * rad / 2)
	sLng := math.Sin((lng2 - lng1) * rad / 2)
	h := sLat*sLat + math.Cos(lat1*rad)*math.Cos(lat2*rad)*sLng*sLng
	return 2 * earthRadius * math.Asin(math.Sqrt(min(h, 1)))
}
