package passage

import (
	"strings"
	"unicode/utf8"
)

// A Part is a piece of a text.
type Part struct {
	Headings []string // the headings above it, from the top one down
	// Anchor leads to the last heading, where the text says so: "## Name {#anchor}".
	Anchor string
	Text   string
}

// Sizes of passages besides the largest, as parts of it.
const (
	targetPart = 0.4 // a passage is closed once it would be longer
	smallPart  = 0.1 // a section below it joins the one before
)

// Split cuts a text into parts of at most size bytes, at headings of Markdown, blank lines, line ends and
// spaces, in this order. Fenced code and rows of tables stay whole where they fit. The headings
// themselves are in no part's text, but for those of short sections, which join the part before. A text
// without headings of Markdown may have those of a manual page: lines in capitals.
//
// The parts share the memory of text.
func Split(text string, size int) []Part {
	if strings.Contains(text, "\r") {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	s := splitter{text: text, size: size, manual: !hasHeading(text)}
	for from := 0; from <= len(text); {
		to := len(text)
		if n := strings.IndexByte(text[from:], '\n'); n >= 0 {
			to = from + n
		}
		s.addLine(stretch{from, to})
		from = to + 1
	}
	s.closeSection()
	return s.parts
}

// A stretch is the place of a piece of a text.
type stretch struct{ from, to int }

func (s stretch) len() int { return s.to - s.from }

type splitter struct {
	text   string
	size   int
	manual bool // lines in capitals are headings
	parts  []Part
	path   []heading
	block  stretch   // the lines of the block under way; empty: none is
	blocks []stretch // of the section under way
	fence  string    // that the block under way began with, else empty
}

type heading struct {
	level        int
	text, anchor string
}

// addLine takes the next line.
func (s *splitter) addLine(at stretch) {
	line := s.text[at.from:at.to]
	bare := strings.TrimSpace(line)
	if s.fence != "" {
		s.addToBlock(at)
		if strings.HasPrefix(bare, s.fence) {
			s.fence = ""
			s.closeBlock()
		}
		return
	}
	if f := fenceOf(bare); f != "" {
		s.closeBlock()
		s.fence = f
		s.addToBlock(at)
		return
	}
	h := headingOf(line)
	if h.level == 0 && s.manual && isCapitals(line) {
		h = heading{level: 1, text: bare}
	}
	switch {
	case h.level > 0:
		s.closeSection()
		for len(s.path) > 0 && s.path[len(s.path)-1].level >= h.level {
			s.path = s.path[:len(s.path)-1]
		}
		s.path = append(s.path, h)
	case bare == "":
		s.closeBlock()
	default:
		s.addToBlock(at)
	}
}

func (s *splitter) addToBlock(line stretch) {
	if s.block.len() == 0 {
		s.block.from = line.from
	}
	s.block.to = line.to
}

func (s *splitter) closeBlock() {
	if s.block.len() > 0 {
		s.blocks = append(s.blocks, s.block)
		s.block = stretch{}
	}
}

// closeSection makes parts of the section under way.
func (s *splitter) closeSection() {
	s.closeBlock()
	s.fence = ""
	if len(s.blocks) == 0 {
		return
	}
	headings, anchor := make([]string, len(s.path)), ""
	for i, h := range s.path {
		headings[i], anchor = h.text, h.anchor
	}
	target, small := int(float64(s.size)*targetPart), int(float64(s.size)*smallPart)
	part := stretch{}
	for _, block := range s.blocks {
		s.cutBlock(block, func(piece stretch) {
			most := target
			if piece.len() < small || part.len() < small {
				most = s.size
			}
			switch {
			case part.len() == 0:
				part = piece
			case piece.to-part.from > most:
				s.parts = append(s.parts, Part{headings, anchor, s.text[part.from:part.to]})
				part = piece
			default:
				part.to = piece.to
			}
		})
	}
	s.blocks = s.blocks[:0]
	if text := s.text[part.from:part.to]; !s.join(headings, text, small, target) {
		s.parts = append(s.parts, Part{headings, anchor, text})
	}
}

// join puts a short section, with its heading, behind the one before, unless a heading of the first level is
// between them: a chapter.
func (s *splitter) join(headings []string, text string, small, target int) bool {
	if len(s.parts) == 0 || len(text) >= small {
		return false
	}
	last := &s.parts[len(s.parts)-1]
	if len(last.Text)+len(text) >= target || len(s.path) > 0 && s.path[0].level == 1 && (len(last.Headings) == 0 || last.Headings[0] != s.path[0].text) {
		return false
	}
	if n := len(headings); n > 0 && (len(last.Headings) != n || last.Headings[n-1] != headings[n-1]) {
		text = headings[n-1] + "\n" + text
	}
	last.Text += "\n\n" + text
	return true
}

// cutBlock calls f with a block, or with the pieces of one that is longer than size: cut at line ends, and
// a line that is longer at spaces.
func (s *splitter) cutBlock(block stretch, f func(piece stretch)) {
	if block.len() <= s.size {
		f(block)
		return
	}
	piece := stretch{}
	give := func() {
		if strings.TrimSpace(s.text[piece.from:piece.to]) != "" { // blank lines of code, alone
			f(piece)
		}
		piece = stretch{}
	}
	for from := block.from; from < block.to; {
		line := stretch{from, block.to}
		if n := strings.IndexByte(s.text[from:block.to], '\n'); n >= 0 {
			line.to = from + n
		}
		from = line.to + 1
		for line.len() > s.size {
			give()
			at := line.from + cutAt(s.text[line.from:line.to], s.size)
			piece = stretch{line.from, at}
			give()
			for line.from = at; line.from < line.to && s.text[line.from] == ' '; line.from++ {
			}
		}
		switch {
		case piece.len() == 0:
			piece = line
		case line.to-piece.from > s.size:
			give()
			piece = line
		default:
			piece.to = line.to
		}
	}
	give()
}

// cutAt returns where a line is cut so that at most size bytes, and at least one character, go before:
// behind a sentence if one ends in the second half, else at a space, else where a character ends.
func cutAt(line string, size int) int {
	head := line[:size]
	if at := strings.LastIndex(head, ". "); at > size/2 {
		return at + 1
	}
	if at := strings.LastIndexByte(head, ' '); at > size/2 {
		return at
	}
	for at := size; at > 0; at-- {
		if utf8.RuneStart(line[at]) {
			return at
		}
	}
	return size
}

// fenceOf returns the fence of code that a line begins, or nothing.
func fenceOf(line string) string {
	for _, f := range []string{"```", "~~~"} {
		if strings.HasPrefix(line, f) {
			return f
		}
	}
	return ""
}

// marks takes the marks of emphasis and code out of a heading.
var marks = strings.NewReplacer("`", "", "*", "")

// headingOf reads a heading of Markdown; its level is 0 for any other line.
func headingOf(line string) heading {
	level := 0
	for level < len(line) && line[level] == '#' {
		level++
	}
	if level == 0 || level > 6 || level == len(line) || line[level] != ' ' && line[level] != '\t' {
		return heading{}
	}
	title, anchor := CutAnchor(strings.TrimSpace(line[level:]))
	title = strings.TrimSpace(marks.Replace(strings.TrimRight(title, "#")))
	if title == "" {
		return heading{}
	}
	return heading{level, title, anchor}
}

// CutAnchor takes the anchor off the end of a heading: "Name {#anchor}".
func CutAnchor(title string) (rest, anchor string) {
	at := strings.LastIndex(title, "{#")
	if at < 0 || !strings.HasSuffix(title, "}") || strings.ContainsAny(title[at+2:len(title)-1], " {}") {
		return title, ""
	}
	return strings.TrimSpace(title[:at]), title[at+2 : len(title)-1]
}

// hasHeading reports whether a text has a heading of Markdown.
func hasHeading(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if headingOf(line).level > 0 {
			return true
		}
	}
	return false
}

// isCapitals reports whether a line is a heading of a manual page: it starts at the margin and has
// capitals, digits and little else.
func isCapitals(line string) bool {
	if len(line) < 3 || len(line) > 80 || !isUpper(line[0]) {
		return false
	}
	letters := 0
	for i := range len(line) {
		switch c := line[i]; {
		case isUpper(c):
			letters++
		case '0' <= c && c <= '9', strings.IndexByte(" ,()/'-", c) >= 0:
		default:
			return false
		}
	}
	return letters >= 3
}
