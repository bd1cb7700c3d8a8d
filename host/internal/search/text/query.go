package text

import (
	"strings"

	"github.com/parley-search/parley/host/internal/base/rawjson"
)

// A Query is a query's text, taken apart.
type Query struct {
	Units    []Unit
	Excluded [][]Word // words and phrases that a hit must not have
	Words    []Word   // all that are not excluded, stop words too; Pos counts in all of the query
}

// A Unit is what a hit should have: a word or a phrase.
type Unit struct {
	Words  []Word
	Phrase bool // in quotes: exactly these, side by side
	Prefix bool // the last word typed: it may go on
	End    int  // of the query's Words, how many there are up to its last one
}

// First is the place in the query of the unit's first word that is looked for.
func (u *Unit) First() int {
	for i := range u.Words {
		if !u.Words[i].Stop {
			return u.Words[i].Pos
		}
	}
	return u.Words[0].Pos
}

// Last is the place in the query of the unit's last word.
func (u *Unit) Last() int { return u.Words[len(u.Words)-1].Pos }

// MaxUnits bounds the words and phrases of a query; the rest is not looked at.
const MaxUnits = 10

// A QueryParser reads queries of one index.
type QueryParser struct {
	Analyzer *Analyzer
	Prefix   bool // the last word may go on
}

// MaxQueryText bounds the bytes of a query; the rest is neither looked at nor
// kept.
const MaxQueryText = 8 << 10

// Parse reads a query: words, "phrases" and -excluded ones.
func (qp *QueryParser) Parse(q string) Query {
	var p Query
	pos := 0 // the last that was given
	for rest := q; rest != ""; {
		if rawjson.IsSpace(rest[0]) {
			rest = rest[1:]
			continue
		}
		before := len(q) - len(rest) - 1
		apart := before < 0 || rawjson.IsSpace(q[before])
		negative := apart && rest[0] == '-' && len(rest) > 1 && !rawjson.IsSpace(rest[1])
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
		ws := qp.Analyzer.split(text, true)
		for i := range ws {
			ws[i].Pos += pos
		}
		behind := text
		if n := len(ws); n > 0 {
			pos, behind = ws[n-1].Pos, text[ws[n-1].End:]
		}
		_, hard := qp.Analyzer.separator(behind)
		pos += hard * (SentenceGap - 1)
		if len(ws) == 0 {
			continue
		}
		switch {
		case negative && quoted:
			p.Excluded = append(p.Excluded, ws)
		case negative && ws[0].Start == 0:
			// The minus is of the one word behind it, not of what is joined to that.
			ws[0].Stop = false // there are documents that have it: "The" is none
			p.Excluded = append(p.Excluded, ws[:1:1])
			if ws = ws[1:]; len(ws) > 0 {
				p.addWords(ws, rest == "" && ws[len(ws)-1].End == len(text), qp.Prefix)
			}
		case quoted:
			p.addPhrases(ws)
		default:
			// Only the last word of all, with nothing behind it, may go on.
			p.addWords(ws, rest == "" && ws[len(ws)-1].End == len(text), qp.Prefix)
		}
	}
	p.Units = p.Units[:min(len(p.Units), MaxUnits)]
	p.Excluded = p.Excluded[:min(len(p.Excluded), MaxUnits)]
	return p
}

// addWords adds a unit for each word. A stop word is one only where it is the
// last and open: it may be the beginning of another.
func (p *Query) addWords(ws []Word, open, prefix bool) {
	for i := range ws {
		last := open && i == len(ws)-1
		if last {
			ws[i].Stop = false
		}
		p.Words = append(p.Words, ws[i])
		if !ws[i].Stop {
			p.Units = append(p.Units, Unit{Words: ws[i : i+1], Prefix: last && prefix, End: len(p.Words)})
		}
	}
}

// addPhrases adds the words of a phrase as a unit, or as several where something
// parts sentences within.
func (p *Query) addPhrases(ws []Word) {
	for len(ws) > 0 {
		n, looked := 1, !ws[0].Stop
		for n < len(ws) && ws[n].Pos == ws[n-1].Pos+1 {
			looked = looked || !ws[n].Stop
			n++
		}
		p.Words = append(p.Words, ws[:n]...)
		if looked {
			p.Units = append(p.Units, Unit{Words: ws[:n], Phrase: true, End: len(p.Words)})
		}
		ws = ws[n:]
	}
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
