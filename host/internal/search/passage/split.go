package passage

import (
	"strings"
	"unicode/utf8"
)

// A Part is a piece of a text.
type Part struct {
	Headings []string // the headings above it, from the top one down
	Text     string
}

// Sizes of passages besides the largest, as parts of it.
const (
	targetPart = 0.4 // a passage is closed once it would be longer
	smallPart  = 0.1 // a section below it joins the one before
)

// Split cuts a text into parts of at most size bytes, at headings of Markdown, blank lines, line ends and
// spaces, in this order. Fenced code and rows of tables stay whole where they fit. The headings
// themselves are in no part's text. A text without headings of Markdown may have those of a manual page:
// lines in capitals.
func Split(text string, size int) []Part {
	s := splitter{size: size, manual: !hasHeading(text)}
	for line := range strings.SplitSeq(text, "\n") {
		s.addLine(strings.TrimRight(line, "\r"))
	}
	s.closeSection()
	return s.parts
}

type splitter struct {
	size   int
	manual bool // lines in capitals are headings
	parts  []Part
	path   []heading
	lines  []string // of the block under way
	blocks []string // of the section under way
	fence  string   // that the block under way began with, else empty
}

type heading struct {
	level int
	text  string
}

// addLine takes the next line.
func (s *splitter) addLine(line string) {
	bare := strings.TrimSpace(line)
	if s.fence != "" {
		s.lines = append(s.lines, line)
		if strings.HasPrefix(bare, s.fence) {
			s.fence = ""
			s.closeBlock()
		}
		return
	}
	if f := fenceOf(bare); f != "" {
		s.closeBlock()
		s.fence = f
		s.lines = append(s.lines, line)
		return
	}
	level, title := headingOf(line)
	if level == 0 && s.manual && isCapitals(line) {
		level, title = 1, bare
	}
	switch {
	case level > 0:
		s.closeSection()
		for len(s.path) > 0 && s.path[len(s.path)-1].level >= level {
			s.path = s.path[:len(s.path)-1]
		}
		s.path = append(s.path, heading{level, title})
	case bare == "":
		s.closeBlock()
	default:
		s.lines = append(s.lines, line)
	}
}

func (s *splitter) closeBlock() {
	if len(s.lines) > 0 {
		s.blocks = append(s.blocks, strings.Join(s.lines, "\n"))
		s.lines = s.lines[:0]
	}
}

// closeSection makes parts of the section under way.
func (s *splitter) closeSection() {
	s.closeBlock()
	s.fence = ""
	if len(s.blocks) == 0 {
		return
	}
	var headings []string
	for _, h := range s.path {
		headings = append(headings, h.text)
	}
	target, small := int(float64(s.size)*targetPart), int(float64(s.size)*smallPart)
	text := ""
	for _, block := range s.blocks {
		for _, piece := range cutBlock(block, s.size) {
			most := target
			if len(piece) < small || len(text) < small {
				most = s.size
			}
			switch {
			case text == "":
				text = piece
			case len(text)+len(piece)+2 > most:
				s.parts = append(s.parts, Part{headings, text})
				text = piece
			default:
				text += "\n\n" + piece
			}
		}
	}
	s.blocks = s.blocks[:0]
	if !s.join(headings, text, small, target) {
		s.parts = append(s.parts, Part{headings, text})
	}
}

// join puts a short section behind the one before, where both are under the same top heading.
func (s *splitter) join(headings []string, text string, small, target int) bool {
	if len(s.parts) == 0 || len(text) >= small {
		return false
	}
	last := &s.parts[len(s.parts)-1]
	if len(last.Text)+len(text) >= target || top(last.Headings) != top(headings) {
		return false
	}
	if n := len(headings); n > 0 && (len(last.Headings) != n || last.Headings[n-1] != headings[n-1]) {
		text = headings[n-1] + "\n" + text
	}
	last.Text += "\n\n" + text
	return true
}

func top(headings []string) string {
	if len(headings) == 0 {
		return ""
	}
	return headings[0]
}

// cutBlock cuts a block that is longer than size at line ends, and a line that is at spaces.
func cutBlock(block string, size int) []string {
	if len(block) <= size {
		return []string{block}
	}
	var out []string
	text := ""
	for line := range strings.SplitSeq(block, "\n") {
		for len(line) > size {
			if text != "" {
				out = append(out, text)
				text = ""
			}
			at := cutAt(line, size)
			out = append(out, line[:at])
			line = strings.TrimLeft(line[at:], " ")
		}
		switch {
		case text == "":
			text = line
		case len(text)+1+len(line) > size:
			out = append(out, text)
			text = line
		default:
			text += "\n" + line
		}
	}
	if text != "" {
		out = append(out, text)
	}
	return out
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

// headingOf reads a heading of Markdown; level is 0 for any other line.
func headingOf(line string) (level int, title string) {
	for level < len(line) && line[level] == '#' {
		level++
	}
	if level == 0 || level > 6 || level == len(line) || line[level] != ' ' && line[level] != '\t' {
		return 0, ""
	}
	title = strings.TrimRight(strings.TrimSpace(line[level:]), "#")
	title = strings.TrimSpace(strings.NewReplacer("`", "", "*", "").Replace(title))
	if title == "" {
		return 0, ""
	}
	return level, title
}

// hasHeading reports whether a text has a heading of Markdown.
func hasHeading(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if level, _ := headingOf(line); level > 0 {
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
