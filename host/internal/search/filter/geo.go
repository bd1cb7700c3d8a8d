package filter

import (
	"fmt"
	"math"

	"github.com/parley-search/parley/host/internal/search/attribute"
)

// How the conditions about places are written.
const (
	radiusShape  = "_geoRadius(latitude, longitude, metres)"
	boxShape     = "_geoBoundingBox([latitude, longitude], [latitude, longitude])"
	polygonShape = "_geoPolygon([latitude, longitude], [latitude, longitude], [latitude, longitude], …)"
)

// The fourth number that _geoRadius may have: into how many corners a circle is
// made where places are areas. Here they are points, and circles are round.
const fewestCorners, mostCorners = 3, 1000

// geo reads one of the conditions about places.
func (p *filterParser) geo() (*Node, error) {
	n := &Node{attr: attribute.Geo, column: p.column()}
	var err error
	switch {
	case p.take("_geoRadius"):
		n.kind = radiusNode
		err = p.radius(n)
	case p.take("_geoBoundingBox"):
		n.kind = boxNode
		err = p.corners(n, boxShape, 2, 2)
	default:
		p.i++
		n.kind = polygonNode
		err = p.corners(n, polygonShape, 3, math.MaxInt)
	}
	if err != nil {
		return nil, err
	}
	return n, p.checkPlace(n)
}

// sign takes a sign of a condition that is written like shape.
func (p *filterParser) sign(sign, shape string) error {
	if !p.take(sign) {
		return p.expected(fmt.Sprintf("%s as in %s", sign, shape))
	}
	return nil
}

// radius reads what is between the parentheses of _geoRadius.
func (p *filterParser) radius(n *Node) error {
	for _, sign := range []string{"(", ",", ","} {
		if err := p.sign(sign, radiusShape); err != nil {
			return err
		}
		f, err := p.number()
		if err != nil {
			return err
		}
		n.nums = append(n.nums, f)
	}
	if p.take(",") {
		f, err := p.number()
		if err != nil {
			return err
		}
		if f != math.Trunc(f) || f < fewestCorners || f > mostCorners {
			return &Error{fmt.Sprintf("resolution %v of the condition at column %d; expected an integer from %d to %d", f, n.column, fewestCorners, mostCorners)}
		}
	}
	return p.sign(")", radiusShape)
}

// corners reads the places, at least fewest and at most most, between the
// parentheses of a condition that is written like shape.
func (p *filterParser) corners(n *Node, shape string, fewest, most int) error {
	for count := 1; ; count++ {
		if err := p.budget.Take(1); err != nil {
			return err
		}
		before := ","
		if count == 1 {
			before = "("
		}
		if err := p.sign(before, shape); err != nil {
			return err
		}
		for _, sign := range []string{"[", ","} {
			if err := p.sign(sign, shape); err != nil {
				return err
			}
			f, err := p.number()
			if err != nil {
				return err
			}
			n.nums = append(n.nums, f)
		}
		if err := p.sign("]", shape); err != nil {
			return err
		}
		if count == most || count >= fewest && p.is(")") {
			return p.sign(")", shape)
		}
	}
}

// bounds returns the box around the corners of a polygon.
func bounds(corners []float64) (top, right, bottom, left float64) {
	top, right, bottom, left = corners[0], corners[1], corners[0], corners[1]
	for i := 0; i < len(corners); i += 2 {
		top, bottom = max(top, corners[i]), min(bottom, corners[i])
		right, left = max(right, corners[i+1]), min(left, corners[i+1])
	}
	return top, right, bottom, left
}

// inPolygon reports whether a place is in a polygon or on its edge. Its edges are
// straight on a map whose degrees are all of one size, and its last corner is joined
// to the first.
func inPolygon(corners []float64, lat, lng float64) bool {
	in := false
	fromLat, fromLng := corners[len(corners)-2], corners[len(corners)-1]
	for i := 0; i < len(corners); i += 2 {
		toLat, toLng := corners[i], corners[i+1]
		side := (toLng-fromLng)*(lat-fromLat) - (toLat-fromLat)*(lng-fromLng)
		between := lat >= min(fromLat, toLat) && lat <= max(fromLat, toLat) && lng >= min(fromLng, toLng) && lng <= max(fromLng, toLng)
		if side == 0 && between {
			return true
		}
		if (fromLat > lat) != (toLat > lat) && (side > 0) == (toLat > fromLat) {
			in = !in // a line to the east crosses this edge
		}
		fromLat, fromLng = toLat, toLng
	}
	return in
}

// checkPlace checks that the numbers of n are places on Earth.
func (p *filterParser) checkPlace(n *Node) error {
	for i := 0; i+1 < len(n.nums); i += 2 {
		if math.Abs(n.nums[i]) > 90 {
			return &Error{fmt.Sprintf("latitude %v of the condition at column %d; expected -90 to 90", n.nums[i], n.column)}
		}
		if math.Abs(n.nums[i+1]) > 180 {
			return &Error{fmt.Sprintf("longitude %v of the condition at column %d; expected -180 to 180", n.nums[i+1], n.column)}
		}
	}
	if n.kind == boxNode && n.nums[0] < n.nums[2] {
		return &Error{fmt.Sprintf("the top latitude %v of the condition at column %d is below the bottom one %v; the first corner is the north-eastern one", n.nums[0], n.column, n.nums[2])}
	}
	if n.kind == radiusNode && n.nums[2] < 0 {
		return &Error{fmt.Sprintf("distance %v of the condition at column %d; expected metres, zero or more", n.nums[2], n.column)}
	}
	return nil
}
