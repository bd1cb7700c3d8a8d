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
	p, w := &Page{}, newWriter(ctx)
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
		notes := strings.Join(text.Pages[i].Notes, "\n")
		if !outlined && strings.TrimSpace(strings.Join(lines, "")+notes) != "" {
			w.heading(2, pdfPage+strconv.Itoa(i+1), "")
		}
		for _, h := range text.Pages[i].Outline {
			lines = w.headed(lines, h)
		}
		w.lines(lines)
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

// headed writes the lines before a heading, and the heading as the page has it, with its number; where the page
// does not have it, nothing is before it. It returns the lines behind it.
func (w *writer) headed(lines []string, h pdf.Heading) (rest []string) {
	want := lettersOf(h.Text)
	for n := 1; n <= 3 && want != ""; n++ { // a long one has more than a line
		for i := range len(lines) - n + 1 {
			line := strings.Join(lines[i:i+n], " ")
			if len(line) > len(h.Text)+maxNumbering {
				continue
			}
			number, ok := strings.CutSuffix(lettersOf(line), want)
			if ok && (len(number) <= 1 || strings.ContainsFunc(number, unicode.IsDigit)) {
				w.lines(lines[:i])
				w.heading(h.Level+1, clip(line, maxTitle), "")
				return lines[i+n:]
			}
		}
	}
	w.heading(h.Level+1, clip(h.Text, maxTitle), "")
	return lines
}

// maxNumbering bounds what stands before the text of a heading, such as "Chapter 12.3.1", in bytes.
const maxNumbering = 20

// lettersOf are the letters and digits of a text, in lower case.
func lettersOf(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// lines writes lines of a page.
func (w *writer) lines(lines []string) {
	if body := strings.TrimSpace(strings.Join(lines, "\n")); body != "" {
		w.block()
		w.plain(paragraphs(body), 0)
	}
}

// Bounds of what runs over pages.
const (
	maxRunning = 3 // lines at the top or at the bottom of a page
	minRunning = 3 // pages that have one
)

// leaveRunning takes the lines out of pages that are at the top or the bottom of many of them, the same but for
// numbers: of at least a third, or of any where the numbers in it change.
func (w *writer) leaveRunning(pages [][]string) {
	for _, last := range []bool{false, true} {
		for range maxRunning {
			times, different := map[string]int{}, map[string]map[string]bool{}
			at := make([]int, len(pages))
			for i, lines := range pages {
				if at[i] = edge(lines, last); at[i] < 0 || edge(lines, !last) == at[i] {
					at[i] = -1 // the only line is text
					continue
				}
				line := lines[at[i]]
				key := withoutNumbers(line)
				if times[key]++; different[key] == nil {
					different[key] = map[string]bool{}
				}
				different[key][line] = true
			}
			taken := false
			for i, lines := range pages {
				if at[i] < 0 {
					continue
				}
				key := withoutNumbers(lines[at[i]])
				if n := times[key]; n >= minRunning && (3*n >= len(pages) || 2*len(different[key]) > n) {
					w.leaveOut("lines that run over the pages", lines[at[i]])
					lines[at[i]] = ""
					taken = true
				}
			}
			if !taken {
				break
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

// withoutNumbers is a line with one sign for each number, Roman ones among them, so that those of pages are the
// same.
func withoutNumbers(line string) string {
	words := strings.Fields(line)
	for i, word := range words {
		if bare := strings.Trim(word, ".-–—|()[]"); bare != "" && strings.Trim(strings.ToLower(bare), "ivxlc") == "" {
			words[i] = "#"
			continue
		}
		words[i] = strings.Join(strings.FieldsFunc("x"+word+"x", unicode.IsDigit), "#")
	}
	return strings.Join(words, " ")
}

// joinHyphens joins the words that are cut at the ends of lines, where the file has the whole word elsewhere.
func joinHyphens(text string, known map[string]bool) string {
	parts := strings.Split(text, pdf.CutMark)
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
