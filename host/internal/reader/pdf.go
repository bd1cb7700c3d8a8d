package reader

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// pdfPage begins the heading of a page of a PDF file, before its number.
const pdfPage = "Page "

// readPDF reads a PDF file, a section a page.
func readPDF(ctx context.Context, r *Reader, data []byte) (*Page, error) {
	if r.PDF == nil {
		return nil, errors.New("this program reads no PDF files")
	}
	pages, title, err := r.PDF.Text(ctx, data)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	for i, text := range pages {
		if text = strings.TrimSpace(text); text != "" {
			fmt.Fprintf(&b, "## %s%d\n\n%s\n\n", pdfPage, i+1, paragraphs(text))
		}
	}
	return &Page{Title: title, Text: clean(b.String())}, nil
}

// paragraphs puts a blank line where a paragraph of a page seems to end: behind a line that ends a
// sentence and is much shorter than the others.
func paragraphs(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	longest := 0
	for _, l := range lines {
		longest = max(longest, len(l))
	}
	var b strings.Builder
	for _, l := range lines {
		l = plainLine(strings.TrimRight(l, " "))
		b.WriteString(l + "\n")
		if l != "" && strings.ContainsAny(l[len(l)-1:], ".:!?") && 4*len(l) < 3*longest {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
