package reader

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"
)

// maxSlides bounds the slides and sheets that are read.
const maxSlides = 5000

// readPPTX reads a presentation: a section a slide, with its notes.
func readPPTX(ctx context.Context, _ *Reader, data []byte) (*Page, error) {
	z, err := openPacked(data)
	if err != nil {
		return nil, err
	}
	main := z.mainPart("ppt/presentation.xml")
	source, err := z.xml(main)
	if err != nil {
		return nil, err
	}
	var slides []string
	parts := z.relations(main)
	if err := eachElement(source, func(e xml.StartElement) {
		if e.Name.Local == "sldId" {
			for _, a := range e.Attr { // its own id is another one
				if r, ok := parts[a.Value]; ok && r.kind == "slide" {
					slides = append(slides, r.target)
				}
			}
		}
	}); err != nil {
		return nil, fmt.Errorf("read %s: %w", main, err)
	}
	if len(slides) > maxSlides {
		return nil, fmt.Errorf("it has %d slides, and at most %d are read", len(slides), maxSlides)
	}
	p, w := &Page{Title: z.title()}, &writer{}
	for i, slide := range slides {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		w.block()
		w.marks = append(w.marks, Mark{At: w.b.Len(), Page: i + 1})
		s := slideReader{w: w, number: i + 1}
		if err := s.read(z, slide); err != nil {
			return nil, err
		}
		for _, notes := range related(z.relations(slide), "notesSlide") {
			n := slideReader{w: w, notes: true}
			if err := n.read(z, notes); err != nil {
				return nil, err
			}
		}
	}
	w.finish(p)
	return p, nil
}

// A slideReader writes the shapes of a slide, or of the notes to it.
type slideReader struct {
	w      *writer
	number int
	notes  bool

	title, text strings.Builder
	holder      string // what a shape holds: a title, the body, a number
	level       int
	inText      bool
	items       []slideItem
	rows        [][]string
}

type slideItem struct {
	text  string
	level int
	rows  [][]string // a table, instead
}

func (s *slideReader) read(z *packed, part string) error {
	source, err := z.xml(part)
	if err != nil {
		return err
	}
	d := newXML(source)
	d.Strict = false
	for {
		t, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			s.write()
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", part, err)
		}
		switch t := t.(type) {
		case xml.StartElement:
			s.start(t)
		case xml.EndElement:
			s.end(t.Name.Local)
		case xml.CharData:
			if s.inText {
				s.text.Write(t)
			}
		}
	}
}

func (s *slideReader) start(t xml.StartElement) {
	switch t.Name.Local {
	case "sp":
		s.holder = ""
	case "ph":
		s.holder = attributeOf(t, "type")
	case "cNvPr":
		if alt := attributeOf(t, "descr"); alt != "" {
			s.items = append(s.items, slideItem{text: alt})
		}
	case "pPr":
		s.level, _ = strconv.Atoi(attributeOf(t, "lvl"))
	case "t":
		s.inText = true
	case "br":
		s.text.WriteByte('\n')
	case "tbl":
		s.rows = [][]string{}
	case "tr":
		s.rows = append(s.rows, nil)
	}
}

func (s *slideReader) end(name string) {
	switch name {
	case "t":
		s.inText = false
	case "p":
		text := strings.TrimSpace(s.text.String())
		switch {
		case s.rows != nil: // the cell goes on
			s.text.WriteByte(' ')
			return
		case text == "":
		case s.holder == "title" || s.holder == "ctrTitle":
			s.title.WriteString(text + " ")
		case s.holder == "sldNum" || s.holder == "dt" || s.holder == "sldImg":
			s.w.leaveOut("numbers and dates of slides", text)
		default:
			s.items = append(s.items, slideItem{text: text, level: s.level})
		}
		s.text.Reset()
		s.level = 0
	case "tc":
		if n := len(s.rows); n > 0 {
			s.rows[n-1] = append(s.rows[n-1], strings.TrimSpace(s.text.String()))
		}
		s.text.Reset()
	case "tbl":
		s.items = append(s.items, slideItem{rows: s.rows})
		s.rows = nil
	}
}

func (s *slideReader) write() {
	if s.notes {
		for i, item := range s.items {
			if i == 0 {
				item.text = "Notes: " + item.text
			}
			s.w.paragraph(item.text)
		}
		return
	}
	title := strings.TrimSpace(s.title.String())
	if title == "" {
		title = "Slide " + strconv.Itoa(s.number)
	}
	s.w.heading(2, clip(title, maxTitle), "")
	for _, item := range s.items {
		if item.rows != nil {
			s.w.table(item.rows, min(1, len(item.rows)-1))
		} else {
			s.w.item(min(max(item.level, 0), maxIndent), "-", item.text)
		}
	}
}

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
		if p.left < 0 {
			return err
		}
		if err != nil || !strings.HasPrefix(strings.TrimSpace(text), "<") {
			continue // no part that the library reads as XML
		}
		cells, shared := 0, -1 // of the row, and of the text, under way
		d := xml.NewDecoder(strings.NewReader(text))
		d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // it is UTF-8 by now
		for t, err := d.RawToken(); err == nil; t, err = d.RawToken() {                    // as far as the library gets
			switch t := t.(type) {
			case xml.StartElement:
				switch t.Name.Local {
				case "row":
					cells = 0
				case "c":
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
	z, err := openPacked(data) // bounds what the library is given
	if err != nil {
		return nil, err
	}
	size := uint64(0)
	for _, f := range z.z.File {
		if size += f.UncompressedSize64; size > maxUnpacked {
			return nil, fmt.Errorf("it unpacks to more than %d bytes", maxUnpacked)
		}
	}
	if checked, err := openPacked(data); err != nil {
		return nil, err
	} else if err := checked.checkSheets(); err != nil {
		return nil, err
	}
	book, err := excelize.OpenReader(bytes.NewReader(data), excelize.Options{UnzipSizeLimit: maxUnpacked, UnzipXMLSizeLimit: maxUnpacked})
	if err != nil {
		return nil, fmt.Errorf("open the workbook that it is: %w", err)
	}
	defer book.Close()
	p, w, cells, text := &Page{Title: z.title()}, &writer{}, 0, 0
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
		for rows.Next() {
			row, err := rows.Columns()
			if err != nil {
				return nil, fmt.Errorf("read sheet %q: %w", sheet, err)
			}
			if cells += len(row) + 1; cells > maxCells || len(row) > maxColumns {
				return nil, errTooManyCells
			}
			here := 0
			for _, cell := range row {
				here += len(cell)
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
	}
	w.finish(p)
	return p, nil
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

// readODF reads a text, a sheet or a presentation of OpenDocument.
func readODF(_ context.Context, _ *Reader, data []byte) (*Page, error) {
	z, err := openPacked(data)
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
	p, o := &Page{Title: z.title()}, odfReader{w: &writer{}}
	d := newXML(source)
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
	texts   []*strings.Builder // paragraphs within each other
	level   int                // of the heading under way
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
		o.texts = append(o.texts, &strings.Builder{})
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
			o.tables[n-1].endCell()
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
