package text

import (
	"strings"

	"github.com/parley-search/parley/host/internal/rawjson"
)

// A Query is a query's text, taken apart.
type Query struct {
	Units    []Unit
	Excluded [][]Word // words and phrases that a hit must not have
	Whole    []Form   // all of it as [Analyzer.Whole] gives it; nil where it is not plain words
	Open     bool     // its last word may go on
}

// A Unit is what a hit should have: a word or a phrase.
type Unit struct {
	Words  []Word
	Phrase bool // in quotes: exactly these, side by side
	Prefix bool // the last word typed: it may go on
}

// MaxUnits bounds the words and phrases of a query; the rest is not looked at.
const MaxUnits = 10

// A QueryParser reads queries of one index.
type QueryParser struct {
	Analyzer *Analyzer
	Stop     map[string]bool // folded words that are not looked for
	Prefix   bool            // the last word may go on
}

// MaxQueryText bounds the bytes of a query; the rest is neither looked at nor
// kept.
const MaxQueryText = 8 << 10

// Parse reads a query: words, "phrases" and -excluded ones.
func (qp *QueryParser) Parse(q string) Query {
	var p Query
	plain := true
	for rest := q; rest != ""; {
		if rawjson.IsSpace(rest[0]) {
			rest = rest[1:]
			continue
		}
		negative := rest[0] == '-' && len(rest) > 1 && !rawjson.IsSpace(rest[1])
		if negative {
			rest = rest[1:]
		}
		var text string
		quoted := rest[0] == '"'
		switch {
		case quoted:
			// A phrase without an end goes to the end: it is being typed.
			text, rest, _ = strings.Cut(rest[1:], `"`)
		case negative:
			text, rest = cutAt(rest, excludedEnd(rest))
		default:
			text, rest = cutAt(rest, plainEnd(rest))
		}
		ws := qp.Analyzer.Split(text)
		switch {
		case len(ws) == 0:
		case negative:
			plain = false
			p.Excluded = append(p.Excluded, ws)
		case quoted:
			plain = false
			p.Units = append(p.Units, Unit{Words: ws, Phrase: true})
		default:
			// Only the last word of all, with nothing behind it.
			p.Open = qp.Prefix && rest == "" && ws[len(ws)-1].End == len(text)
			p.Units = qp.appendWords(p.Units, ws, p.Open)
		}
	}
	p.Units = p.Units[:min(len(p.Units), MaxUnits)]
	p.Excluded = p.Excluded[:min(len(p.Excluded), MaxUnits)]
	if plain {
		p.Whole = qp.Analyzer.Whole(q)
	}
	return p
}

// appendWords appends a unit for each word. A stop word is one only where it is
// the last and open: it may be the beginning of another.
func (qp *QueryParser) appendWords(units []Unit, ws []Word, open bool) []Unit {
	for i := range ws {
		prefix := open && i == len(ws)-1
		if prefix || !qp.Stop[ws[i].Term] {
			units = append(units, Unit{Words: ws[i : i+1], Prefix: prefix})
		}
	}
	return units
}

// plainEnd is where plain words end: at a quote, or a minus behind a space.
func plainEnd(s string) int {
	for i := range len(s) {
		switch s[i] {
		case '"':
			return i
		case '-':
			if i > 0 && rawjson.IsSpace(s[i-1]) && i+1 < len(s) && !rawjson.IsSpace(s[i+1]) {
				return i
			}
		}
	}
	return len(s)
}

// excludedEnd is where an excluded word ends.
func excludedEnd(s string) int {
	for i := range len(s) {
		if rawjson.IsSpace(s[i]) || s[i] == '"' {
			return i
		}
	}
	return len(s)
}

func cutAt(s string, i int) (before, after string) { return s[:i], s[i:] }
