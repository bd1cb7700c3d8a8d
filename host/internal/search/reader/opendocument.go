package reader

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// readODF reads a text, a sheet or a presentation of OpenDocument, packed or as one file of XML.
func readODF(ctx context.Context, _ *Reader, data []byte) (*Page, error) {
	if source := flatXML(data); source != "" {
		p, o := &Page{}, odfReader{w: newWriter(ctx)}
		if err := eachToken(ctx, source, o.take); err != nil {
			return nil, fmt.Errorf("read its XML: %w", err)
		}
		o.w.finish(p)
		return p, nil
	}
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
	p, o := &Page{Title: z.title()}, odfReader{w: newWriter(ctx), z: z}
	if err := eachToken(ctx, source, o.take); err != nil {
		return nil, fmt.Errorf("read content.xml: %w", err)
	}
	o.writeAround()
	o.w.finish(p)
	return p, nil
}

// flatXML is a document that is one file of XML, as text; empty: it is none.
func flatXML(data []byte) string {
	if bytes.HasPrefix(data, []byte("PK")) {
		return ""
	}
	source, _, err := decode(data, declaredXML(data))
	if err != nil || !strings.HasPrefix(strings.TrimSpace(source), "<") {
		return ""
	}
	return source
}

type odfReader struct {
	w       *writer
	z       *packed        // nil: it is one file
	texts   []*textBuilder // paragraphs within each other
	links   []textLink
	level   int // of the heading under way
	lists   int
	tables  []*docxTable
	skipped int
	rule    string
	pages   int
}

// take takes a token of a document.
func (o *odfReader) take(t xml.Token) error {
	switch t := t.(type) {
	case xml.StartElement:
		return o.start(t)
	case xml.EndElement:
		o.end(t.Name.Local)
	case xml.CharData:
		if o.skipped > 0 {
			o.w.leaveOut(o.rule, string(t))
		} else {
			o.add(string(t))
		}
	}
	return nil
}

// writeAround writes what stands above and below pages, each text once.
func (o *odfReader) writeAround() {
	source, err := o.z.xml("styles.xml")
	if err != nil {
		return
	}
	var texts []string
	seen := map[string]bool{}
	part, inside := odfReader{}, ""
	_ = eachToken(o.z.ctx, source, func(t xml.Token) error {
		switch t := t.(type) {
		case xml.StartElement:
			if name := t.Name.Local; inside == "" && (strings.HasPrefix(name, "header") || strings.HasPrefix(name, "footer")) {
				inside, part = name, odfReader{w: newWriter(o.z.ctx), z: o.z}
				return nil
			}
		case xml.EndElement:
			if t.Name.Local == inside {
				if text := strings.TrimSpace(part.w.b.String()); text != "" && !seen[text] {
					texts, seen[text] = append(texts, text), true
				}
				inside = ""
			}
		}
		if inside == "" {
			return nil
		}
		return part.take(t)
	})
	o.w.paragraph(strings.Join(texts, "\n"))
}

// addObject writes the text of an object that is embedded in the document, such as a chart.
func (o *odfReader) addObject(name string) {
	if o.z == nil || name == "" {
		return
	}
	source, err := o.z.xml(path.Join(name, "content.xml"))
	if err != nil {
		return
	}
	part := odfReader{w: newWriter(o.z.ctx)}
	_ = eachToken(o.z.ctx, source, part.take)
	if text := part.w.b.String(); text == "" {
		o.w.leaveOut("formulas and other objects", charData(o.z.ctx, source))
	} else if len(o.texts) > 0 {
		o.add("\n" + text)
	} else {
		o.w.paragraph(text)
	}
}

// odfLeft are the elements that are left out with all in them.
var odfLeft = map[string]string{"annotation": "comments", "tracked-changes": "deleted text", "note-citation": "numbers of notes", "forms": "controls of forms", "binary-data": "pictures", "automatic-styles": "styles", "font-face-decls": "styles"}

func (o *odfReader) start(t xml.StartElement) error {
	if rule, ok := odfLeft[t.Name.Local]; o.skipped > 0 || ok {
		if o.skipped == 0 {
			o.rule = rule
		}
		o.skipped++
		return nil
	}
	switch t.Name.Local {
	case "p", "h", "title", "desc": // the last two of a picture
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
	case "a":
		if n := len(o.texts); n > 0 && len(o.links) < maxNested {
			o.links = append(o.links, textLink{o.texts[n-1].Len(), attributeOf(t, "href")})
		}
	case "object":
		o.addObject(attributeOf(t, "href"))
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
			if name := attributeOf(t, "name"); name != "" && name != "local-table" && len(o.texts) == 0 { // that of a chart
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
	case "p", "h", "title", "desc":
		o.endParagraph()
	case "a":
		if n := len(o.links); n > 0 && len(o.texts) > 0 {
			o.texts[len(o.texts)-1].endLink(o.links[n-1])
			o.links = o.links[:n-1]
		}
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
