package passage

import (
	"strings"
	"unicode"
)

// How much of the largest passage is shown of one. Of long ones the lines around the question's words leave
// room for more passages, and behind the best ones many are about as good as each other.
const (
	shownPart  = 0.55
	firstShown = 5 // passages that are shown so
	laterPart  = 0.3
)

// Fit returns the first of list, best first, whose shown forms have at most budget bytes in all; cost is
// what a passage takes besides its text. Passages longer than their part of size are cut to the lines
// that have most of the question's weight, and so is the last one, where at least a fifth of size is left
// for it.
func Fit(list []Passage, q *Question, budget, size int, cost func(p *Passage) int) []Passage {
	var out []Passage
	for i := range list {
		p := list[i]
		part := shownPart
		if len(out) >= firstShown {
			part = laterPart
		}
		if !p.Row {
			p.Text = Window(p.Text, q, int(float64(size)*part))
		}
		room := budget - cost(&p)
		if len(p.Text) <= room {
			budget = room - len(p.Text)
			out = append(out, p)
			continue
		}
		if room >= min(size/5, len(p.Text)) || len(out) == 0 && room > 0 {
			p.Text = Window(p.Text, q, room)
			if p.Text != "" {
				out = append(out, p)
			}
		}
		break
	}
	return out
}

// maxLine is the length of what Window takes or leaves as one.
const maxLine = 300

// repeated is what a word of the question that a window has already is worth in it, and mostRepeated what
// all of those are at most: of two windows with the same words the fuller one is taken.
const (
	repeated     = 0.1
	mostRepeated = 3
)

// Window returns the stretch of whole lines of text, of at most size bytes, that has most of the
// question's weight, filled up with the lines behind and before it. Rows of a table come with its head.
func Window(text string, q *Question, size int) string {
	if len(text) <= size {
		return text
	}
	lines := cutLines(text)
	s := newScanner(q)
	counts := make([][]float32, len(lines))
	for i, l := range lines {
		counts[i] = make([]float32, len(q.Terms))
		s.count(counts[i], l)
	}
	from, to := bestLines(lines, counts, q, size)
	if to == 0 { // no line fits
		return strings.TrimSpace(lines[0][:cutAt(lines[0], min(size, len(lines[0])-1))])
	}
	head := ""
	if top := tableTop(lines, from); top >= 0 {
		rows := top + 2
		if h := strings.Join(lines[top:rows], ""); len(h) <= size/3 {
			if i, k := bestLines(lines[rows:], counts[rows:], q, size-len(h)); k > 0 && tableTop(lines, rows+i) == top {
				head, from, to, size = h, rows+i, rows+k, size-len(h)
			}
		}
	}
	from, to = growLines(lines, from, to, size, head == "")
	return strings.TrimLeft(strings.TrimRightFunc(head+strings.Join(lines[from:to], ""), unicode.IsSpace), "\n")
}

// bestLines returns the lines, of at most size bytes, that have most of the question's weight; none where no
// line fits. counts are those of each line.
func bestLines(lines []string, counts [][]float32, q *Question, size int) (from, to int) {
	best := -1.0
	seen := make([]bool, len(q.Terms))
	for i := range lines {
		clear(seen)
		value, more, n := 0.0, 0.0, 0
		for k := i; k < len(lines); k++ {
			if n += len(lines[k]); n > size {
				break
			}
			for t, c := range counts[k] {
				switch {
				case c == 0:
				case seen[t]:
					more += repeated * q.Terms[t].IDF
				default:
					seen[t] = true
					value += q.Terms[t].IDF
				}
			}
			if v := value + min(more, mostRepeated); v > best {
				best, from, to = v, i, k+1
			}
		}
	}
	return from, to
}

// growLines adds to the lines from:to those behind and, where up is true, before them, as far as size bytes
// have room: answers follow their words, so more behind than before.
func growLines(lines []string, from, to, size int, up bool) (int, int) {
	n := 0
	for _, l := range lines[from:to] {
		n += len(l)
	}
	for grew := true; grew; {
		grew = false
		for range 2 {
			if to < len(lines) && n+len(lines[to]) <= size {
				n += len(lines[to])
				to++
				grew = true
			}
		}
		if up && from > 0 && n+len(lines[from-1]) <= size {
			from--
			n += len(lines[from])
			grew = true
		}
	}
	return from, to
}

// tableTop returns where the two lines are that are the head of the table in which the line at is a row; -1
// where it is none, or of the head itself. A row says nothing without the names of its columns.
func tableTop(lines []string, at int) int {
	top := at
	for top > 0 && isRow(lines[top]) && isRow(lines[top-1]) {
		top--
	}
	if at <= top || !isRow(lines[at]) || strings.Trim(lines[top+1], "|-: \n") != "" {
		return -1
	}
	return top
}

func isRow(line string) bool { return strings.HasPrefix(line, "|") }

// cutLines cuts a text into lines with their ends, and long lines into pieces.
func cutLines(text string) (lines []string) {
	for line := range strings.Lines(text) {
		for len(line) > maxLine {
			at := cutAt(line, maxLine)
			lines = append(lines, line[:at])
			line = line[at:]
		}
		lines = append(lines, line)
	}
	return lines
}
