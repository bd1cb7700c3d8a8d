package passage

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

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
			first = f
		}
		if len(f) > s.size/4 {
			return "", "", block.from
		}
		return first + GoesOn + "\n", "\n" + f, block.from
	}
	if second, _, _ := strings.Cut(rest, "\n"); isTableRule(second) {
		if head := len(first) + 1 + len(second); head <= s.size/2 {
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
