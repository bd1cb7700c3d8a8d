package search

import "strings"

// A parsedQuery is a query's text, taken apart.
type parsedQuery struct {
	units    []unit
	excluded [][]word // words and phrases that a hit must not have
	whole    []form   // all of it as fieldWhole has it; nil where it is not plain words
	open     bool     // its last word may go on
}

// A unit is what a hit should have: a word or a phrase.
type unit struct {
	words  []word
	phrase bool // in quotes: exactly these, side by side
	prefix bool // the last word typed: it may go on
}

// maxUnits bounds the words and phrases of a query; the rest is not looked at.
const maxUnits = 10

// A queryParser reads queries of one index.
type queryParser struct {
	analyzer *analyzer
	stop     map[string]bool // folded words that are not looked for
	prefix   bool            // the last word may go on
}

// maxQueryText bounds the bytes of a query; the rest is not looked at.
const maxQueryText = 8 << 10

// parse reads a query: words, "phrases" and -excluded ones.
func (qp *queryParser) parse(q string) parsedQuery {
	var p parsedQuery
	q = clip(q, maxQueryText)
	plain := true
	for rest := q; rest != ""; {
		if space(rest[0]) {
			rest = rest[1:]
			continue
		}
		negative := rest[0] == '-' && len(rest) > 1 && !space(rest[1])
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
		ws := qp.analyzer.words(text)
		switch {
		case len(ws) == 0:
		case negative:
			plain = false
			p.excluded = append(p.excluded, ws)
		case quoted:
			plain = false
			p.units = append(p.units, unit{words: ws, phrase: true})
		default:
			// Only the last word of all, with nothing behind it.
			p.open = qp.prefix && rest == "" && ws[len(ws)-1].end == len(text)
			p.units = qp.appendWords(p.units, ws, p.open)
		}
	}
	p.units = p.units[:min(len(p.units), maxUnits)]
	p.excluded = p.excluded[:min(len(p.excluded), maxUnits)]
	if plain {
		p.whole = qp.analyzer.whole(q)
	}
	return p
}

// appendWords appends a unit for each word. A stop word is one only where it is
// the last and open: it may be the beginning of another.
func (qp *queryParser) appendWords(units []unit, ws []word, open bool) []unit {
	for i := range ws {
		prefix := open && i == len(ws)-1
		if prefix || !qp.stop[ws[i].term] {
			units = append(units, unit{words: ws[i : i+1], prefix: prefix})
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
			if i > 0 && space(s[i-1]) && i+1 < len(s) && !space(s[i+1]) {
				return i
			}
		}
	}
	return len(s)
}

// excludedEnd is where an excluded word ends.
func excludedEnd(s string) int {
	for i := range len(s) {
		if space(s[i]) || s[i] == '"' {
			return i
		}
	}
	return len(s)
}

func cutAt(s string, i int) (before, after string) { return s[:i], s[i:] }
