package reader

import "strings"

// Bounds of what the parser is given: what goes beyond is written as it is.
const (
	// maxMarks bounds how many marks of quotations, lists and footnotes a line begins with: each is a level that
	// the parser goes into.
	maxMarks = 100
	// maxEffort bounds the characters of a paragraph times those of them that may begin something, for which
	// the parser may look through all of it, and maxEffortInAll the sum. Of a line it looks at what is before the
	// text once for each list and quotation around it, which may be half as many as it has columns.
	maxEffort, maxEffortInAll = 64 << 20, 1 << 30
	// maxParts bounds the lines, cells of tables, and characters that may begin something: the parser keeps some
	// 400 bytes for each. A row has all cells of its table, whether it is written in full or not.
	maxParts = 1_000_000
)

// isParsable reports whether a parser of Markdown goes through a text in time and in depth.
func isParsable(source string) bool {
	size, begins, effort, parts, columns, depth := 0, 0, 0, 0, 0, 0
	var within []int // the columns in which what is in the quotations and items under way begins
	for line := range strings.Lines(source) {
		marks, rest := countMarks(line)
		if marks > maxMarks {
			return false
		}
		if lead := columnOf(line[:len(line)-len(strings.TrimLeft(line, " \t>"))]); rest != "" {
			effort += lead * lead / 2
		}
		begun := false
		if rest != "" || marks > 0 {
			indent := columnOf(line[:len(line)-len(strings.TrimLeft(line, " \t"))])
			for len(within) > 0 && within[len(within)-1] > indent {
				within = within[:len(within)-1]
			}
			base := 0
			if n := len(within); n > 0 {
				base = within[n-1]
			}
			// What is indented by four columns more begins nothing within a paragraph.
			if begun = marks > 0 && indent < base+4; begun {
				within = append(within, columnOf(line[:strings.LastIndex(line, rest)]))
			}
			if marks > 0 || len(within) == 0 {
				depth = max(marks, len(within))
			}
		}
		if begun || rest == "" || rest[0] == '|' || rest[0] == '#' { // a block of its own
			effort += size * begins
			size, begins = 0, 0
		}
		switch {
		case rest == "":
			columns = 0
		case strings.Trim(rest, "|:- \t") == "": // what is between the head and the rows of a table
			columns = max(columns, strings.Count(rest, "|"))
		}
		if parts++; rest != "" {
			parts += marks + columns
		} else {
			parts += depth // each level looks at a blank line, and stays open
		}
		size += len(line)
		here := 0
		for i := range len(line) {
			here += int(mayBegin[line[i]])
		}
		begins += here
		parts += here
		if size*begins > maxEffort || effort > maxEffortInAll || parts > maxParts {
			return false
		}
	}
	return true
}

// mayBegin is 1 for the characters that may begin something within a line.
var mayBegin = [256]uint8{'[': 1, '<': 1, '`': 1, '*': 1, '_': 1, '~': 1, '!': 1, '&': 1}

// columnOf is the column that a line is in behind text.
func columnOf(text string) (column int) {
	for i := range len(text) {
		if column++; text[i] == '\t' {
			column = (column + 3) / 4 * 4
		}
	}
	return column
}

// countMarks counts the marks of quotations, items and footnotes that a line begins with.
func countMarks(line string) (marks int, rest string) {
	for rest = strings.Trim(line, " \t\n\v\f\r"); rest != "" && marks <= maxMarks; marks++ {
		switch {
		case rest[0] == '>':
			rest = rest[1:]
		case isItemMark(rest):
			_, rest, _ = strings.Cut(rest, " ")
		case footnoteMark(rest) > 0:
			rest = rest[footnoteMark(rest):]
		default:
			return marks, rest
		}
		rest = strings.TrimLeft(rest, " \t")
	}
	return marks, rest
}

// isItemMark reports whether a line begins with the mark of a list's item.
func isItemMark(line string) bool {
	mark, _, ok := strings.Cut(line, " ")
	return ok && mark != "" && (strings.Trim(mark, "-*+") == "" && len(mark) == 1 || strings.TrimLeft(mark, "0123456789") == "." || strings.TrimLeft(mark, "0123456789") == ")")
}
