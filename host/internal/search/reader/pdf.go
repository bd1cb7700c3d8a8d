package reader

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"unicode"

	"github.com/parley-search/parley/host/internal/search/reader/pdf"
)

// pdfPage begins the heading of a page of a PDF file without an outline, before its number.
const pdfPage = "Page "

// readPDF reads a PDF file: below the headings of its outline, or else a section a page.
func readPDF(ctx context.Context, r *Reader, data []byte) (*Page, error) {
	if r.PDF == nil {
		return nil, errors.New("this program reads no PDF files")
	}
	text, err := r.PDF.Text(ctx, data)
	if err != nil {
		return nil, err
	}
	p, w := &Page{}, &writer{}
	if isTitle(text.Title) {
		p.Title = text.Title
	}
	pages := make([][]string, len(text.Pages))
	outlined, known := false, map[string]bool{}
	for i := range text.Pages {
		outlined = outlined || len(text.Pages[i].Outline) > 0
		for word := range strings.FieldsFuncSeq(text.Pages[i].Text, isNoLetter) {
			known[strings.ToLower(word)] = true
		}
	}
	for i := range text.Pages {
		pages[i] = strings.Split(clean(strings.ReplaceAll(joinHyphens(text.Pages[i].Text, known), "\r\n", "\n")), "\n")
	}
	w.leaveRunning(pages)
	for i, lines := range pages {
		w.block()
		w.marks = append(w.marks, Mark{At: w.b.Len(), Page: i + 1})
		for _, h := range text.Pages[i].Outline {
			w.heading(h.Level+1, clip(h.Text, maxTitle), "")
		}
		body := strings.TrimSpace(strings.Join(lines, "\n"))
		notes := strings.Join(text.Pages[i].Notes, "\n")
		if !outlined && body+notes != "" {
			w.heading(2, pdfPage+strconv.Itoa(i+1), "")
		}
		w.plain(paragraphs(body), 0)
		w.paragraph(notes)
	}
	if countWords(w.b.String()) == 0 || !outlined && strings.TrimSpace(w.b.String()) == "" {
		return nil, errors.New("its pages are pictures: there is no text in it that could be found")
	}
	w.finish(p)
	return p, nil
}

// PDF reads PDF files.
type PDF interface {
	// Text returns what can be read in a file. The error says what is wrong with it.
	Text(ctx context.Context, data []byte) (*pdf.Text, error)
}

// A line runs over pages where it is the first or the last of so many, and of at least half of all.
const minRunning = 3

// leaveRunning takes the lines out of pages that are at the top or the bottom of most of them, the same but for
// numbers.
func (w *writer) leaveRunning(pages [][]string) {
	for _, last := range []bool{false, true} {
		times := map[string]int{}
		at := make([]int, len(pages))
		for i, lines := range pages {
			if at[i] = edge(lines, last); at[i] >= 0 {
				times[withoutNumbers(lines[at[i]])]++
			}
		}
		for i, lines := range pages {
			if at[i] < 0 {
				continue
			}
			if n := times[withoutNumbers(lines[at[i]])]; n >= minRunning && 2*n >= len(pages) && edge(lines, !last) != at[i] {
				w.leaveOut("lines that run over the pages", lines[at[i]])
				lines[at[i]] = ""
			}
		}
	}
}

// edge is where the first or the last line with text is, -1 where there is none.
func edge(lines []string, last bool) int {
	for i := range lines {
		if last {
			i = len(lines) - 1 - i
		}
		if strings.TrimSpace(lines[i]) != "" {
			return i
		}
	}
	return -1
}

// withoutNumbers is a line with one sign for each number, so that those of pages are the same.
func withoutNumbers(line string) string {
	return strings.Join(strings.FieldsFunc(line, func(r rune) bool { return unicode.IsDigit(r) || r == ' ' }), "#")
}

// cutMark is what PDFium has for a hyphen at the end of a line, without that end.
const cutMark = "\x02"

// joinHyphens joins the words that are cut at the ends of lines, where the file has the whole word elsewhere.
func joinHyphens(text string, known map[string]bool) string {
	parts := strings.Split(text, cutMark)
	var b strings.Builder
	for i, part := range parts {
		if i > 0 {
			head := b.String()
			begin := strings.LastIndexFunc(head, isNoLetter) + 1
			end := strings.IndexFunc(part, isNoLetter)
			if end < 0 {
				end = len(part)
			}
			if !known[strings.ToLower(head[begin:]+part[:end])] {
				b.WriteByte('-')
			}
		}
		b.WriteString(part)
	}
	return b.String()
}

func isNoLetter(r rune) bool { return !unicode.IsLetter(r) }

// paragraphs puts a blank line where a paragraph of a page seems to end: behind a line that ends a
// sentence and is much shorter than the others.
func paragraphs(text string) string {
	lines := strings.Split(text, "\n")
	longest := 0
	for _, l := range lines {
		longest = max(longest, len(l))
	}
	var b strings.Builder
	for _, l := range lines {
		l = strings.TrimRight(l, " ")
		b.WriteString(l + "\n")
		if l != "" && strings.ContainsAny(l[len(l)-1:], ".:!?") && 4*len(l) < 3*longest {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
