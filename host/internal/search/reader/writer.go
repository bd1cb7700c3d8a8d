package reader

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/parley-search/parley/host/internal/search/passage"
)

// A writer writes a page's text: Markdown of headings, paragraphs, lists, fenced code and tables, that means
// the same to package passage as to whoever wrote the file. A line of text is never taken for a heading, nor
// for a fence.
type writer struct {
	b              textBuilder
	inList         bool
	marks          []Mark
	lists          []listing
	left           map[string]int
	cells, inCells int // of tables that may repeat them, and the bytes in them
}

// A textBuilder puts text together, up to MaxText bytes of it. What would be longer is refused at once: a few
// bytes of a file may stand for a long text, over and over.
// It heeds its context, if it has one.
type textBuilder struct {
	strings.Builder
	ctx context.Context
}

func newWriter(ctx context.Context) *writer { return &writer{b: textBuilder{ctx: ctx}} }

// A refusal is panicked with to end the reading of a file, whose error it is.
type refusal struct{ error }

func (b *textBuilder) WriteString(s string) {
	if b.Len()+len(s) > MaxText {
		panic(refusal{errTooLong})
	}
	if b.ctx != nil {
		heed(b.ctx)
	}
	b.Builder.WriteString(s)
}

// takeCells counts cells of tables with the text that each has, and refuses too many and too much: one may stand
// for many, and they share their text until it is written.
func (w *writer) takeCells(n int, text string) {
	w.cells += n
	w.inCells += n * len(text)
	switch {
	case w.cells > maxCells:
		panic(refusal{errTooManyCells})
	case w.inCells > MaxText:
		panic(refusal{errTooLong})
	}
}

// finish gives a page what was written.
func (w *writer) finish(p *Page) {
	p.Text, p.Marks, p.listings = w.b.String(), w.marks, w.lists
	for rule, words := range w.left {
		p.LeftOut = append(p.LeftOut, LeftOut{rule, words})
	}
	slices.SortFunc(p.LeftOut, func(a, b LeftOut) int { return strings.Compare(a.Rule, b.Rule) })
}

// add writes a page that stands within another.
func (w *writer) add(p *Page) {
	w.block()
	w.b.WriteString(p.Text + "\n")
	for _, l := range p.LeftOut {
		w.noteLeft(l.Rule, l.Words)
	}
}

// addWritten writes what another wrote.
func (w *writer) addWritten(other *writer) {
	var p Page
	other.finish(&p)
	w.add(&p)
}

// maxPlaces bounds the places that are noted.
const maxPlaces = 500_000

// place notes that what comes is on a line of the file.
func (w *writer) place(line int) {
	if n := len(w.marks); line > 0 && n < maxPlaces && (n == 0 || w.marks[n-1].Line < line) {
		w.marks = append(w.marks, Mark{At: w.b.Len(), Line: line})
	}
}

// leaveOut notes that a text is left out by a rule.
func (w *writer) leaveOut(rule, text string) {
	if n := countWords(text); n > 0 {
		w.noteLeft(rule, n)
	}
}

// maxRules bounds the rules that are told: some name what of the file they leave out.
const maxRules = 100

func (w *writer) noteLeft(rule string, words int) {
	if w.left == nil {
		w.left = map[string]int{}
	}
	if _, known := w.left[rule]; !known && len(w.left) >= maxRules {
		rule = "what is left out by other rules"
	}
	if w.left[rule] += words; w.left[rule] <= 0 {
		delete(w.left, rule)
	}
}

// countWords counts runs of letters and digits.
func countWords(text string) int {
	n, in := 0, false
	for _, r := range text {
		is := unicode.IsLetter(r) || unicode.IsDigit(r)
		if is && !in {
			n++
		}
		in = is
	}
	return n
}

// clean returns a text without control characters: they become spaces, and so do spaces that do not break.
func clean(text string) string {
	at := 0
	for at < len(text) && (text[at] >= ' ' && text[at] < 0x7f || text[at] == '\n' || text[at] == '\t') {
		at++
	}
	if at == len(text) {
		return text // most texts
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\u2028' || r == '\u2029':
			return '\n'
		case r < ' ' || r >= 0x7f && r <= 0xa0:
			return ' '
		case r == '\ufeff' || r == '\u00ad': // marks of byte order and of where a word may be cut
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
}

// lines calls f for each line of a text that has something in it, without space at its end.
func lines(text string, f func(line string)) {
	for line := range strings.SplitSeq(clean(text), "\n") {
		if line = strings.TrimRight(line, " \t"); line != "" {
			f(line)
		}
	}
}

// block begins a block, behind a blank line.
func (w *writer) block() {
	w.inList = false
	w.line()
	if s := w.b.String(); s != "" && !strings.HasSuffix(s, "\n\n") {
		w.b.WriteByte('\n')
	}
}

// line begins a line.
func (w *writer) line() {
	if s := w.b.String(); s != "" && !strings.HasSuffix(s, "\n") {
		w.b.WriteByte('\n')
	}
}

// heading writes a heading; anchor is what leads to it, or empty.
func (w *writer) heading(level int, text, anchor string) {
	text = strings.Join(strings.Fields(clean(text)), " ")
	if text == "" {
		return
	}
	w.block()
	if anchor != "" && clean(anchor) == anchor && !strings.ContainsAny(anchor, " \t\n{}") { // what is read back as one
		text += " {#" + anchor + "}"
	}
	w.b.WriteString(strings.Repeat("#", min(max(level, 1), 6)) + " " + text + "\n\n")
}

// paragraph writes lines of text.
func (w *writer) paragraph(text string) {
	begun := false
	lines(text, func(line string) {
		if !begun {
			w.block()
			begun = true
		}
		w.writeLine(plainLine(line))
	})
}

// writeLine writes a line and its end.
func (w *writer) writeLine(line string) {
	w.b.WriteString(line)
	w.b.WriteByte('\n')
}

// maxIndent bounds how deep lists are shown within each other.
const maxIndent = 8

// item writes an item of a list that is depth lists deep, 0 for the outermost, or with an empty mark more of
// the item before.
func (w *writer) item(depth int, mark, text string) {
	if !w.inList {
		w.block()
		w.inList = true
	}
	w.line()
	indent := strings.Repeat("  ", min(depth, maxIndent))
	lines(text, func(line string) {
		if mark == "" {
			mark, line = " ", plainLine(line)
		}
		w.b.WriteString(indent)
		w.b.WriteString(mark)
		w.b.WriteByte(' ')
		w.writeLine(strings.TrimLeft(line, " \t"))
		mark = ""
	})
}

// code writes text as it is; info says what it is, such as its language.
func (w *writer) code(info, text string) {
	text = strings.Trim(clean(text), "\n")
	if strings.TrimSpace(text) == "" {
		w.leaveOut("code without lines", info)
		return
	}
	w.block()
	fence := fenceFor(text)
	w.writeLine(fence + strings.Join(strings.Fields(strings.ReplaceAll(clean(info), "`", "")), " "))
	w.writeLine(text)
	w.writeLine(fence)
}

// fenceFor is a fence that is longer than any in a text.
func fenceFor(text string) string {
	most, run := 2, 0
	for i := range len(text) {
		if text[i] == '`' {
			run++
			most = max(most, run)
		} else {
			run = 0
		}
	}
	return strings.Repeat("`", most+1)
}

// wideRow is from where rows of a table are written a cell a line, in bytes.
const wideRow = 700

// table writes rows of cells; the first heads of them are the head. Where rows are long, each becomes a
// paragraph with a line a cell, under its name.
func (w *writer) table(rows [][]string, heads int) {
	rows = slices.DeleteFunc(rows, func(row []string) bool { return strings.Join(row, "") == "" })
	if len(rows) == 0 {
		return
	}
	columns, most := 0, 0
	for _, row := range rows {
		size := 0
		for i := range row {
			row[i] = strings.Join(strings.Fields(clean(row[i])), " ")
			size += len(row[i])
		}
		columns, most = max(columns, len(row)), max(most, size)
	}
	heads = min(heads, len(rows))
	w.block()
	if most > wideRow && heads == 1 {
		w.records(rows[0], rows[1:])
		return
	}
	for i, row := range rows {
		if i == heads && heads > 0 {
			w.b.WriteString(strings.Repeat("|---", columns) + "|\n")
		}
		w.b.WriteString("|")
		for _, cell := range row {
			w.b.WriteString(" " + strings.ReplaceAll(cell, "|", `\|`) + " |")
		}
		w.b.WriteByte('\n')
	}
	if heads == len(rows) {
		w.b.WriteString(strings.Repeat("|---", columns) + "|\n")
	}
}

// records writes rows as paragraphs with a line a cell.
func (w *writer) records(names []string, rows [][]string) {
	if len(rows) == 0 {
		w.paragraph(strings.Join(names, " "))
	}
	for _, row := range rows {
		w.block()
		for i, cell := range row {
			name := "column " + strconv.Itoa(i+1)
			if i < len(names) && names[i] != "" {
				name = names[i]
			}
			if cell != "" {
				w.b.WriteString(plainLine(name) + ": " + cell + "\n")
			}
		}
	}
}

// plainLine keeps a line of text from being read as a heading or a fence: a command of the root user begins
// with a hash, too.
func plainLine(line string) string {
	if strings.HasPrefix(line, "#") {
		return " " + line
	}
	if bare := strings.TrimLeft(line, " \t"); strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~") {
		return `\` + bare
	}
	return line
}

// maxSpanned bounds the bytes in which the end of a mark within a line is looked for, so that a line of marks
// without an end is not gone through for each of them.
const maxSpanned = 2000

// cutNear is [strings.Cut] where the end is near.
func cutNear(text, end string) (before, after string, ok bool) {
	i := strings.Index(text[:min(len(text), maxSpanned)], end)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(end):], true
}

// isAddress reports whether a link leads somewhere by itself, so that an answer can show it.
func isAddress(target string) bool {
	for _, scheme := range []string{"https://", "http://", "mailto:", "ftp://", "tel:"} {
		if len(target) > len(scheme) && strings.EqualFold(target[:len(scheme)], scheme) {
			return true
		}
	}
	return false
}

// linkText is a link as text: with its target where that is an address.
func linkText(text, target string) string {
	text = strings.TrimSpace(text)
	switch bare := strings.TrimPrefix(target, "mailto:"); {
	case !isAddress(target), strings.Contains(text, bare), len(target) > passage.MaxHeading:
		return text
	case text == "":
		return target
	}
	return "[" + text + "](" + target + ")"
}

// A textLink is a link whose text is under way.
type textLink struct {
	at     int // where it begins in the text
	target string
}

// endLink writes where a link leads, unless its text says so.
func (b *textBuilder) endLink(l textLink) {
	if text := b.String(); isAddress(l.target) && l.at <= len(text) && !strings.Contains(text[l.at:], strings.TrimPrefix(l.target, "mailto:")) {
		b.WriteString(" (" + l.target + ")")
	}
}
