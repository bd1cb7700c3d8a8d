package reader

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// readDOCX reads a document of a word processor: its paragraphs, headings by their style, and tables.
func readDOCX(_ context.Context, _ *Reader, data []byte) (*Page, error) {
	z, err := openZip(data)
	if err != nil {
		return nil, err
	}
	left := maxUnpacked
	body, err := unpack(z, "word/document.xml", &left)
	if err != nil {
		return nil, err
	}
	p := &Page{}
	if core, err := unpack(z, "docProps/core.xml", &left); err == nil {
		p.Title = elementText(core, "title")
	}
	text, err := docxText(body)
	if err != nil {
		return nil, err
	}
	p.Text = clean(text)
	return p, nil
}

// maxNested bounds how deep paragraphs and tables stand within each other: text boxes and cells have some.
const maxNested = 64

// docxText writes WordprocessingML as Markdown.
func docxText(body []byte) (string, error) {
	d := xml.NewDecoder(bytes.NewReader(body))
	d.Strict = false
	w := docxWriter{}
	for skipped := 0; ; {
		t, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return w.out.String(), nil
		}
		if err != nil {
			return "", fmt.Errorf("read word/document.xml: %w", err)
		}
		switch t := t.(type) {
		case xml.StartElement:
			// What stands in for those who cannot show the choice before it says the same again.
			if skipped > 0 || t.Name.Local == "Fallback" {
				skipped++
			} else if err := w.start(t); err != nil {
				return "", err
			}
		case xml.EndElement:
			if skipped > 0 {
				skipped--
			} else {
				w.end(t.Name.Local)
			}
		case xml.CharData:
			if w.inText && skipped == 0 {
				w.paragraph().text.Write(t)
			}
		}
	}
}

// A docxWriter writes the elements of a document as Markdown.
type docxWriter struct {
	out    strings.Builder
	nested []*docxParagraph // those that have begun
	inText bool
	rows   int             // rows of tables within each other
	cell   strings.Builder // of the outermost row
}

type docxParagraph struct {
	text  strings.Builder
	style string
}

// paragraph is the innermost one.
func (w *docxWriter) paragraph() *docxParagraph {
	if len(w.nested) == 0 {
		w.nested = append(w.nested, &docxParagraph{})
	}
	return w.nested[len(w.nested)-1]
}

func (w *docxWriter) start(t xml.StartElement) error {
	switch t.Name.Local {
	case "p":
		if len(w.nested) == maxNested {
			return fmt.Errorf("paragraphs stand more than %d deep in word/document.xml", maxNested)
		}
		w.nested = append(w.nested, &docxParagraph{})
	case "pStyle":
		w.paragraph().style = attributeOf(t, "val")
	case "outlineLvl":
		if n, err := strconv.Atoi(attributeOf(t, "val")); err == nil && n < 6 {
			w.paragraph().style = "heading" + strconv.Itoa(n+1)
		}
	case "t":
		w.inText = true
	case "tab":
		w.paragraph().text.WriteByte(' ')
	case "br", "cr":
		w.paragraph().text.WriteByte('\n')
	case "tr":
		w.rows++
	}
	return nil
}

func (w *docxWriter) end(name string) {
	switch name {
	case "t":
		w.inText = false
	case "p":
		p := w.paragraph()
		w.nested = w.nested[:len(w.nested)-1]
		w.write(p)
	case "tc":
		if w.rows == 1 {
			w.endCell()
		}
	case "tr":
		if w.rows == 1 {
			if w.cell.Len() > 0 {
				w.endCell()
			}
			w.out.WriteString("|\n")
		}
		w.rows = max(w.rows-1, 0)
	case "tbl":
		if w.rows == 0 {
			w.out.WriteByte('\n')
		}
	}
}

func (w *docxWriter) endCell() {
	w.out.WriteString("| " + strings.Join(strings.Fields(w.cell.String()), " ") + " ")
	w.cell.Reset()
}

func (w *docxWriter) write(p *docxParagraph) {
	text := strings.TrimSpace(p.text.String())
	switch level := headingLevel(p.style); {
	case text == "":
	case w.rows > 0:
		w.cell.WriteString(text + " ")
	case level > 0:
		w.out.WriteString(strings.Repeat("#", level) + " " + strings.Join(strings.Fields(text), " ") + "\n\n")
	case strings.HasPrefix(strings.ToLower(p.style), "list"):
		w.out.WriteString("- " + text + "\n")
	default:
		for line := range strings.SplitSeq(text, "\n") {
			w.out.WriteString(plainLine(line) + "\n")
		}
		w.out.WriteByte('\n')
	}
}

// headingLevel returns the level of a paragraph's style, 0 for one that is no heading.
func headingLevel(style string) int {
	s := strings.ToLower(strings.ReplaceAll(style, " ", ""))
	if s == "title" {
		return 1
	}
	for _, prefix := range []string{"heading", "berschrift", "überschrift", "titre"} {
		if rest, ok := strings.CutPrefix(s, prefix); ok {
			if n, err := strconv.Atoi(rest); err == nil && n >= 1 && n <= 6 {
				return n
			}
		}
	}
	return 0
}
