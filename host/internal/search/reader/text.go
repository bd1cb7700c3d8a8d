package reader

import (
	"context"
	"strings"
)

// readText reads plain text: it has paragraphs, and as a manual page headings.
func readText(_ context.Context, _ *Reader, data []byte) (*Page, error) {
	text, encoding, err := decode(data, "")
	if err != nil {
		return nil, err
	}
	p, w := &Page{Encoding: encoding}, &writer{}
	w.plain(text)
	w.finish(p)
	return p, nil
}

// plain writes a text with its blank lines.
func (w *writer) plain(text string) {
	for line := range strings.SplitSeq(clean(text), "\n") {
		if line = strings.TrimRight(line, " \t"); line == "" {
			w.block()
			continue
		}
		w.b.WriteString(plainLine(line) + "\n")
	}
}
