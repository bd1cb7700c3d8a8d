package template

// An expression is what a value is worked out by.
type expression interface {
	// evaluate charges what it costs to r, and fails where that is too much.
	evaluate(r *run) any
}

type constant struct{ value any }

func (c constant) evaluate(r *run) any {
	r.spend(1)
	return c.value
}

type variable string

func (v variable) evaluate(r *run) any {
	r.spend(1)
	return r.vars[string(v)]
}

// A member is of.at or of[at].
type member struct{ of, at expression }

func (m *member) evaluate(r *run) any {
	r.spend(1)
	return r.member(m.of.evaluate(r), m.at.evaluate(r))
}

// An interval is (from..to). Its numbers are made one by one.
type interval struct{ from, to expression }

func (x *interval) evaluate(r *run) any {
	r.spend(1)
	from, to := r.integer(x.from.evaluate(r)), r.integer(x.to.evaluate(r))
	if to-from >= MaxLength {
		fail(errLength)
	}
	return numbers{from, to}
}

type both struct{ a, b expression }

func (x *both) evaluate(r *run) any {
	r.spend(1)
	return truth(x.a.evaluate(r)) && truth(x.b.evaluate(r))
}

type either struct{ a, b expression }

func (x *either) evaluate(r *run) any {
	r.spend(1)
	return truth(x.a.evaluate(r)) || truth(x.b.evaluate(r))
}

// truth reports whether v counts as true in a condition.
func truth(v any) bool { return v != nil && v != false }

type comparison struct {
	holds func(r *run, a, b any) bool
	a, b  expression
}

func (c *comparison) evaluate(r *run) any {
	r.spend(1)
	return c.holds(r, c.a.evaluate(r), c.b.evaluate(r))
}

var comparisons = map[string]func(r *run, a, b any) bool{
	"==":       func(r *run, a, b any) bool { return r.equal(a, b, 0) },
	"!=":       func(r *run, a, b any) bool { return !r.equal(a, b, 0) },
	"<>":       func(r *run, a, b any) bool { return !r.equal(a, b, 0) },
	"<":        func(r *run, a, b any) bool { return r.less(a, b) },
	">":        func(r *run, a, b any) bool { return r.less(b, a) },
	"<=":       func(r *run, a, b any) bool { return r.less(a, b) || r.equal(a, b, 0) },
	">=":       func(r *run, a, b any) bool { return r.less(b, a) || r.equal(a, b, 0) },
	"contains": (*run).contains,
}

// A filtered value is of | name: arguments.
type filtered struct {
	of        expression
	name      string
	filter    func(r *run, v any, arguments []any) any
	arguments []expression
}

func (f *filtered) evaluate(r *run) any {
	r.spend(1 + len(f.arguments))
	v := f.of.evaluate(r)
	arguments := make([]any, len(f.arguments))
	for i, a := range f.arguments {
		arguments[i] = a.evaluate(r)
	}
	return f.filter(r, v, arguments)
}
