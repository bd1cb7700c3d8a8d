package template

import (
	"math"
	"slices"
	"unicode/utf8"
)

// A run is one rendering.
type run struct {
	*Budget
	vars   map[string]any
	output Output
	out    []byte
	inner  int // captures within each other
}

// A node is a part of a template.
type node interface {
	// render writes the node, and says how the loop around it goes on.
	render(r *run) signal
}

// A signal says how a loop goes on.
type signal int

const (
	onward signal = iota
	breakLoop
	continueLoop
)

// render writes nodes, one after the other.
func (r *run) render(body []node) signal {
	for _, n := range body {
		r.spend(1)
		if s := n.render(r); s != onward {
			return s
		}
	}
	return onward
}

// write adds to the text.
func (r *run) write(s string) {
	r.read(len(s))
	limit := r.output.MaxBytes
	if r.inner > 0 {
		limit = MaxText
	}
	if len(r.out)+len(s) > limit {
		if r.inner > 0 {
			fail(errText)
		}
		r.out = append(r.out, s[:min(len(s), limit+utf8.UTFMax-len(r.out))]...)
		fail(ErrFull)
	}
	r.hold(len(s))
	r.out = append(r.out, s...)
}

// A text is shown as it stands.
type text string

func (t text) render(r *run) signal {
	r.write(string(t))
	return onward
}

// A shown value is {{ one }}.
type shown struct {
	value expression
	first expression // of value: what its first filter is given
	must  bool       // first must be there where that is demanded
}

func newOutput(x expression) *shown {
	s := &shown{x, x, true}
	for {
		f, ok := s.first.(*filtered)
		if !ok {
			return s
		}
		s.first, s.must = f.of, f.name != "default"
	}
}

func (s *shown) render(r *run) signal {
	if r.output.Demand && s.must && s.first.evaluate(r) == nil {
		fail(ErrAbsent)
	}
	r.show(s.value.evaluate(r), r.write, 0)
	return onward
}

// assign is {% assign name = value %}.
type assign struct {
	name  string
	value expression
}

func (a *assign) render(r *run) signal {
	r.hold(64) // a template of 8 KiB has few names, but they are kept
	r.vars[a.name] = a.value.evaluate(r)
	return onward
}

// capture is {% capture name %}.
type capture struct {
	name string
	body []node
}

func (c *capture) render(r *run) signal {
	outer := r.out
	r.out = nil
	r.inner++
	defer func() { // a failure within leaves the text as it was
		r.out = outer
		r.inner--
	}()
	s := r.render(c.body)
	r.vars[c.name] = string(r.out)
	return s
}

// condition is {% if %} or {% unless %}.
type condition struct{ branches []branch }

type branch struct {
	when    expression // nil: else
	negated bool
	body    []node
}

func (c *condition) render(r *run) signal {
	for _, b := range c.branches {
		if b.when == nil || truth(b.when.evaluate(r)) != b.negated {
			return r.render(b.body)
		}
	}
	return onward
}

// choice is {% case %}.
type choice struct {
	of      expression
	options []option
}

type option struct {
	values []expression // none: else
	body   []node
}

func (c *choice) render(r *run) signal {
	v := c.of.evaluate(r)
	for _, o := range c.options {
		if len(o.values) == 0 || slices.ContainsFunc(o.values, func(x expression) bool { return r.equal(v, x.evaluate(r), 0) }) {
			return r.render(o.body)
		}
	}
	return onward
}

// jump is {% break %} or {% continue %}.
type jump bool

func (j jump) render(*run) signal {
	if j {
		return continueLoop
	}
	return breakLoop
}

// loop is {% for name in over %}.
type loop struct {
	name          string
	over          expression
	reversed      bool
	offset, limit expression // nil: none
	body, none    []node
}

func (l *loop) render(r *run) signal {
	at, n := r.elements(l.over.evaluate(r))
	if l.reversed {
		forward, last := at, n-1
		at = func(i int) any { return forward(last - i) }
	}
	from := 0
	if l.offset != nil {
		from = min(max(r.integer(l.offset.evaluate(r)), 0), n)
	}
	if n -= from; l.limit != nil {
		if limit := r.integer(l.limit.evaluate(r)); limit >= 0 {
			n = min(n, limit)
		}
	}
	if n == 0 {
		return r.render(l.none)
	}
	return l.each(r, at, from, n)
}

func (l *loop) each(r *run, at func(int) any, from, n int) signal {
	variable, outer := r.vars[l.name], r.vars["forloop"]
	defer func() { r.vars[l.name], r.vars["forloop"] = variable, outer }()
	for i := range n {
		r.spend(1)
		r.vars[l.name] = at(from + i)
		r.vars["forloop"] = place{i, n}
		if r.render(l.body) == breakLoop {
			break
		}
	}
	return onward
}

// A place is the variable forloop.
type place struct{ i, n int }

func (p place) property(name string) any {
	switch name {
	case "first":
		return p.i == 0
	case "last":
		return p.i == p.n-1
	case "index":
		return int64(p.i + 1)
	case "index0":
		return int64(p.i)
	case "rindex":
		return int64(p.n - p.i)
	case "rindex0":
		return int64(p.n - p.i - 1)
	case "length":
		return int64(p.n)
	}
	return nil
}

// integer is v as a whole number that fits an int.
func (r *run) integer(v any) int {
	f := r.number(v)
	if math.IsNaN(f) {
		return 0
	}
	return int(max(min(f, math.MaxInt32), math.MinInt32))
}
