package passage

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxHeading bounds a heading, in bytes: a longer line is text.
const MaxHeading = 300

type heading struct {
	level        int
	text, anchor string
	from         int
	told         bool // it is in the headings of a part
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
