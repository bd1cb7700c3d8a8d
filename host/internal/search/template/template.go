// Package template renders Liquid templates that clients write.
//
// Clients are not trusted with the host's time and memory, so that each loop
// iteration, each part of an expression and each byte that a filter handles is
// charged to a [Budget], before the work is done. A template that asks for more
// ends with an error of this package; nothing that it can say makes the host
// run longer or hold more than the constants below.
//
// The language is Liquid with the tags assign, break, capture, case, comment,
// continue, for, if, raw and unless, the operators == != < > <= >= contains
// and or, ranges such as (1..3), and the filters that [Filters] lists. There
// are no tags that read files. `and` and `or` are applied from left to right.
package template

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// What a template and its rendering may use.
const (
	// MaxDepth bounds the blocks, and the parentheses and brackets, within each
	// other, and the arrays and objects within each other that are shown.
	MaxDepth = 64
	// MaxSteps bounds the work on one [Budget]: parts of templates and
	// expressions, elements of arrays, and 64 bytes of a text count as one each.
	MaxSteps = 250_000
	// MaxLength bounds the elements of an array that a filter makes, and of a range.
	MaxLength = 1 << 16
	// MaxText bounds the bytes of a text that a filter makes.
	MaxText = 4 << 20
	// MaxMemory bounds the bytes of all values that are made on one [Budget].
	MaxMemory = 32 << 20
)

// What ends a rendering.
var (
	// ErrFull is said of a text that grew to more than it may have.
	ErrFull = errors.New("the text is as long as it may be")
	// ErrAbsent is said where a value is demanded and absent, see [Output].
	ErrAbsent = errors.New("a value of the template is absent")

	errSteps  = fmt.Errorf("the template takes more than %d steps", MaxSteps)
	errTime   = fmt.Errorf("the template takes longer than %v", maxTime)
	errMemory = fmt.Errorf("the template makes values of more than %d bytes", MaxMemory)
	errText   = fmt.Errorf("the template makes a text of more than %d bytes", MaxText)
	errLength = fmt.Errorf("the template makes an array or range of more than %d elements", MaxLength)
	errDepth  = fmt.Errorf("the template shows values that are more than %d deep", MaxDepth)
)

// A Template is ready to be rendered. Safe for concurrent use.
type Template struct{ body []node }

// Parse reads a template. Its errors are for the template's author.
func Parse(text string) (*Template, error) {
	p := parser{scanner: scanner{text: text}}
	body, err := p.parse()
	if err != nil {
		return nil, fmt.Errorf("not a Liquid template: line %d: %w", p.line(), err)
	}
	return &Template{body}, nil
}

// An Output says what is made of a rendering.
type Output struct {
	MaxBytes int // past which a text is not made
	// Demand ends the rendering with [ErrAbsent] where a value is shown that is
	// absent or null, unless its first filter is `default`.
	Demand bool
}

// Render renders t with the variables of data, whose values are those of JSON:
// nil, bool, string, int64, float64, []any and map[string]any. Render does not
// change them. With an error, the text is what there was until then; with
// [ErrFull] it has more than MaxBytes bytes, by a few, and may end within a
// character. An error of b's context is returned as it is.
func (t *Template) Render(b *Budget, data map[string]any, o Output) (text string, err error) {
	r := run{Budget: b, vars: maps.Clone(data), output: o}
	if r.vars == nil {
		r.vars = map[string]any{}
	}
	defer func() {
		text = string(r.out)
		if p := recover(); p != nil {
			failed, ok := p.(failure)
			if !ok {
				panic(p)
			}
			err = failed.error
		}
	}()
	b.look()
	r.render(t.body)
	return "", nil
}

// A failure is what the interpreter panics with to end a rendering, from within
// a comparison of a sort as well.
type failure struct{ error }

func fail(err error) { panic(failure{err}) }

// Filters lists the names of all filters.
func Filters() string {
	return "`" + strings.Join(slices.Sorted(maps.Keys(filters)), "`, `") + "`"
}
