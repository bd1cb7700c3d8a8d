package filter

import (
	"fmt"
	"math"

	"github.com/parley-search/parley/host/internal/search/attribute"
)

// How the two conditions about places are written.
const (
	radiusShape = "_geoRadius(latitude, longitude, metres)"
	boxShape    = "_geoBoundingBox([latitude, longitude], [latitude, longitude])"
)

// geo reads one of the two conditions about places.
func (p *filterParser) geo() (*Node, error) {
	n := &Node{kind: radiusNode, attr: attribute.Geo, column: p.column()}
	box := !p.take("_geoRadius")
	shape := radiusShape
	if box {
		p.i++
		n.kind = boxNode
		shape = boxShape
	}
	signs := []string{"(", "", ",", "", ",", "", ")"}
	if box {
		signs = []string{"(", "[", "", ",", "", "]", ",", "[", "", ",", "", "]", ")"}
	}
	for _, sign := range signs {
		if sign != "" {
			if !p.take(sign) {
				return nil, p.expected(fmt.Sprintf("%s as in %s", sign, shape))
			}
			continue
		}
		f, err := p.number()
		if err != nil {
			return nil, err
		}
		n.nums = append(n.nums, f)
	}
	return n, p.checkPlace(n)
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
	if n.kind == radiusNode && n.nums[2] < 0 {
		return &Error{fmt.Sprintf("distance %v of the condition at column %d; expected metres, zero or more", n.nums[2], n.column)}
	}
	return nil
}
