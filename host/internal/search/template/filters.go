package template

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

// A filter makes a value of another one. Those that may make more than they are
// given charge it before it is made.
type filter struct {
	arguments int // at most; those that are absent are nil
	apply     func(r *run, v any, arguments []any) any
}

// filters are those that templates may use, by name.
var filters map[string]filter

func init() { // not a literal: filters tell about each other in errors
	filters = map[string]filter{
		"default": {1, func(_ *run, v any, a []any) any {
			if !truth(v) || (empty{}).equals(v) {
				return argument(a, 0)
			}
			return v
		}},
		"json":    {0, applyJSON},
		"inspect": {0, applyJSON},
		"type":    {0, func(_ *run, v any, _ []any) any { return fmt.Sprintf("%T", v) }},
		"date":    {1, applyDate},
		"size": {0, func(r *run, v any, _ []any) any {
			switch v := v.(type) {
			case string:
				r.read(len(v))
				return int64(utf8.RuneCountInString(v))
			case []any, numbers:
				_, n := r.elements(v)
				return int64(n)
			}
			return int64(0)
		}},

		"abs":        {0, ofNumber(math.Abs)},
		"ceil":       {0, ofNumber(math.Ceil)},
		"floor":      {0, ofNumber(math.Floor)},
		"minus":      {1, ofNumbers(func(a, b float64) float64 { return a - b })},
		"modulo":     {1, ofNumbers(math.Mod)},
		"plus":       {1, ofNumbers(func(a, b float64) float64 { return a + b })},
		"times":      {1, ofNumbers(func(a, b float64) float64 { return a * b })},
		"round":      {1, ofNumbers(roundNumber)},
		"divided_by": {1, divide},

		"compact":      {0, compact},
		"concat":       {1, concat},
		"first":        {0, func(r *run, v any, _ []any) any { return r.member(r.array(v), int64(0)) }},
		"join":         {1, join},
		"last":         {0, func(r *run, v any, _ []any) any { return r.member(r.array(v), int64(-1)) }},
		"map":          {1, mapElements},
		"reverse":      {0, reverse},
		"sort":         {1, sortElements},
		"sort_natural": {1, sortNaturally},
		"uniq":         {0, uniq},

		"append":        {1, func(r *run, v any, a []any) any { return r.concat(r.text(v), r.text(argument(a, 0))) }},
		"prepend":       {1, func(r *run, v any, a []any) any { return r.concat(r.text(argument(a, 0)), r.text(v)) }},
		"capitalize":    {0, capitalize},
		"downcase":      {0, ofText(toLower)},
		"upcase":        {0, ofText(toUpper)},
		"escape":        {0, ofText(escape)},
		"escape_once":   {0, ofText(escapeOnce)},
		"newline_to_br": {0, func(r *run, v any, _ []any) any { return r.replace(r.text(v), "\n", "<br />", -1) }},
		"remove":        {1, func(r *run, v any, a []any) any { return r.replace(r.text(v), r.text(argument(a, 0)), "", -1) }},
		"remove_first":  {1, func(r *run, v any, a []any) any { return r.replace(r.text(v), r.text(argument(a, 0)), "", 1) }},
		"replace": {2, func(r *run, v any, a []any) any {
			return r.replace(r.text(v), r.text(argument(a, 0)), r.text(argument(a, 1)), -1)
		}},
		"replace_first": {2, func(r *run, v any, a []any) any {
			return r.replace(r.text(v), r.text(argument(a, 0)), r.text(argument(a, 1)), 1)
		}},
		"slice":          {2, slice},
		"split":          {1, split},
		"strip":          {0, ofText(trimBoth)},
		"lstrip":         {0, ofText(trimLeft)},
		"rstrip":         {0, ofText(trimRight)},
		"strip_html":     {0, ofText(stripHTML)},
		"strip_newlines": {0, func(r *run, v any, _ []any) any { return r.replace(r.text(v), "\n", "", -1) }},
		"truncate":       {2, truncate},
		"truncatewords":  {2, truncateWords},
		"url_encode":     {0, ofText(urlEncode)},
		"url_decode":     {0, urlDecode},
	}
}

// argument returns one of the arguments, nil where there is none.
func argument(arguments []any, i int) any {
	if i < len(arguments) {
		return arguments[i]
	}
	return nil
}

func applyJSON(r *run, v any, _ []any) any {
	w := writer{run: r}
	r.showJSON(v, w.write, 0)
	return w.String()
}

// ofNumber is a filter of what f makes of a number.
func ofNumber(f func(float64) float64) func(*run, any, []any) any {
	return func(r *run, v any, _ []any) any { return whole(f(r.number(v))) }
}

// ofNumbers is a filter of what f makes of a number and the argument.
func ofNumbers(f func(a, b float64) float64) func(*run, any, []any) any {
	return func(r *run, v any, a []any) any { return whole(f(r.number(v), r.number(argument(a, 0)))) }
}

// whole is f as an int64 where that is the same number.
func whole(f float64) any {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return int64(f)
	}
	return f
}

func roundNumber(f, places float64) float64 {
	e := math.Pow10(int(max(min(places, 300), -300)))
	return math.Floor(f*e+0.5) / e
}

// divide divides by a whole number without the rest.
func divide(r *run, v any, a []any) any {
	f := r.number(v)
	by := argument(a, 0)
	if n, ok := by.(int64); ok {
		if n == 0 {
			fail(errors.New("division by zero"))
		}
		return whole(math.Trunc(math.Trunc(f) / float64(n)))
	}
	d := r.number(by)
	if d == 0 {
		fail(errors.New("division by zero"))
	}
	return f / d
}
