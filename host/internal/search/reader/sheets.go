package reader

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/xuri/excelize/v2"
)

// Bounds of a sheet.
const (
	maxColumns = 500
	maxCells   = 2_000_000 // of all sheets
	// maxShared bounds the bytes of a text that cells share; Excel itself takes 32,767
	// letters. The library copies it for each cell of a row, of which there are maxColumns.
	maxShared = 256 << 10
)

// checkSheets refuses a workbook of which the library would make much more than it is: rows of many
// cells that share a long text.
func (p *packed) checkSheets() error {
	for _, f := range p.z.File {
		text, err := p.xml(f.Name)
		if err != nil || !strings.HasPrefix(strings.TrimSpace(text), "<") {
			continue // no part that the library reads as XML
		}
		cells, shared := 0, -1 // of the row, and of the text, under way
		d := xml.NewDecoder(newInput(p.ctx, text))
		d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // it is UTF-8 by now
		for t, err := d.RawToken(); err == nil; t, err = d.RawToken() {                    // as far as the library gets
			switch t := t.(type) {
			case xml.StartElement:
				switch t.Name.Local {
				case "row":
					cells = 0
				case "v", "is": // a cell without is only drawn in some way
					cells++
				case "si":
					shared = 0
				}
			case xml.EndElement:
				if t.Name.Local == "si" {
					shared = -1
				}
			case xml.CharData:
				if shared >= 0 {
					shared += len(t)
				}
			}
			if cells > maxColumns {
				return errTooManyCells
			}
			if shared > maxShared {
				return fmt.Errorf("a cell has more than %d bytes of text: split it", maxShared)
			}
		}
	}
	return nil
}

var errTooManyCells = fmt.Errorf("it has more than %d cells, or %d columns: split it into several files", maxCells, maxColumns)

// readXLSX reads a workbook: a section a sheet, whose first row that has as many cells as most is the head.
func readXLSX(ctx context.Context, _ *Reader, data []byte) (*Page, error) {
	z, err := openPacked(ctx, data) // bounds what the library is given
	if err != nil {
		return nil, err
	}
	size := uint64(0)
	for _, f := range z.z.File {
		if size += f.UncompressedSize64; size > maxUnpacked {
			return nil, fmt.Errorf("it unpacks to more than %d bytes", maxUnpacked)
		}
	}
	if checked, err := openPacked(ctx, data); err != nil {
		return nil, err
	} else if err := checked.checkSheets(); err != nil {
		return nil, err
	}
	book, err := excelize.OpenReader(bytes.NewReader(data), excelize.Options{UnzipSizeLimit: maxUnpacked, UnzipXMLSizeLimit: maxUnpacked})
	if err != nil {
		return nil, fmt.Errorf("open the workbook that it is: %w", err)
	}
	defer book.Close()
	p, w, cells, text := &Page{Title: z.title()}, newWriter(ctx), 0, 0
	parts := z.sheetParts()
	for i, sheet := range book.GetSheetList() {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		rows, err := book.Rows(sheet)
		if err != nil {
			w.noteLeft("sheets that cannot be read: "+err.Error(), 1)
			continue
		}
		var table [][]string
		links := z.sheetLinks(parts[sheet])
		for number := 1; rows.Next(); number++ {
			heed(ctx)
			row, err := rows.Columns()
			if err != nil {
				return nil, fmt.Errorf("read sheet %q: %w", sheet, err)
			}
			cells += len(row) + 1
			for len(row) > 0 && row[len(row)-1] == "" {
				row = row[:len(row)-1]
			}
			if cells > maxCells || len(row) > maxColumns {
				return nil, errTooManyCells
			}
			here := 0
			for i, cell := range row {
				if name, err := excelize.CoordinatesToCellName(i+1, number); err == nil && len(links) > 0 {
					row[i] = linkText(cell, links[name])
				}
				here += len(row[i])
			}
			if text += here; text > MaxText {
				return nil, errTooLong
			}
			if here > 0 {
				table = append(table, row)
			}
		}
		w.block()
		w.marks = append(w.marks, Mark{At: w.b.Len(), Page: i + 1})
		w.heading(2, clip(sheet, maxTitle), "")
		w.sheet(table)
		comments, _ := book.GetComments(sheet)
		for _, c := range comments {
			w.paragraph(c.Cell + ": " + c.Text)
		}
		for _, drawing := range related(z.relations(parts[sheet]), "drawing") {
			w.paragraph(z.drawingText(drawing, z.relations(drawing)))
		}
	}
	w.finish(p)
	return p, nil
}

// sheetParts are the parts of a workbook's sheets, by their names.
func (p *packed) sheetParts() map[string]string {
	main := p.mainPart("xl/workbook.xml")
	links, parts := p.relations(main), map[string]string{}
	if source, err := p.xml(main); err == nil {
		_ = eachElement(p.ctx, source, func(e xml.StartElement) {
			if e.Name.Local == "sheet" {
				parts[attributeOf(e, "name")] = links[attributeOf(e, "id")].target
			}
		})
	}
	return parts
}

// sheetLinks are where cells of a sheet lead out of the workbook, by their names, such as A1.
func (p *packed) sheetLinks(part string) map[string]string {
	links, cells := p.relations(part), map[string]string{}
	isLink := func(r relation) bool { return r.kind == "hyperlink" }
	if !slices.ContainsFunc(slices.Collect(maps.Values(links)), isLink) {
		return nil
	}
	if source, err := p.xml(part); err == nil {
		_ = eachElement(p.ctx, source, func(e xml.StartElement) {
			if e.Name.Local == "hyperlink" {
				cell, _, _ := strings.Cut(attributeOf(e, "ref"), ":") // of merged cells the first has the text
				cells[cell] = links[attributeOf(e, "id")].target
			}
		})
	}
	return cells
}

// sheet writes rows of which the first ones may be a title above the head.
func (w *writer) sheet(rows [][]string) {
	most := 0
	for _, row := range rows[:min(len(rows), 20)] {
		most = max(most, filled(row))
	}
	for len(rows) > 1 && most > 1 && filled(rows[0])*2 <= most {
		w.paragraph(strings.Join(strings.Fields(strings.Join(rows[0], " ")), " "))
		rows = rows[1:]
	}
	w.table(rows, min(1, max(len(rows)-1, 0)))
}

// filled counts the cells of a row that have something.
func filled(row []string) (n int) {
	for _, cell := range row {
		if strings.TrimSpace(cell) != "" {
			n++
		}
	}
	return n
}
