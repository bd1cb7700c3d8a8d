package pdf

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

// Bounds of the look at where the words of a page are, each of which takes microseconds.
const (
	maxPlaced = 10_000 // words; a page with more is read as it is drawn
	everyLine = 3      // of how many lines one is looked at word by word, where these show no gaps
)

// cut is what the library has for a hyphen at the end of a line, and for that end.
const cut = '\ufffe'

// A word is a run of characters of a text without space.
type word struct {
	from, to int // in characters
	box
}

// A line is words of a line, and where it leads on the page.
type line struct {
	words  []word
	dx, dy float64
}

// A placer looks up where the characters of a page are.
type placer struct {
	instance pdfium.Pdfium
	page     references.FPDF_TEXTPAGE
	text     []rune
	isPlain  bool // each character of the page is one of the text
}

// inReadingOrder returns the text of a page with its columns one after the other. Files have text in the order in which it
// was drawn, and the library joins what is drawn one after the other in a line.
func (p *placer) inReadingOrder() string {
	lines, letters, backwards := p.lines()
	if lines == nil || !p.place(lines) {
		return string(p.text)
	}
	isBackwards := 2*backwards > letters
	turn := turnOf(lines, isBackwards)
	var pieces, aside []piece
	for _, l := range lines {
		if l.turn(isBackwards) != turn {
			aside = append(aside, piece{from: l.words[0].from, to: l.words[len(l.words)-1].to})
			continue
		}
		pieces = append(pieces, p.piecesOf(l, turn, isBackwards)...)
	}
	evenHeights(pieces)
	if turn != 0 { // the library has lines that lead upwards or down as if they were one
		pieces = byPlace(pieces)
	}
	order := readingOrder(pieces)
	if order == nil && turn == 0 {
		return string(p.text)
	}
	read := make([]piece, 0, len(pieces)+len(aside))
	for _, i := range order {
		read = append(read, pieces[i])
	}
	if order == nil {
		read = append(read, pieces...)
	}
	return p.join(append(read, aside...))
}

// lines are the lines of the text, with how many letters they have, and how many of these are read from right to left. There
// are none where no columns can be.
func (p *placer) lines() (lines []line, letters, backwards int) {
	words := 0
	for at := 0; at < len(p.text); {
		end := at
		for end < len(p.text) && !strings.ContainsRune("\r\n", p.text[end]) && p.text[end] != cut {
			end++
		}
		var l line
		for i := at; i < end; i++ {
			if isSpace(p.text[i]) {
				continue
			}
			w := word{from: i}
			for i < end && !isSpace(p.text[i]) {
				if unicode.IsLetter(p.text[i]) {
					letters++
					if unicode.In(p.text[i], unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana) {
						backwards++
					}
				}
				i++
			}
			w.to = i
			l.words = append(l.words, w)
		}
		if len(l.words) > 0 {
			lines, words = append(lines, l), words+len(l.words)
		}
		at = end + 1
	}
	if len(lines) < 2 || words < 8 || words > maxPlaced {
		return nil, 0, 0
	}
	return lines, letters, backwards
}

func isSpace(r rune) bool { return unicode.IsSpace(r) || r == 0 }

// place finds where the words of lines are, or where lines show no gaps, where each line begins and ends. It reports false
// where nothing can be in another order: the lines that are looked at have no gaps, and each is below the one before. It does
// so, too, where the library does not know.
func (p *placer) place(lines []line) bool {
	isParted := false
	for i := 0; i < len(lines) && !isParted; i += everyLine {
		if !p.mayHaveGap(&lines[i]) {
			continue
		}
		if !p.placeLine(&lines[i]) {
			return false
		}
		isParted = lines[i].hasGap()
	}
	if !isParted && p.leadDown(lines) {
		return false
	}
	for i := range lines {
		l := &lines[i]
		if n := len(l.words); n > 2 && !isParted {
			l.words[1].to = l.words[n-1].to
			l.words = l.words[:2]
		}
		if !p.placeLine(l) {
			return false
		}
	}
	return true
}

// mayHaveGap reports whether a line was drawn in several pieces, or has several spaces in a row. To ask for that takes much
// less time than where each word is.
func (p *placer) mayHaveGap(l *line) bool {
	if len(l.words) < 2 {
		return false
	}
	for i, w := range l.words[1:] {
		if w.from-l.words[i].to > 1 {
			return true
		}
	}
	from, to := l.words[0].from, l.words[len(l.words)-1].to
	if !p.isPlain {
		return true
	}
	r, err := p.instance.FPDFText_CountRects(&requests.FPDFText_CountRects{TextPage: p.page, StartIndex: from, Count: to - from})
	return err != nil || r.Count > 1
}

// leadDown reports whether each line is below the one before, but for those that begin a column or a page's foot: at most
// one is beside the line before, or a little above it.
func (p *placer) leadDown(lines []line) bool {
	beside := 0
	var last box
	for i := range lines {
		b, ok := p.boxOf(lines[i].words[0].from)
		if !ok {
			return false
		}
		height := max(b.y1-b.y0, last.y1-last.y0)
		if up := (b.y0 + b.y1 - last.y0 - last.y1) / 2; i > 0 && up > -height/3 && up < 3*height {
			if beside++; beside > 1 {
				return false
			}
		}
		last = b
	}
	return true
}

// placeLine finds where the words of a line are.
func (p *placer) placeLine(l *line) bool {
	var first, last box
	for i := range l.words {
		w := &l.words[i]
		begin, ok := p.boxOf(w.from)
		end := begin
		if ok && w.to-w.from > 1 {
			end, ok = p.boxOf(w.to - 1)
		}
		if !ok {
			return false
		}
		if w.box = begin.union(end); i == 0 {
			first = begin
		}
		last = end
	}
	l.dx, l.dy = last.x0+last.x1-first.x0-first.x1, last.y0+last.y1-first.y0-first.y1
	return true
}

// boxOf is where a character is, with the white that its font has above and below; y grows upwards. The library knows
// that of letters that are upright, and of others what is drawn.
func (p *placer) boxOf(at int) (box, bool) {
	if !p.isPlain {
		index, err := p.instance.FPDFText_GetCharIndexFromTextIndex(&requests.FPDFText_GetCharIndexFromTextIndex{TextPage: p.page, NTextIndex: at})
		if err != nil {
			return box{}, false
		}
		at = index.CharIndex
	}
	if b, err := p.instance.FPDFText_GetLooseCharBox(&requests.FPDFText_GetLooseCharBox{TextPage: p.page, Index: at}); err == nil && b.Rect.Left < b.Rect.Right && b.Rect.Bottom < b.Rect.Top {
		return box{float64(b.Rect.Left), float64(b.Rect.Bottom), float64(b.Rect.Right), float64(b.Rect.Top)}, true
	}
	b, err := p.instance.FPDFText_GetCharBox(&requests.FPDFText_GetCharBox{TextPage: p.page, Index: at})
	if err != nil {
		return box{}, false
	}
	return box{b.Left, b.Bottom, b.Right, b.Top}, true
}

// turn is where a line leads on its page, in quarters of a circle: 0 to the right, 1 upwards.
func (l *line) turn(isBackwards bool) int {
	dx, dy := l.dx, l.dy
	if isBackwards {
		dx, dy = -dx, -dy
	}
	switch {
	case math.Abs(dy) > math.Abs(dx) && dy > 0:
		return 1
	case math.Abs(dy) > math.Abs(dx):
		return 3
	case dx < 0:
		return 2
	}
	return 0
}

// turnOf is where most characters of lines lead, but for those of labels.
func turnOf(lines []line, isBackwards bool) int {
	var characters [4]int
	for i := range lines {
		if n := lines[i].words[len(lines[i].words)-1].to - lines[i].words[0].from; n > 8 {
			characters[lines[i].turn(isBackwards)] += n
		}
	}
	most := 0
	for i, n := range characters {
		if n > characters[most] {
			most = i
		}
	}
	return most
}

// turned is a place on a page where lines lead elsewhere than to the right, or are read from right to left.
func (b box) turned(turn int, isBackwards bool) box {
	switch turn {
	case 0:
		b = box{b.x0, -b.y1, b.x1, -b.y0}
	case 1:
		b = box{b.y0, b.x0, b.y1, b.x1}
	case 2:
		b = box{-b.x1, b.y0, -b.x0, b.y1}
	case 3:
		b = box{-b.y1, -b.x1, -b.y0, -b.x0}
	}
	if isBackwards {
		b.x0, b.x1 = -b.x1, -b.x0
	}
	return b
}

// join writes pieces, a line each, or where they are the rest of a line in the file.
func (p *placer) join(pieces []piece) string {
	var b strings.Builder
	for i, one := range pieces {
		text := p.text[one.from:one.to]
		isCut := one.to < len(p.text) && p.text[one.to] == cut
		if i+1 == len(pieces) {
			b.WriteString(string(text))
			if isCut {
				b.WriteByte('-')
			}
			break
		}
		next := pieces[i+1].from
		if n := len(text) - 1; n > 0 && text[n] == '-' && unicode.IsLetter(text[n-1]) && unicode.IsLower(p.text[next]) {
			text, isCut = text[:n], true
		}
		b.WriteString(string(text))
		switch {
		case isCut && unicode.IsLetter(p.text[next]):
			b.WriteRune(cut)
		case isCut:
			b.WriteString("-\r\n")
		case one.to < next && !slices.ContainsFunc(p.text[one.to:next], func(r rune) bool { return !isSpace(r) || r == '\n' }):
			b.WriteByte(' ')
		default:
			b.WriteString("\r\n")
		}
	}
	return b.String()
}
