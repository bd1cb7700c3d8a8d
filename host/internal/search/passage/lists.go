package passage

import (
	"strings"
	"unicode/utf8"
)

// What lists of questions and of contents count of their words: they ask what stands elsewhere.
const ofList = 0.1

// fewestListed is how many questions or headings in a row make a list of such.
const fewestListed = 3

// countText adds the words of a passage's text to counts, one for each term, and returns how many words it has, and
// how many bytes of it are lists of questions, of links, or of headings of its page. Words of these count [ofList].
func (s *scanner) countText(counts []float32, text string, isHeading func(item string) bool) (length, listed int) {
	lists := findLists(text, isHeading)
	if len(lists) == 0 {
		return s.count(counts, text), 0
	}
	ofLists := make([]float32, len(counts))
	at := 0
	for _, l := range lists {
		length += s.count(counts, text[at:l.from])
		length += s.count(ofLists, text[l.from:l.to])
		listed += l.len()
		at = l.to
	}
	length += s.count(counts, text[at:])
	for t, n := range ofLists {
		counts[t] += n * ofList
	}
	return length, listed
}

// findLists returns where text has lists of questions, or of items that are headings or links.
func findLists(text string, isHeading func(item string) bool) (lists []stretch) {
	asks := strings.Count(text, "?") + strings.Count(text, "？")
	if asks < fewestListed && !strings.Contains(text, "\n-") && !strings.Contains(text, "\n*") && !strings.Contains(text, "\n2.") {
		return nil // most texts
	}
	run, n := stretch{}, 0
	end := func() {
		if n >= fewestListed {
			lists = append(lists, run)
		}
		run, n = stretch{}, 0
	}
	at := 0
	for line := range strings.Lines(text) {
		from := at
		at += len(line)
		item := listItem(line)
		switch {
		case item == "":
		case item != strings.TrimSpace(line) && (isHeading(item) || isLink(item)):
			if n++; n == 1 {
				run.from = from
			}
			run.to = at
		default:
			for rest := from; rest < at; {
				// A question ends at its mark, whatever is before it on the line.
				mark := strings.IndexAny(text[rest:at], "?？؟")
				if mark < 0 {
					if strings.TrimSpace(text[rest:at]) != "" {
						end()
					}
					break
				}
				_, size := utf8.DecodeRuneInString(text[rest+mark:])
				if n > 0 && strings.Contains(text[rest:rest+mark], ". ") {
					end() // a sentence between
				}
				if n++; n == 1 {
					run.from = rest
				}
				rest += mark + size
				run.to = rest
			}
		}
	}
	end()
	return lists
}

// isLink reports whether an item is a link, and nothing else.
func isLink(item string) bool {
	return strings.HasPrefix(item, "[") && strings.HasSuffix(item, ")") && strings.Count(item, "](") == 1
}

// listItem is the text of a line without the mark of a list.
func listItem(line string) string {
	line = strings.TrimSpace(line)
	return strings.TrimSpace(strings.TrimLeft(line, "-*+•0123456789.)"))
}
