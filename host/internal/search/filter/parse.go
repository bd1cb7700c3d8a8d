package filter

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parley-search/parley/host/internal/base/feature"
	"github.com/parley-search/parley/host/internal/search/attribute"
	"github.com/parley-search/parley/host/internal/search/text"
)

// maxFilterDepth bounds parentheses and NOTs within each other.
const maxFilterDepth = 200

// keywords can't be an attribute or a value unless they are quoted.
var keywords = []string{"AND", "OR", "NOT", "TO", "IN", "EXISTS", "IS", "CONTAINS", "STARTS", "_geoRadius", "_geoBoundingBox", "_geoPolygon"}

// reserved are words about places that can't be an attribute or a value either:
// no condition about them would find what its author means.
var reserved = []string{attribute.Geo, "_geoPoint", "_geoDistance"}

// A filterParser reads an expression by recursive descent:
//
//	or        = and { "OR" and }
//	and       = not { "AND" not }
//	not       = "NOT" not | "(" or ")" | condition
//	condition = geo | attribute test
type filterParser struct {
	tokens   []token
	i        int
	depth    int
	end      int // column behind the last character
	contains bool
	budget   *Budget
}

// parseExpression reads one expression, whose conditions it takes from b; a
// blank one gives nil.
func parseExpression(s string, contains bool, b *Budget) (*Node, error) {
	tokens, err := lex(s)
	if err != nil || len(tokens) == 0 {
		return nil, err
	}
	p := &filterParser{tokens: tokens, end: utf8.RuneCountInString(s) + 1, contains: contains, budget: b}
	n, err := p.or()
	if err != nil {
		return nil, err
	}
	if p.i < len(p.tokens) {
		return nil, p.expected("AND, OR or the end of the filter")
	}
	return n, nil
}

// expected says what should have stood where the parser is.
func (p *filterParser) expected(what string) error {
	if p.i >= len(p.tokens) {
		return &Error{fmt.Sprintf("the filter ends at column %d; expected %s", p.end, what)}
	}
	t := p.tokens[p.i]
	return &Error{fmt.Sprintf("found `%.60s` at column %d; expected %s", t.text, t.column, what)}
}

// is reports whether the next token is the sign or keyword text.
func (p *filterParser) is(text string) bool {
	return p.i < len(p.tokens) && !p.tokens[p.i].quoted && p.tokens[p.i].text == text
}

// take passes over the next token if it is text.
func (p *filterParser) take(text string) bool {
	if p.is(text) {
		p.i++
		return true
	}
	return false
}

func (p *filterParser) or() (*Node, error)  { return p.list("OR", orNode, p.and) }
func (p *filterParser) and() (*Node, error) { return p.list("AND", andNode, p.not) }

func (p *filterParser) list(word string, kind nodeKind, item func() (*Node, error)) (*Node, error) {
	var nodes []*Node
	for {
		n, err := item()
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
		if !p.take(word) {
			return join(kind, nodes), nil
		}
	}
}

func (p *filterParser) not() (*Node, error) {
	if p.depth++; p.depth > maxFilterDepth {
		return nil, p.expected(fmt.Sprintf("at most %d levels of parentheses and NOT", maxFilterDepth))
	}
	defer func() { p.depth-- }()
	switch {
	case p.take("NOT"):
		n, err := p.not()
		if err != nil {
			return nil, err
		}
		return p.negate(n)
	case p.take("("):
		n, err := p.or()
		if err != nil {
			return nil, err
		}
		if !p.take(")") {
			return nil, p.expected("AND, OR or )")
		}
		return n, nil
	}
	return p.condition()
}

func (p *filterParser) condition() (*Node, error) {
	if err := p.budget.Take(1); err != nil {
		return nil, err
	}
	if p.is("_geoRadius") || p.is("_geoBoundingBox") || p.is("_geoPolygon") {
		return p.geo()
	}
	column := p.column()
	attr, err := p.text("an attribute, NOT or (")
	if err != nil {
		return nil, err
	}
	n := &Node{attr: attr, column: column}
	negated := p.take("NOT")
	switch {
	case p.take("EXISTS"):
		n.kind = existsNode
	case p.take("IN"):
		n.kind = inNode
		n.values, err = p.values()
	case p.is("CONTAINS"), p.is("STARTS"):
		err = p.substring(n)
	case negated:
		return nil, p.expected("EXISTS, IN, CONTAINS or STARTS WITH after NOT")
	case p.take("IS"):
		negated = p.take("NOT")
		switch {
		case p.take("NULL"):
			n.kind = nullNode
		case p.take("EMPTY"):
			n.kind = emptyNode
		default:
			return nil, p.expected("NULL or EMPTY")
		}
	default:
		err = p.comparison(n)
	}
	if err != nil {
		return nil, err
	}
	if negated {
		return p.negate(n)
	}
	return n, nil
}

// negate returns what holds where n does not. It counts as a condition.
func (p *filterParser) negate(n *Node) (*Node, error) {
	return &Node{kind: notNode, kids: []*Node{n}}, p.budget.Take(1)
}

// comparison reads what follows an attribute: an operator and a value, or a
// range.
func (p *filterParser) comparison(n *Node) error {
	for _, op := range []string{"=", "!=", ">=", ">", "<=", "<"} {
		if !p.take(op) {
			continue
		}
		n.kind, n.op = compareNode, op
		v, err := p.text("a value")
		n.values = []string{v}
		if op != "=" && op != "!=" {
			n.order()
		}
		return err
	}
	const want = "an operator: = != > >= < <= TO IN EXISTS IS NULL IS EMPTY"
	start := p.i
	low, err := p.text("a value")
	if err != nil || !p.take("TO") {
		p.i = start
		return p.expected(want)
	}
	high, err := p.text("a value")
	n.kind, n.values = rangeNode, []string{low, high}
	n.order()
	return err
}

// order makes what n's order is asked by.
func (n *Node) order() {
	for _, v := range n.values {
		n.keys = append(n.keys, text.FacetKey(v))
		if f, ok := finite(v); ok {
			n.nums = append(n.nums, f)
		}
	}
	if len(n.nums) < len(n.values) {
		n.nums = nil
	}
}

// substring reads CONTAINS or STARTS WITH and its value.
func (p *filterParser) substring(n *Node) error {
	if !p.contains {
		off := feature.Off(feature.ContainsFilter, fmt.Sprintf("`%s` at column %d", p.tokens[p.i].text, p.column()))
		return &featureError{strings.TrimSuffix(off.Message, ".")}
	}
	n.kind = containsNode
	if !p.take("CONTAINS") {
		p.i++
		if !p.take("WITH") {
			return p.expected("WITH after STARTS")
		}
		n.kind = startsNode
	}
	v, err := p.text("a value")
	n.values = []string{v}
	return err
}

// values reads a list in brackets.
func (p *filterParser) values() ([]string, error) {
	if !p.take("[") {
		return nil, p.expected("[ after IN")
	}
	var list []string
	for !p.take("]") {
		v, err := p.text("a value or ]")
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		if len(list) > 1 { // the first is the condition itself
			if err := p.budget.Take(1); err != nil {
				return nil, err
			}
		}
		if !p.take(",") && !p.is("]") {
			return nil, p.expected("a comma or ]")
		}
	}
	return list, nil
}

// column is where the next token begins.
func (p *filterParser) column() int {
	if p.i < len(p.tokens) {
		return p.tokens[p.i].column
	}
	return p.end
}

// text reads an attribute or a value.
func (p *filterParser) text(what string) (string, error) {
	if p.i >= len(p.tokens) {
		return "", p.expected(what)
	}
	t := p.tokens[p.i]
	if !t.quoted && slices.Contains(reserved, t.text) {
		return "", &Error{fmt.Sprintf("`%s` at column %d is reserved: ask where documents are by %s, %s or %s, and whether they say it by '%s' EXISTS", t.text, t.column, radiusShape, boxShape, polygonShape, attribute.Geo)}
	}
	if !t.quoted && (slices.Contains(keywords, t.text) || len(t.text) > 0 && isSign(t.text[0])) {
		return "", p.expected(what)
	}
	p.i++
	return t.text, nil
}

func isSign(c byte) bool {
	for i := range len(signs) {
		if signs[i] == c {
			return true
		}
	}
	return false
}

// number reads a finite number.
func (p *filterParser) number() (float64, error) {
	start := p.i
	s, err := p.text("a number")
	if err != nil {
		return 0, err
	}
	f, ok := finite(s)
	if !ok {
		p.i = start
		return 0, p.expected("a number")
	}
	return f, nil
}

func finite(s string) (float64, bool) {
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
}
