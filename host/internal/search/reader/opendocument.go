package reader

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// readODF reads a text, a sheet or a presentation of OpenDocument.
func readODF(ctx context.Context, _ *Reader, data []byte) (*Page, error) {
	z, err := openPacked(ctx, data)
	if err != nil {
		return nil, err
	}
	if manifest, err := z.xml("META-INF/manifest.xml"); err == nil && strings.Contains(manifest, "encryption-data") {
		return nil, errors.New("it is protected by a password")
	}
	source, err := z.xml("content.xml")
	if err != nil {
		return nil, err
	}
	p, o := &Page{Title: z.title()}, odfReader{w: newWriter(ctx)}
	d := newXML(ctx, source)
	d.Strict = false
	for {
		t, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read content.xml: %w", err)
		}
		switch t := t.(type) {
		case xml.StartElement:
			if err := o.start(t); err != nil {
				return nil, err
			}
		case xml.EndElement:
			o.end(t.Name.Local)
		case xml.CharData:
			switch {
			case o.skipped > 0:
				o.w.leaveOut(o.rule, string(t))
			case len(o.texts) > 0:
				o.texts[len(o.texts)-1].WriteString(string(t))
			}
		}
	}
	o.w.finish(p)
	return p, nil
}

type odfReader struct {
	w       *writer
	texts   []*textBuilder // paragraphs within each other
	level   int            // of the heading under way
	lists   int
	tables  []*docxTable
	skipped int
	rule    string
	pages   int
}

// odfLeft are the elements that are left out with all in them.
var odfLeft = map[string]string{"annotation": "comments", "tracked-changes": "deleted text", "note-citation": "numbers of notes", "forms": "controls of forms", "automatic-styles": "styles", "font-face-decls": "styles"}

func (o *odfReader) start(t xml.StartElement) error {
	if rule, ok := odfLeft[t.Name.Local]; o.skipped > 0 || ok {
		if o.skipped == 0 {
			o.rule = rule
		}
		o.skipped++
		return nil
	}
	switch t.Name.Local {
	case "p", "h":
		if len(o.texts) == maxNested {
			return fmt.Errorf("paragraphs stand more than %d deep in content.xml", maxNested)
		}
		o.texts = append(o.texts, &textBuilder{})
		o.level = 0
		if t.Name.Local == "h" {
			o.level, _ = strconv.Atoi(attributeOf(t, "outline-level"))
			o.level = max(o.level, 1)
		}
	case "s":
		n, _ := strconv.Atoi(attributeOf(t, "c"))
		o.add(strings.Repeat(" ", min(max(n, 1), 100)))
	case "tab":
		o.add(" ")
	case "line-break":
		o.add("\n")
	case "list":
		o.lists++
	case "page": // of a presentation
		o.pages++
		o.w.block()
		o.w.marks = append(o.w.marks, Mark{At: o.w.b.Len(), Page: o.pages})
		o.w.heading(2, "Slide "+strconv.Itoa(o.pages), "")
	case "table":
		if len(o.tables) == maxNested {
			return fmt.Errorf("tables stand more than %d deep in content.xml", maxNested)
		}
		if len(o.tables) == 0 {
			if name := attributeOf(t, "name"); name != "" && len(o.texts) == 0 {
				o.w.heading(2, clip(name, maxTitle), "")
			}
		}
		o.tables = append(o.tables, &docxTable{})
	case "table-row":
		if n := len(o.tables); n > 0 {
			o.tables[n-1].rows = append(o.tables[n-1].rows, nil)
		}
	case "table-cell", "covered-table-cell":
		if n := len(o.tables); n > 0 {
			o.tables[n-1].cell.Reset()
			repeat, _ := strconv.Atoi(attributeOf(t, "number-columns-repeated"))
			o.tables[n-1].span = min(max(repeat, 1), maxSpan)
		}
	}
	return nil
}

func (o *odfReader) add(text string) {
	if n := len(o.texts); n > 0 {
		o.texts[n-1].WriteString(text)
	}
}

func (o *odfReader) end(name string) {
	if o.skipped > 0 {
		o.skipped--
		return
	}
	switch name {
	case "p", "h":
		o.endParagraph()
	case "list":
		o.lists = max(o.lists-1, 0)
	case "table-cell", "covered-table-cell":
		if n := len(o.tables); n > 0 {
			o.tables[n-1].endCell(o.w)
		}
	case "table":
		n := len(o.tables)
		if n == 0 {
			return
		}
		table := o.tables[n-1]
		o.tables = o.tables[:n-1]
		rows := slices.DeleteFunc(table.rows, func(row []string) bool { return filled(row) == 0 })
		for i, row := range rows { // a sheet may repeat its last empty cell a thousand times
			for len(row) > 0 && row[len(row)-1] == "" {
				row = row[:len(row)-1]
			}
			rows[i] = row
		}
		if n > 1 {
			for _, row := range rows {
				o.tables[n-2].cell.WriteString(strings.Join(row, " ") + " ")
			}
			return
		}
		o.w.sheet(rows)
	}
}

func (o *odfReader) endParagraph() {
	n := len(o.texts)
	if n == 0 {
		return
	}
	text := strings.TrimSpace(o.texts[n-1].String())
	o.texts = o.texts[:n-1]
	switch {
	case text == "":
	case len(o.tables) > 0:
		o.tables[len(o.tables)-1].cell.WriteString(text + " ")
	case n > 1: // a note, or a box, in another paragraph
		o.texts[n-2].WriteString(" (" + text + ")")
	case o.level > 0 && len(text) <= maxTitle:
		o.w.heading(o.level, text, "")
	case o.lists > 0:
		o.w.item(min(o.lists-1, maxIndent), "-", text)
	default:
		o.w.paragraph(text)
	}
	o.level = 0
}
