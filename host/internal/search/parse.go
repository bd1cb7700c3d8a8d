package search

import "strings"

// A parsedQuery is a query's text, taken apart.
type parsedQuery struct {
	units    []unit
	excluded [][]word // words and phrases that a hit must not have
	whole    string   // all of it as fieldWhole has it; "" where it is not plain words
}

// A unit is what a hit should have: a word or a phrase.
type unit struct {
	words  []word
	phrase bool // in quotes: exactly these, side by side
	prefix bool // the last word typed: it may go on
}

// maxUnits bounds the words and phrases of a query; the rest is not looked at.
const maxUnits = 10

// parseQuery reads a query: words, "phrases" and -excluded ones.
func parseQuery(q string) parsedQuery {
	var p parsedQuery
	plain := true
	for rest := q; rest != ""; {
		var text string
		var quoted bool
		negative := strings.HasPrefix(rest, "-") && len(rest) > 1 && rest[1] != ' '
		if negative {
			rest = rest[1:]
		}
		if strings.HasPrefix(rest, `"`) {
			quoted = true
			// A phrase without an end goes to the end: it is being typed.
			text, rest, _ = strings.Cut(rest[1:], `"`)
		} else {
			n := strings.IndexAny(rest, " \t\n\"")
			if n < 0 {
				n = len(rest)
			}
			if n == 0 {
				rest = rest[1:]
				continue
			}
			text, rest = rest[:n], rest[n:]
		}
		ws := words(text)
		if len(ws) == 0 {
			continue
		}
		switch {
		case negative:
			plain = false
			p.excluded = append(p.excluded, ws)
		case quoted:
			plain = false
			p.units = append(p.units, unit{words: ws, phrase: true})
		default:
			for i := range ws {
				p.units = append(p.units, unit{words: ws[i : i+1]})
			}
			// Only the last word of all, with nothing behind it.
			p.units[len(p.units)-1].prefix = rest == "" && inWordEnd(text)
		}
	}
	p.units = p.units[:min(len(p.units), maxUnits)]
	p.excluded = p.excluded[:min(len(p.excluded), maxUnits)]
	if plain {
		p.whole = wholeTerm(q)
	}
	return p
}

// inWordEnd reports whether text ends within a word.
func inWordEnd(text string) bool {
	var last rune
	for _, r := range text {
		last = r
	}
	return inWord(last)
}
