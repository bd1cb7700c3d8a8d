// Package filter parses, checks and evaluates filters: `year > 2000 AND (genre = SF
// OR genre IS EMPTY)`.
//
// [Parse] reads the filter of a request and takes its conditions from a [Budget].
// [Node.Check] finds what an index does not let it ask. A filter is evaluated in
// two ways, which must agree: [Node.Documents] asks the [Columns] of a folder for
// all documents at once, and [Node.Matches] looks at one document itself, which is
// what stands between a tenant and a document that changed after it was indexed.
//
// A new condition needs a nodeKind, its syntax in parse.go, and a case in
// evaluate.go and in match.go. [Refuse] makes an error one that a client sees.
package filter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
)

// A nodeKind says what a filter's node asks.
type nodeKind uint8

const (
	andNode      nodeKind = iota // all of kids
	orNode                       // one of kids
	notNode                      // not kids[0]
	compareNode                  // attr op values[0]
	inNode                       // attr is one of values
	rangeNode                    // attr from values[0] to values[1]
	existsNode                   // attr is there
	nullNode                     // attr is null
	emptyNode                    // attr is "", [] or {}
	containsNode                 // a text of attr contains values[0]
	startsNode                   // a text of attr starts with values[0]
	radiusNode                   // _geo is within nums[2] metres of nums[0], nums[1]
	boxNode                      // _geo is in the box of two corners: lat, lng, lat, lng
	polygonNode                  // _geo is in the polygon of three corners or more: lat, lng, lat, lng…
)

// A Node is one part of a filter. Never changed once parsed.
type Node struct {
	kind   nodeKind
	attr   string
	op     string // of compareNode: = != > >= < <=
	values []string
	keys   []string  // facet keys of values, where an order is asked about
	nums   []float64 // of a condition about places; or values, where all of them are numbers
	kids   []*Node
	column int // in the expression, for errors
}

// A Error is a mistake in a filter, said to its author.
type Error struct{ message string }

func (e *Error) Error() string { return e.message }

// A featureError says that a filter needs a feature that is off.
type featureError struct{ message string }

func (e *featureError) Error() string { return e.message }

// Refuse makes an error of this package one that a client sees: of code, but for
// a feature that is off.
func Refuse(err error, code apierr.Code) *apierr.Error {
	if _, ok := errors.AsType[*featureError](err); ok {
		code = apierr.FeatureNotEnabled
	}
	s := err.Error()
	return &apierr.Error{Code: code, Message: strings.ToUpper(s[:1]) + s[1:] + "."}
}

// Parse reads a filter as a request has it: a string, or an array whose
// elements must all hold, each of them a string or an array of strings of
// which one must hold. nil stands for a filter that lets all through. An error
// is a [*Error] or [*featureError]. contains allows CONTAINS and STARTS
// WITH. The conditions are taken from b; nil: from a budget of its own.
func Parse(raw json.RawMessage, contains bool, b *Budget) (*Node, error) {
	raw = bytes.TrimSpace(raw)
	if b == nil {
		b = NewBudget()
	}
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil, nil
	case raw[0] == '"':
		return parseText(raw, "", contains, b)
	case raw[0] != '[':
		return nil, &Error{"the filter is " + rawjson.KindOf(raw) + "; expected a string, or an array of strings and arrays of strings"}
	}
	var all []*Node
	var err error
	i := 0
	rawjson.EachElement(raw, func(v []byte) bool {
		var n *Node
		if n, err = parseElement(v, fmt.Sprintf("[%d]", i), contains, b); n != nil {
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
func parseElement(v []byte, place string, contains bool, b *Budget) (*Node, error) {
	if v[0] != '[' {
		return parseText(v, place, contains, b)
	}
	var some []*Node
	var err error
	i := 0
	rawjson.EachElement(v, func(v []byte) bool {
		var n *Node
		if n, err = parseText(v, fmt.Sprintf("%s[%d]", place, i), contains, b); n != nil {
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
func parseText(v []byte, place string, contains bool, b *Budget) (*Node, error) {
	if v[0] != '"' {
		return nil, &Error{"filter" + place + " is " + rawjson.KindOf(v) + "; expected a string"}
	}
	n, err := parseExpression(rawjson.Unquote(v), contains, b)
	if err != nil && place != "" {
		return nil, fmt.Errorf("filter%s: %w", place, err)
	}
	return n, err
}

// join returns the nodes as one of kind, nil for none.
func join(kind nodeKind, nodes []*Node) *Node {
	switch len(nodes) {
	case 0:
		return nil
	case 1:
		return nodes[0]
	}
	return &Node{kind: kind, kids: nodes}
}

// And returns a filter that lets through what all of the filters do.
func And(filters ...*Node) *Node {
	var list []*Node
	for _, f := range filters {
		if f != nil {
			list = append(list, f)
		}
	}
	return join(andNode, list)
}

// Rules say which attributes may be asked about, and how.
type Rules interface {
	// FilterFeatures reports whether an attribute may be asked about for equality,
	// and by order.
	FilterFeatures(attr string) (equality, comparison bool)
	// FilterPatterns lists the names and patterns of all attributes that may be
	// asked about.
	FilterPatterns() []string
}

// Check finds what n asks that rules do not allow. nil asks nothing. An error is
// a [*Error].
func (n *Node) Check(rules Rules) error {
	if n == nil {
		return nil
	}
	if n.kind <= notNode {
		for _, k := range n.kids {
			if err := k.Check(rules); err != nil {
				return err
			}
		}
		return nil
	}
	if n.kind == polygonNode {
		// So it is in Meilisearch, where it asks about that attribute alone.
		if ok, _ := rules.FilterFeatures(geoJSON); !ok {
			return notFilterable(geoJSON, n.column, rules)
		}
	}
	equality, comparison := rules.FilterFeatures(n.attr)
	place := n.kind == radiusNode || n.kind == boxNode || n.kind == polygonNode
	if equality && (place || !n.compares()) || comparison && (place || n.compares()) {
		return nil
	}
	if equality || comparison {
		return &Error{fmt.Sprintf("attribute `%.100s` at column %d may not be asked about this way: switch on %s for it in the setting filterableAttributes", n.attr, n.column, lackingFeature(n))}
	}
	return notFilterable(n.attr, n.column, rules)
}

// geoJSON is the attribute that has to be filterable for _geoPolygon.
const geoJSON = "_geojson"

func notFilterable(attr string, column int, rules Rules) error {
	known := "this index has no filterable attributes"
	if p := rules.FilterPatterns(); len(p) > 0 {
		known = "filterable here: " + strings.Join(p, ", ")
	}
	return &Error{fmt.Sprintf("attribute `%.100s` at column %d is not filterable; %s; add it to the setting filterableAttributes", attr, column, known)}
}

// compares reports whether n asks about an order, and not about equality.
func (n *Node) compares() bool {
	return n.kind == rangeNode || n.kind == compareNode && n.op != "=" && n.op != "!="
}

func lackingFeature(n *Node) string {
	if n.compares() {
		return "features.filter.comparison"
	}
	return "features.filter.equality"
}
