package reader

import (
	"context"
	"strings"
)

// readText reads plain text: it has paragraphs, and as a manual page headings.
func readText(ctx context.Context, _ *Reader, data []byte) (*Page, error) {
	text, encoding, err := decode(data, "")
	if err != nil {
		return nil, err
	}
	p, w := &Page{Encoding: encoding}, newWriter(ctx)
	w.plain(text, 1)
	w.finish(p)
	return p, nil
}

// plain writes a text with its blank lines. Its first line is this one of the file; 0: not known.
func (w *writer) plain(text string, number int) {
	for line := range strings.SplitSeq(clean(text), "\n") {
		w.place(number)
		if number > 0 {
			number++
		}
		if line = strings.TrimRight(line, " \t"); line == "" {
			w.block()
			continue
		}
		w.writeLine(plainLine(line))
	}
}
