package passage

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Part is a piece of a text.
type Part struct {
	Headings []string // the headings above it, from the top one down
	Joined   []string // the headings within it, of sections that joined it
	// Anchor leads to the last heading, where the text says so: "## Name {#anchor}".
	Anchor string
	Text   string
	From   int // where it begins in the text that was split, in bytes
}

// Sizes of passages besides the largest, as parts of it.
const (
	targetPart = 0.4 // a passage is closed once it would be longer
	smallPart  = 0.1 // a section below it joins the one before
)

// maxRepeated bounds what the parts of a table or list repeat: the head, or the line before, in bytes.
const maxRepeated = 300

// MaxHeading bounds a heading, in bytes: a longer line is text.
const MaxHeading = 300

// Split cuts a text into parts of at most size bytes, 200 or more, at headings of Markdown, blank lines, line
// ends and spaces, in this order. Fenced code and rows of tables stay whole where they fit: of what does not,
// each part repeats the fence, the table's head, or the line before a list. A line that ends in a colon or a
// question mark stays with what follows.
//
// Every word of the text is in the headings or the text of a part: a heading without text of its own, and
// without a section below it, is text, and so are the headings of a short section that joins the part
// before. A manual page has lines in capitals as headings.
//
// Where nothing is repeated, the parts share the memory of text.
func Split(text string, size int) []Part {
	if strings.Contains(text, "\r") {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	s := splitter{text: text, size: size, manual: isManual(text)}
	for from := 0; from <= len(text); {
		to := len(text)
		if n := strings.IndexByte(text[from:], '\n'); n >= 0 {
			to = from + n
		}
		s.addLine(stretch{from, to})
		from = to + 1
	}
	s.closeSection()
	s.leave(0)
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
	from         int
	told         bool // it is in the headings of a part
}

// addLine takes the next line.
func (s *splitter) addLine(at stretch) {
	line := s.text[at.from:at.to]
	bare := strings.TrimSpace(line)
	if s.fence != "" {
		s.addToBlock(at)
		if strings.HasPrefix(bare, s.fence) && strings.Trim(bare, s.fence[:1]) == "" {
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
		s.leave(h.level)
		h.from = at.from
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

// leave ends the sections of a level and below. A heading that no part has becomes a part.
func (s *splitter) leave(level int) {
	for n := len(s.path); n > 0 && s.path[n-1].level >= level; n-- {
		if h := &s.path[n-1]; !h.told {
			s.addPart(s.newPart(h.text, h.from), "")
		}
		s.path = s.path[:n-1]
	}
}

// newPart makes a part of the section under way, which tells its headings.
func (s *splitter) newPart(text string, from int) Part {
	p := Part{Headings: make([]string, len(s.path)), Text: text, From: from}
	for i := range s.path {
		s.path[i].told = true
		p.Headings[i], p.Anchor = s.path[i].text, s.path[i].anchor
	}
	return p
}

// A piece is a block or a part of one, with what stands before and behind it besides: it is then a part of
// its own.
type piece struct {
	stretch
	before, behind string
}

// closeSection makes parts of the section under way.
func (s *splitter) closeSection() {
	s.closeBlock()
	s.fence = ""
	if len(s.blocks) == 0 {
		return
	}
	target, small := int(float64(s.size)*targetPart), int(float64(s.size)*smallPart)
	part, lead := piece{}, 0 // lead: where the last block of part begins, if it stays with what follows
	give := func() {
		if part.len() > 0 {
			s.addPart(s.newPart(part.before+s.text[part.from:part.to]+part.behind, part.from), s.text[part.from:part.to])
		}
		part, lead = piece{}, 0
	}
	for i, block := range s.blocks {
		before := stretch{}
		if i > 0 && s.isLead(s.blocks[i-1]) {
			before = s.blocks[i-1]
		}
		s.cutBlock(block, before, func(next piece) {
			most := target
			if next.len() < small || part.len() < small {
				most = s.size
			}
			switch {
			case part.len() == 0:
			case next.before != "" || next.behind != "":
				if lead > part.from && len(next.before)+len(next.behind)+next.to-lead <= s.size {
					next.from, part.to = lead, s.endBefore(lead)
				} else if next.before == "" && part.before == "" && len(next.behind)+next.to-part.from <= s.size {
					next.from, part = part.from, piece{}
				}
				give()
			case len(part.before)+next.to-part.from > most:
				if lead > part.from && next.to-lead <= s.size {
					next.from, part.to = lead, s.endBefore(lead)
				}
				give()
			default:
				next.stretch.from, next.before = part.from, part.before
			}
			part, lead = next, 0
			if next.behind != "" {
				give()
			}
		})
		if part.len() > 0 && s.isLead(block) {
			lead = block.from
		}
	}
	s.blocks = s.blocks[:0]
	give()
}

// endBefore is where the text before at ends.
func (s *splitter) endBefore(at int) int {
	return len(strings.TrimRight(s.text[:at], " \t\n"))
}

// isLead reports whether a block is one line that announces the next one.
func (s *splitter) isLead(block stretch) bool {
	if block.len() == 0 || block.len() > maxRepeated {
		return false
	}
	text := strings.TrimRight(s.text[block.from:block.to], " \t*_")
	return (strings.HasSuffix(text, ":") || strings.HasSuffix(text, "?")) && !strings.Contains(text, "\n") && text[0] != '|'
}

// addPart takes a part. A short one joins the part before, below those of its headings that differ, unless a
// heading of the first level is between them: a chapter. Own is its text apart from its headings.
func (s *splitter) addPart(p Part, own string) {
	target, small := int(float64(s.size)*targetPart), int(float64(s.size)*smallPart)
	if len(s.parts) > 0 && len(p.Text) < small {
		last := &s.parts[len(s.parts)-1]
		same := 0
		for same < min(len(last.Headings), len(p.Headings)) && last.Headings[same] == p.Headings[same] {
			same++
		}
		chapter := len(s.path) > 0 && s.path[0].level == 1 && same == 0
		text := own
		if names := strings.Join(p.Headings[same:], " > "); names != "" {
			text = strings.TrimSuffix(names+"\n"+own, "\n")
		}
		if !chapter && len(last.Text)+2+len(text) < target {
			last.Text += "\n\n" + text
			last.Joined = append(last.Joined, p.Headings[same:]...)
			return
		}
	}
	s.parts = append(s.parts, p)
}

// cutBlock calls f with a block, or with the pieces of one that is longer than size: cut at line ends, and
// a line that is longer at spaces. Lead is the line that announces the block, or empty.
func (s *splitter) cutBlock(block, lead stretch, f func(piece)) {
	if block.len() <= s.size {
		f(piece{stretch: block})
		return
	}
	before, behind, from := s.repeated(block, lead)
	size := s.size - len(before) - len(behind)
	if lead.len() < s.size/4 {
		size -= lead.len() + 2 // the first piece has it before it
	}
	first := true
	now := stretch{block.from, from}
	give := func(last bool) {
		if strings.TrimSpace(s.text[now.from:now.to]) != "" { // blank lines of code, alone
			p := piece{stretch: now, before: before, behind: behind}
			if first {
				p.before = ""
			}
			if last {
				p.behind = ""
			}
			f(p)
			first = false
		}
		now = stretch{}
	}
	for from < block.to {
		line := stretch{from, block.to}
		if n := strings.IndexByte(s.text[from:block.to], '\n'); n >= 0 {
			line.to = from + n
		}
		from = line.to + 1
		for line.len() > size {
			give(false)
			at := line.from + cutAt(s.text[line.from:line.to], size)
			now = stretch{line.from, at}
			give(false)
			for line.from = at; line.from < line.to && s.text[line.from] == ' '; line.from++ {
			}
		}
		switch {
		case now.len() == 0:
			now = line
		case line.to-now.from > size:
			give(false)
			now = line
		default:
			now.to = line.to
		}
	}
	give(true)
}

// repeated is what each piece of a block that is cut has before and behind it, but for the first and the
// last one, and where in the block its first lines end that stay together.
func (s *splitter) repeated(block, lead stretch) (before, behind string, from int) {
	text := s.text[block.from:block.to]
	first, rest, _ := strings.Cut(text, "\n")
	if f := fenceOf(strings.TrimSpace(first)); f != "" {
		if len(first)+len(f) > min(maxRepeated, s.size/4) {
			return "", "", block.from
		}
		return first + GoesOn + "\n", "\n" + f, block.from
	}
	if second, _, _ := strings.Cut(rest, "\n"); isTableRule(second) {
		if head := len(first) + 1 + len(second); head <= min(maxRepeated, s.size/3) {
			return text[:head] + "\n", "", block.from + head
		}
	}
	if lead.len() > 0 && lead.len() < s.size/4 && isItem(text) {
		return s.text[lead.from:lead.to] + "\n", "", block.from
	}
	return "", "", block.from
}

// GoesOn is behind the fence of a piece of code that does not begin there.
const GoesOn = " (goes on)"

// isTableRule reports whether a line is the one below the head of a table.
func isTableRule(line string) bool {
	return strings.Contains(line, "|") && strings.Contains(line, "-") && strings.Trim(line, "|-: \t") == ""
}

// isItem reports whether a text begins with an item of a list.
func isItem(text string) bool {
	text = strings.TrimLeft(text, " \t")
	if rest := strings.TrimLeft(text, "0123456789"); len(rest) < len(text) {
		return strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") ")
	}
	return len(text) > 1 && strings.IndexByte("-*+", text[0]) >= 0 && text[1] == ' '
}

// cutAt returns where a line is cut so that at most size bytes, and at least one character, go before:
// behind a sentence if one ends in the second half, else at a space or behind a word there, else where a
// character ends.
func cutAt(line string, size int) int {
	head := line[:size]
	if at := strings.LastIndex(head, ". "); at > size/2 {
		return at + 1
	}
	if at := strings.LastIndexByte(head, ' '); at > size/2 {
		return at
	}
	whole := 0 // the last place between characters
	for at := size; at > size/2; at-- {
		if !utf8.RuneStart(line[at]) {
			continue
		}
		if whole == 0 {
			whole = at
		}
		if before, _ := utf8.DecodeLastRuneInString(line[:at]); !unicode.IsLetter(before) && !unicode.IsDigit(before) && !unicode.IsMark(before) {
			return at // behind a word
		}
	}
	if whole == 0 { // of characters that are longer than half of size
		return size
	}
	return whole
}

// fenceOf returns the fence of code that a line begins, or nothing.
func fenceOf(line string) string {
	if len(line) < 3 || line[0] != '`' && line[0] != '~' {
		return ""
	}
	n := len(line) - len(strings.TrimLeft(line, line[:1]))
	if n < 3 || line[0] == '`' && strings.Contains(line[n:], "`") { // code within a line
		return ""
	}
	return line[:n]
}

// withoutMarks takes the marks of emphasis and code out of a heading, but for those between two words, as in 2*3.
func withoutMarks(heading string) string {
	if !strings.ContainsAny(heading, "`*") {
		return heading
	}
	inWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }
	var b strings.Builder
	for len(heading) > 0 {
		at := strings.IndexAny(heading, "`*")
		if at < 0 {
			break
		}
		rest := strings.TrimLeft(heading[at:], "`*")
		before, _ := utf8.DecodeLastRuneInString(heading[:at])
		after, _ := utf8.DecodeRuneInString(rest)
		b.WriteString(heading[:at])
		if inWord(before) && inWord(after) {
			b.WriteString(heading[at : len(heading)-len(rest)])
		}
		heading = rest
	}
	b.WriteString(heading)
	return b.String()
}

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
	if closed := strings.TrimRight(title, "#"); closed == "" || closed[len(closed)-1] == ' ' || closed[len(closed)-1] == '\t' {
		title = closed // "## Name ##", and not "## C#"
	}
	title = strings.TrimSpace(withoutMarks(title))
	if title == "" || len(title) > MaxHeading {
		return heading{}
	}
	return heading{level: level, text: title, anchor: anchor}
}

// CutAnchor takes the anchor off the end of a heading: "Name {#anchor}".
func CutAnchor(title string) (rest, anchor string) {
	at := strings.LastIndex(title, "{#")
	if at < 0 || !strings.HasSuffix(title, "}") || strings.ContainsAny(title[at+2:len(title)-1], " {}") {
		return title, ""
	}
	return strings.TrimSpace(title[:at]), title[at+2 : len(title)-1]
}

// isManual reports whether a text is a manual page: two lines in capitals, one of which all of these have,
// and no heading of Markdown.
func isManual(text string) bool {
	capitals, usual := 0, false
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case line == "" || line[0] != '#' && !isUpper(line[0]):
		case headingOf(line).level > 0:
			return false
		case isCapitals(line):
			capitals++
			usual = usual || line == "NAME" || line == "SYNOPSIS" || line == "DESCRIPTION"
		}
	}
	return usual && capitals > 1
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
