package pdf

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// minGap is how many characters wide the white between columns is, at least.
const minGap = 1.8

// gaps are where the words of a line begin that wide gaps are before. The line leads to the right.
func (l *line) gaps() (gaps []int) {
	width, characters := 0.0, 0
	for _, w := range l.words {
		width, characters = width+w.x1-w.x0, characters+w.to-w.from
	}
	for i, w := range l.words {
		if i > 0 && max(w.x0-l.words[i-1].x1, l.words[i-1].x0-w.x1)*float64(characters) > minGap*width {
			gaps = append(gaps, i)
		}
	}
	return gaps
}

// hasGap reports whether a line has a wide gap, wherever it leads.
func (l *line) hasGap() bool {
	turned := line{words: slices.Clone(l.words)}
	for i := range turned.words {
		turned.words[i].box = turned.words[i].turned(l.turn(false), false)
	}
	return len(turned.gaps()) > 0
}

// piecesOf are the pieces of a line, which wide gaps part.
func (p *placer) piecesOf(l line, turn int, isBackwards bool) (pieces []piece) {
	for i := range l.words {
		l.words[i].box = l.words[i].turned(turn, isBackwards)
	}
	from := 0
	for _, to := range append(l.gaps(), len(l.words)) {
		pieces = append(pieces, p.pieceOf(l.words[from:to]))
		from = to
	}
	return pieces
}

// What sentences end with, and what their parts do.
const (
	endMarks  = ".:!?。！？؟"
	stopMarks = endMarks + ",;，、；،؛"
)

// pieceOf is a piece of words.
func (p *placer) pieceOf(words []word) piece {
	one := piece{box: words[0].box, from: words[0].from, to: words[len(words)-1].to, first: words[0].x1 - words[0].x0}
	for _, w := range words {
		one.box = one.union(w.box)
	}
	text := p.text[one.from:one.to]
	one.unit = (one.x1 - one.x0) / float64(len(text))
	for i, r := range text {
		switch {
		case unicode.IsLetter(r):
			one.letters++
		case unicode.IsDigit(r): // which text has few of
			one.letters--
		}
		if i+1 == len(text) || isSpace(text[i+1]) && !isSpace(r) {
			one.words++
			if strings.ContainsRune(stopMarks, r) {
				one.stops++
			}
			one.ends = strings.ContainsRune(endMarks, r)
		}
	}
	one.goesOn = unicode.IsLetter(text[0]) && !unicode.IsUpper(text[0]) && !unicode.IsTitle(text[0])
	return one
}

// evenHeights makes pieces as high as lines are apart: fonts say little of how high their letters are.
func evenHeights(pieces []piece) {
	down := slices.SortedFunc(slices.Values(pieces), func(p, q piece) int { return cmp.Compare(p.y1, q.y1) })
	var pitches []float64
	for i, p := range down {
		for _, q := range down[i+1 : min(i+9, len(down))] { // some are of other columns
			if q.x0 < p.x1 && p.x0 < q.x1 && q.y1-p.y1 > p.unit {
				pitches = append(pitches, q.y1-p.y1)
				break
			}
		}
	}
	if len(pitches) == 0 {
		return
	}
	slices.Sort(pitches)
	pitch := pitches[len(pitches)/2]
	for i := range pieces {
		p := &pieces[i]
		p.y0 = p.y1 - min(0.9*pitch, 6*p.unit)
	}
}
