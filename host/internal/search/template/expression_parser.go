package template

import (
	"errors"
	"fmt"
)

// parseExpression reads what stands within {{ }}, or after if.
func parseExpression(text string) (expression, error) {
	p := newExpressionParser(text)
	x := p.condition()
	return x, p.end()
}

// An expressionParser reads an expression, part by part. After its first error
// it reads no more, and what it returns is of no use.
type expressionParser struct {
	text  string // that follows the current lexeme
	now   lexeme
	depth int
	err   error
}

func newExpressionParser(text string) *expressionParser {
	p := &expressionParser{text: text}
	p.advance()
	return p
}

func (p *expressionParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
	p.now = lexeme{}
}

func (p *expressionParser) advance() {
	if p.err != nil {
		return
	}
	var err error
	if p.now, p.text, err = lex(p.text); err != nil {
		p.fail("%w", err)
	}
}

func (p *expressionParser) done() bool { return p.now.kind == noLexeme }

// end returns the error of the expression, which must be read whole.
func (p *expressionParser) end() error {
	if p.err == nil && !p.done() {
		p.err = fmt.Errorf("`%.50s` is not expected here", p.now.text)
	}
	return p.err
}

// accept reads a sign or a word, where it is the next.
func (p *expressionParser) accept(text string) bool {
	if (p.now.kind != sign && p.now.kind != name) || p.now.text != text {
		return false
	}
	p.advance()
	return p.err == nil
}

func (p *expressionParser) expect(text string) bool {
	if !p.accept(text) {
		p.fail("`%s` is missing before `%.50s`", text, p.now.text+p.text)
	}
	return p.err == nil
}

func (p *expressionParser) identifier() string {
	n := p.now.text
	if p.now.kind != name {
		p.fail("a name is missing before `%.50s`", n+p.text)
	}
	p.advance()
	return n
}

// condition reads comparisons with and and or between them.
func (p *expressionParser) condition() expression {
	x := p.comparison()
	for p.err == nil {
		switch {
		case p.accept("and"):
			x = &both{x, p.comparison()}
		case p.accept("or"):
			x = &either{x, p.comparison()}
		default:
			return x
		}
	}
	return x
}

func (p *expressionParser) comparison() expression {
	x := p.filtered()
	if op := p.now.text; (p.now.kind == sign || p.now.kind == name) && comparisons[op] != nil {
		p.advance()
		return &comparison{comparisons[op], x, p.operand()}
	}
	return x
}

// filtered reads an operand and the filters after it.
func (p *expressionParser) filtered() expression {
	x := p.operand()
	for p.accept("|") {
		f := &filtered{of: x, name: p.identifier()}
		if p.err != nil {
			return x
		}
		known, ok := filters[f.name]
		if !ok {
			p.fail("unknown filter `%.50s`; these are known: %s", f.name, Filters())
			return x
		}
		if p.accept(":") {
			for more := true; more; more = p.accept(",") {
				f.arguments = append(f.arguments, p.operand())
			}
		}
		if n := len(f.arguments); n > known.arguments {
			p.fail("filter `%s` takes at most %d arguments, and has %d", f.name, known.arguments, n)
		}
		f.filter, x = known.apply, f
	}
	return x
}

var errTooDeep = errors.New("too many parentheses or brackets within each other")

// operand reads a value and what is taken out of it.
func (p *expressionParser) operand() expression {
	if p.depth++; p.depth > MaxDepth {
		p.fail("%w", errTooDeep)
	}
	defer func() { p.depth-- }()
	x := p.primary()
	for p.err == nil {
		switch {
		case p.now.kind == property:
			x = &member{x, constant{p.now.text}}
			p.advance()
		case p.accept("["):
			x = &member{x, p.operand()}
			p.expect("]")
		default:
			return x
		}
	}
	return x
}

func (p *expressionParser) primary() expression {
	l := p.now
	switch {
	case p.accept("("):
		x := p.condition()
		if p.accept("..") {
			x = p.interval(x)
		}
		p.expect(")")
		return x
	case l.kind == literal:
		p.advance()
		return constant{l.value}
	case l.kind == name:
		p.advance()
		if v, ok := words[l.text]; ok {
			return constant{v}
		}
		return variable(l.text)
	}
	p.fail("a value is missing before `%.50s`", l.text+p.text)
	return constant{}
}

// interval reads the end of a range.
func (p *expressionParser) interval(from expression) expression {
	x := &interval{from, p.operand()}
	a, _ := x.from.(constant)
	b, _ := x.to.(constant)
	first, ok := a.value.(int64)
	last, both := b.value.(int64)
	if ok && both && last >= first && uint64(last-first) >= MaxLength {
		p.fail("a range has more than %d numbers", MaxLength)
	}
	return x
}

// words are names that mean a value.
var words = map[string]any{"true": true, "false": false, "nil": nil, "null": nil, "empty": empty{}, "blank": empty{spaces: true}}
