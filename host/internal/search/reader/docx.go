package reader

import (
	"context"
	"encoding/xml"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// readDOCX reads a document of a word processor: its paragraphs, headings by their style, lists, tables,
// notes behind the paragraph that refers to them, and what is above and below pages once.
func readDOCX(ctx context.Context, r *Reader, data []byte) (*Page, error) {
	if read := formOf(data, !r.within); read != nil { // programs call other files so, since word processors open them
		return read(ctx, r, data)
	}
	z, err := openPacked(ctx, data)
	if err != nil {
		return nil, err
	}
	main := z.mainPart("word/document.xml")
	d := docx{z: z, w: newWriter(ctx), notes: map[string]string{}}
	parts := z.relations(main)
	for _, part := range z.beside(main, parts, "styles") {
		d.readStyles(part)
	}
	for _, kind := range []string{"footnotes", "endnotes"} {
		for _, part := range z.beside(main, parts, kind) {
			d.textOf(part) // which keeps them
		}
	}
	p := &Page{Title: z.title()}
	if err := d.part(main); err != nil {
		return nil, err
	}
	var rest strings.Builder
	rest.WriteString(d.around(main, parts))
	for _, key := range slices.Sorted(maps.Keys(d.notes)) { // to which nothing refers
		rest.WriteString("\nNote: " + d.notes[key])
	}
	if rest.Len() > 0 {
		d.w.heading(1, p.Title, "")
		d.w.paragraph(rest.String())
	}
	for _, part := range z.beside(main, parts, "comments") {
		d.w.leaveOut("comments", d.textOf(part))
	}
	d.w.finish(p)
	return p, nil
}

type docx struct {
	z      *packed
	w      *writer
	styles map[string]docxStyle
	notes  map[string]string // by the name and id of what refers to them
}

// maxNested bounds how deep paragraphs, tables and links are within each other: text boxes and cells have some.
// Each link is looked for in the text that it has.
const maxNested = 64

// part writes a part with paragraphs.
func (d *docx) part(name string) error {
	source, err := d.z.xml(name)
	if err != nil {
		return err
	}
	b := docxBody{docx: d, links: d.z.relations(name)}
	err = eachToken(d.z.ctx, source, func(t xml.Token) error {
		switch t := t.(type) {
		case xml.StartElement:
			return b.start(t)
		case xml.EndElement:
			b.end(t.Name.Local)
		case xml.CharData:
			b.text(string(t))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	for len(b.nested) > 0 {
		b.endParagraph()
	}
	return nil
}

// A docxBody writes the elements of a part.
type docxBody struct {
	*docx
	links   map[string]relation
	nested  []*docxParagraph // those that have begun
	tables  []*docxTable     // within each other
	inText  bool
	hidden  bool        // of the run under way
	skipped int         // elements within one that is left out
	rule    string      // by which
	fields  []docxField // within each other
	note    string      // what refers to the note under way
	noteAt  int         // where that begins
}

// A docxField is a field that has begun: what it says, and behind that what it shows.
type docxField struct {
	in    *docxParagraph // where it began
	says  string
	shows bool
	// Of a list to choose from: its entries, and which one is chosen.
	entries []string
	chosen  int
}

type docxParagraph struct {
	text   textBuilder
	style  string
	level  int
	inList bool
	depth  int // of the list
	links  []textLink
	notes  []string
}

// docxLeft are the elements that are left out with all in them.
var docxLeft = map[string]string{
	"Fallback":     "what stands in for a shape that cannot be shown", // the shape says the same
	"moveFrom":     "text where it was before it was moved",
	"del":          "deleted text",
	"instrText":    "instructions of fields",
	"pPrChange":    "former formats",
	"rPrChange":    "former formats",
	"tblPrChange":  "former formats",
	"sectPrChange": "former formats",
}

// paragraph is the innermost one.
func (b *docxBody) paragraph() *docxParagraph {
	if len(b.nested) == 0 {
		b.nested = append(b.nested, &docxParagraph{})
	}
	return b.nested[len(b.nested)-1]
}

func (b *docxBody) text(text string) {
	switch {
	case b.skipped > 0:
		b.w.leaveOut(b.rule, text)
		if n := len(b.fields); b.rule == docxLeft["instrText"] && n > 0 {
			b.fields[n-1].add(text)
		}
	case !b.inText:
	case b.asking() != nil: // of a field that another one asks for
		b.asking().add(text)
		b.w.leaveOut(docxLeft["instrText"], text)
	case b.hidden:
		b.w.leaveOut("hidden text", text)
	default:
		b.paragraph().text.WriteString(text)
	}
}

func (b *docxBody) start(t xml.StartElement) error {
	if rule, ok := docxLeft[t.Name.Local]; b.skipped > 0 || ok {
		if b.skipped == 0 {
			b.rule = rule
		}
		b.skipped++
		return nil
	}
	switch t.Name.Local {
	case "p":
		if len(b.nested) == maxNested {
			return fmt.Errorf("paragraphs stand more than %d deep", maxNested)
		}
		b.nested = append(b.nested, &docxParagraph{})
	case "pStyle":
		b.paragraph().style = attributeOf(t, "val")
	case "outlineLvl":
		if n, err := strconv.Atoi(attributeOf(t, "val")); err == nil && n < 9 {
			b.paragraph().level = n + 1
		}
	case "numPr":
		b.paragraph().inList = true
	case "ilvl":
		b.paragraph().depth, _ = strconv.Atoi(attributeOf(t, "val"))
	case "r":
		b.hidden = false
	case "vanish", "webHidden":
		b.hidden = isOn(t)
	case "t":
		b.inText = true
	case "tab", "ptab":
		b.add(" ")
	case "br", "cr":
		b.add("\n")
	case "noBreakHyphen":
		b.add("-")
	case "footnoteReference", "endnoteReference":
		key := t.Name.Local + " " + attributeOf(t, "id")
		if text := b.notes[key]; text != "" {
			delete(b.notes, key)
			p := b.paragraph()
			p.notes = append(p.notes, text)
		}
	case "footnote", "endnote":
		b.note, b.noteAt = t.Name.Local+"Reference "+attributeOf(t, "id"), b.w.b.Len()
	case "docPr":
		b.add(" " + attributeOf(t, "descr") + " ")
	case "textpath": // of letters that are a drawing
		b.add(" " + attributeOf(t, "string") + " ")
	case "relIds", "chart":
		if text := b.z.drawnBy(t, b.links); text != "" {
			b.add("\n" + text + "\n")
		}
	case "altChunk":
		b.inner(b.links[attributeOf(t, "id")].target)
	case "hyperlink":
		b.beginLink(b.links[attributeOf(t, "id")].target)
	case "fldSimple":
		b.beginLink(fieldTarget(attributeOf(t, "instr")))
	case "fldChar":
		b.fieldMark(attributeOf(t, "fldCharType"))
	case "result", "listEntry": // of a list to choose from in a form
		if n := len(b.fields); n > 0 {
			b.fields[n-1].addChoice(t)
		}
	case "tbl":
		if len(b.tables) == maxNested {
			return fmt.Errorf("tables stand more than %d deep", maxNested)
		}
		b.tables = append(b.tables, &docxTable{})
	case "tr", "tblHeader", "tc", "gridSpan", "vMerge":
		b.startInTable(t)
	}
	return nil
}

// add writes what an element stands for.
func (b *docxBody) add(text string) {
	if strings.TrimSpace(text) != "" || len(b.nested) > 0 {
		b.paragraph().text.WriteString(text)
	}
}

func (b *docxBody) end(name string) {
	if b.skipped > 0 {
		b.skipped--
		return
	}
	switch name {
	case "t":
		b.inText = false
	case "p":
		if len(b.nested) > 0 {
			b.endParagraph()
		}
	case "hyperlink", "fldSimple":
		b.endLink()
	case "footnote", "endnote":
		text := strings.Join(strings.Fields(b.w.b.String()[b.noteAt:]), " ")
		if b.noteAt = b.w.b.Len(); text != "" { // one that ends again has nothing more
			if b.notes[b.note] != "" { // an id that others have
				b.note += " " + strconv.Itoa(len(b.notes))
			}
			b.notes[b.note] = text
		}
	case "tc":
		if len(b.tables) > 0 {
			b.tables[len(b.tables)-1].endCell(b.w)
		}
	case "tbl":
		if n := len(b.tables); n > 0 {
			table := b.tables[n-1]
			b.tables = b.tables[:n-1]
			b.endTable(table)
		}
	}
}

func (b *docxBody) beginLink(target string) {
	if p := b.paragraph(); len(p.links) < maxNested {
		p.links = append(p.links, textLink{p.text.Len(), target})
	}
}

// add adds to what a field says.
func (f *docxField) add(text string) {
	if len(f.says) < maxSpanned {
		f.says += text
	}
}

// addChoice takes an entry of a list to choose from, or which one is chosen; programs write at most 25.
func (f *docxField) addChoice(t xml.StartElement) {
	if value := attributeOf(t, "val"); t.Name.Local == "listEntry" && len(f.entries) < 100 {
		f.entries = append(f.entries, value)
	} else if n, err := strconv.Atoi(value); err == nil && n >= 0 {
		f.chosen = n
	}
}

// asking is the field of the paragraph that has what the innermost one shows as a part of what it says; nil: none.
func (b *docxBody) asking() *docxField {
	for i := len(b.fields) - 2; i >= 0; i-- {
		if f := &b.fields[i]; !f.shows && f.in == b.paragraph() {
			return f
		}
	}
	return nil
}

// fieldMark takes the mark that begins a field, or what it shows, or ends it.
func (b *docxBody) fieldMark(kind string) {
	n := len(b.fields)
	switch {
	case kind == "begin":
		if n == maxNested {
			b.fields = b.fields[1:] // it does not end
		}
		b.fields = append(b.fields, docxField{in: b.paragraph()})
	case kind == "separate" && n > 0:
		field := &b.fields[n-1]
		field.shows = true
		b.beginLink(fieldTarget(field.says))
	case kind == "end" && n > 0:
		field := &b.fields[n-1]
		if field.shows {
			b.endLink()
		} else if field.chosen < len(field.entries) {
			b.add(field.entries[field.chosen])
			field.entries = slices.Delete(field.entries, field.chosen, field.chosen+1)
		}
		b.w.leaveOut("choices of forms", strings.Join(field.entries, " "))
		b.fields = b.fields[:n-1]
	}
}

// fieldTarget is where a field of a word processor leads: HYPERLINK "target".
func fieldTarget(field string) string {
	words := strings.Fields(field)
	if len(words) < 2 || words[0] != "HYPERLINK" {
		return ""
	}
	return strings.Trim(words[1], `"`)
}

// endLink writes where the innermost link leads.
func (b *docxBody) endLink() {
	p := b.paragraph()
	n := len(p.links)
	if n == 0 {
		return
	}
	link := p.links[n-1]
	p.links = p.links[:n-1]
	p.text.endLink(link)
}

func (b *docxBody) writeNotes(notes []string) {
	for _, n := range notes {
		b.w.paragraph("Note: " + n)
	}
}

// endParagraph writes the innermost paragraph.
func (b *docxBody) endParagraph() {
	p := b.paragraph()
	b.nested = b.nested[:len(b.nested)-1]
	text := strings.TrimSpace(p.text.String())
	if n := len(b.tables); n > 0 && text != "" {
		b.tables[n-1].cell.WriteString(text + " ")
		b.tables[n-1].notes = append(b.tables[n-1].notes, p.notes...)
		return
	}
	switch level := max(p.level, b.level(p.style)); {
	case text == "":
	case level > 0 && len(text) <= maxTitle:
		b.w.heading(level, text, "")
	case p.inList || strings.HasPrefix(b.styles[p.style].name, "list") || strings.HasPrefix(strings.ToLower(p.style), "list"):
		b.w.item(min(max(p.depth, 0), maxIndent), "-", text)
	default:
		b.w.paragraph(text)
	}
	b.writeNotes(p.notes)
}
