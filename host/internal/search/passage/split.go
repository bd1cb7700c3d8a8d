package passage

import "strings"

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

// maxRepeated bounds what the parts of a code block repeat of the line of its fence, in bytes.
const maxRepeated = 300

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
