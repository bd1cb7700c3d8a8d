package search

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/parley-search/parley/host/internal/apierr"
)

// A nodeKind says what a filter's node asks.
type nodeKind uint8

const (
	andNode      nodeKind = iota // all of kids
	orNode                       // one of kids
	notNode                      // not kids[0]
	compareNode                  // attr op values[0]
	inNode                       // attr is one of values
	rangeNode                    // attr from nums[0] to nums[1]
	existsNode                   // attr is there
	nullNode                     // attr is null
	emptyNode                    // attr is "", [] or {}
	containsNode                 // a text of attr contains values[0]
	startsNode                   // a text of attr starts with values[0]
	radiusNode                   // _geo is within nums[2] metres of nums[0], nums[1]
	boxNode                      // _geo is in the box of two corners: lat, lng, lat, lng
)

// A node is one part of a filter. Never changed once parsed.
type node struct {
	kind   nodeKind
	attr   string
	op     string // of compareNode: = != > >= < <=
	values []string
	nums   []float64
	kids   []*node
	column int // in the expression, for errors
}

// geoAttr is the attribute that the two geo conditions are about.
const geoAttr = "_geo"

// maxFilterNodes bounds the conditions of one filter.
const maxFilterNodes = 10_000

// A filterError is a mistake in a filter, said to its author.
type filterError struct{ message string }

func (e *filterError) Error() string { return e.message }

// A featureError says that a filter needs a feature that is off.
type featureError struct{ message string }

func (e *featureError) Error() string { return e.message }

// filterCode is the code of a filter's mistake: code, but for a feature that is
// off.
func filterCode(err error, code apierr.Code) apierr.Code {
	if _, ok := errors.AsType[*featureError](err); ok {
		return apierr.FeatureNotEnabled
	}
	return code
}

// parseFilter reads a filter as a request has it: a string, or an array whose
// elements must all hold, each of them a string or an array of strings of
// which one must hold. nil stands for a filter that lets all through. An error
// is a [*filterError] or [*featureError]. contains allows CONTAINS and STARTS
// WITH.
func parseFilter(raw json.RawMessage, contains bool) (*node, error) {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil, nil
	case raw[0] == '"':
		return parseText(raw, "", contains)
	case raw[0] != '[':
		return nil, &filterError{"the filter is " + jsonType(raw) + "; expected a string, or an array of strings and arrays of strings"}
	}
	var all []*node
	var err error
	i := 0
	eachElement(raw, func(_ int, v []byte) bool {
		var n *node
		if n, err = parseElement(v, fmt.Sprintf("[%d]", i), contains); n != nil {
			all = append(all, n)
		}
		i++
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	return join(andNode, all), nil
}

// parseElement reads one element of a filter's array.
func parseElement(v []byte, place string, contains bool) (*node, error) {
	if v[0] != '[' {
		return parseText(v, place, contains)
	}
	var some []*node
	var err error
	i := 0
	eachElement(v, func(_ int, v []byte) bool {
		var n *node
		if n, err = parseText(v, fmt.Sprintf("%s[%d]", place, i), contains); n != nil {
			some = append(some, n)
		}
		i++
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	return join(orNode, some), nil
}

// parseText reads one expression out of a JSON string.
func parseText(v []byte, place string, contains bool) (*node, error) {
	if v[0] != '"' {
		return nil, &filterError{"filter" + place + " is " + jsonType(v) + "; expected a string"}
	}
	n, err := parseExpression(unquote(v), contains)
	if err != nil && place != "" {
		return nil, fmt.Errorf("filter%s: %w", place, err)
	}
	return n, err
}

// join returns the nodes as one of kind, nil for none.
func join(kind nodeKind, nodes []*node) *node {
	switch len(nodes) {
	case 0:
		return nil
	case 1:
		return nodes[0]
	}
	return &node{kind: kind, kids: nodes}
}

// and returns a filter that lets through what all of the filters do.
func and(filters ...*node) *node {
	var list []*node
	for _, f := range filters {
		if f != nil {
			list = append(list, f)
		}
	}
	return join(andNode, list)
}

// filter reads a request's filter and checks that the index has what it asks
// about. A mistake is an [apierr.Error] of code.
func (ix *index) filter(m *meta, raw json.RawMessage, code apierr.Code) (*node, error) {
	n, err := parseFilter(raw, ix.service.contains())
	if err == nil {
		err = m.Settings.allowFilter(n)
	}
	if err != nil {
		return nil, &apierr.Error{Code: filterCode(err, code), Message: sentence(err.Error())}
	}
	return n, nil
}

// allowFilter checks that the index may be asked what n asks, of all of its
// attributes.
func (s *Settings) allowFilter(n *node) (err error) {
	if n == nil {
		return nil
	}
	if n.kind <= notNode {
		for _, k := range n.kids {
			if err := s.allowFilter(k); err != nil {
				return err
			}
		}
		return nil
	}
	r, _ := s.filterRule(n.attr)
	place := n.kind == radiusNode || n.kind == boxNode
	if r.Equality && (place || !n.compares()) || r.Comparison && (place || n.compares()) {
		return nil
	}
	if r.Equality || r.Comparison {
		return &filterError{fmt.Sprintf("attribute `%.100s` at column %d may not be asked about this way: switch on %s for it in the setting filterableAttributes", n.attr, n.column, lackingFeature(n))}
	}
	known := "this index has no filterable attributes"
	if p := s.filterPatterns(); len(p) > 0 {
		known = "filterable here: " + strings.Join(p, ", ")
	}
	return &filterError{fmt.Sprintf("attribute `%.100s` at column %d is not filterable; %s; add it to the setting filterableAttributes", n.attr, n.column, known)}
}

// compares reports whether n asks about an order, and not about equality.
func (n *node) compares() bool {
	return n.kind == rangeNode || n.kind == compareNode && n.op != "=" && n.op != "!="
}

func lackingFeature(n *node) string {
	if n.compares() {
		return "features.filter.comparison"
	}
	return "features.filter.equality"
}

// sentence returns s with a capital and a full stop.
func sentence(s string) string {
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

// jsonType names the type of a JSON value, for errors.
func jsonType(v []byte) string {
	switch v[0] {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}
