package template

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// tags are the tags that a template may use.
var tags = []string{
	"assign", "break", "capture", "case", "comment", "continue", "else", "elsif", "endcapture", "endcase", "endcomment", "endfor",
	"endif", "endraw", "endunless", "for", "if", "raw", "unless", "when",
}

// A parser makes the tree of a template.
type parser struct {
	scanner
	open []string // blocks around the place the scanner is at
}

func (p *parser) parse() ([]node, error) {
	body, end, err := p.body()
	if err == nil && end.kind != endToken {
		err = stray(end)
	}
	return body, err
}

func stray(t token) error {
	return fmt.Errorf("tag `%s` has no beginning, or is not for this place", t.name)
}

// body reads what is in a block, until a tag that ends it or a part of it, or
// the end of the template, which it returns.
func (p *parser) body() (body []node, end token, err error) {
	for {
		t, err := p.next()
		if err != nil {
			return nil, t, err
		}
		switch t.kind {
		case endToken:
			return body, t, nil
		case textToken:
			if t.text != "" {
				body = append(body, text(t.text))
			}
			continue
		case outputToken:
			x, err := parseExpression(t.text)
			if err != nil {
				return nil, t, err
			}
			body = append(body, newOutput(x))
			continue
		}
		n, ends, err := p.tag(t)
		if err != nil {
			return nil, t, err
		}
		if ends {
			return body, t, nil
		}
		if n != nil {
			body = append(body, n)
		}
	}
}

// tag reads a tag and, where it is a block's, the block. ends is said of one
// that belongs to a block around it.
func (p *parser) tag(t token) (n node, ends bool, err error) {
	switch t.name {
	case "assign":
		n, err = parseAssign(t.text)
		return n, false, err
	case "break", "continue":
		return jump(t.name == "continue"), false, nil
	case "comment":
		_, err := p.until("endcomment")
		return nil, false, err
	case "raw":
		raw, err := p.until("endraw")
		return text(raw), false, err
	case "capture", "case", "for", "if", "unless":
		n, err = p.block(t)
		return n, false, err
	}
	if !slices.Contains(tags, t.name) {
		return nil, false, fmt.Errorf("tag `%.50s` is not offered here; these are: %s", t.name, strings.Join(tags, ", "))
	}
	return nil, true, nil
}

// A part is one of a block: what its first tag, an else or a when begins.
type part struct {
	token
	body []node
}

// block reads the block that a tag begins.
func (p *parser) block(t token) (node, error) {
	if p.open = append(p.open, t.name); len(p.open) > MaxDepth {
		return nil, fmt.Errorf("more than %d blocks within each other", MaxDepth)
	}
	var parts []part
	for next := t; next.name != "end"+t.name; {
		body, end, err := p.body()
		if err != nil {
			return nil, err
		}
		if end.kind == endToken {
			return nil, fmt.Errorf("no end%s for a %s", t.name, t.name)
		}
		if parts = append(parts, part{next, body}); !partOf(t.name, end.name) {
			return nil, stray(end)
		}
		next = end
	}
	p.open = p.open[:len(p.open)-1]
	switch t.name {
	case "capture":
		return parseCapture(parts)
	case "case":
		return parseCase(parts)
	case "for":
		return parseLoop(parts)
	}
	return parseCondition(parts)
}

// partOf reports whether a tag is a part, or the end, of a block.
func partOf(block, tag string) bool {
	switch tag {
	case "end" + block:
		return true
	case "else":
		return block != "capture"
	case "elsif":
		return block == "if" || block == "unless"
	case "when":
		return block == "case"
	}
	return false
}

func parseAssign(text string) (node, error) {
	p := newExpressionParser(text)
	name, x := p.identifier(), expression(nil)
	if p.expect("=") {
		x = p.condition()
	}
	return &assign{name, x}, p.end()
}

func parseCapture(parts []part) (node, error) {
	if parts[0].text == "" {
		return nil, errors.New("capture without a name")
	}
	return &capture{parts[0].text, parts[0].body}, nil
}

func parseCondition(parts []part) (node, error) {
	var c condition
	for i, p := range parts {
		b := branch{body: p.body}
		if p.name != "else" {
			x, err := parseExpression(p.text)
			if err != nil {
				return nil, err
			}
			b.when, b.negated = x, i == 0 && p.name == "unless"
		}
		c.branches = append(c.branches, b)
	}
	return &c, nil
}

func parseCase(parts []part) (node, error) {
	x, err := parseExpression(parts[0].text)
	if err != nil {
		return nil, err
	}
	c := choice{of: x}
	for _, p := range parts[1:] {
		o := option{body: p.body}
		if p.name == "when" {
			e := newExpressionParser(p.text)
			for more := true; more; more = e.accept(",") || e.accept("or") {
				o.values = append(o.values, e.operand())
			}
			if err := e.end(); err != nil {
				return nil, err
			}
		}
		c.options = append(c.options, o)
	}
	return &c, nil
}

func parseLoop(parts []part) (node, error) {
	p := newExpressionParser(parts[0].text)
	l := &loop{name: p.identifier()}
	if p.expect("in") {
		l.over = p.filtered()
	}
	for p.err == nil && !p.done() {
		switch name := p.identifier(); {
		case name == "reversed":
			l.reversed = true
		case name == "limit" && p.expect(":"):
			l.limit = p.operand()
		case name == "offset" && p.expect(":"):
			l.offset = p.operand()
		default:
			p.fail("`%.50s` is not offered in a for: reversed, limit: and offset: are", name)
		}
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	l.body = parts[0].body
	switch len(parts) {
	case 1:
	case 2:
		l.none = parts[1].body
	default:
		return nil, errors.New("a for with more than one else")
	}
	return l, nil
}
