package reader

import (
	"cmp"
	"context"
	"encoding/xml"
	"slices"
	"strconv"
	"strings"
)

type docxStyle struct {
	name, basedOn string
	level         int // 1 to 9 for a heading; 0: the one that it is based on says so
}

// readStyles reads what styles there are. Their names are the same in each language, other than their ids.
func (d *docx) readStyles(part string) {
	text, err := d.z.xml(part)
	if err != nil {
		return
	}
	d.styles = map[string]docxStyle{}
	id := ""
	_ = eachElement(d.z.ctx, text, func(e xml.StartElement) {
		s := d.styles[id]
		switch e.Name.Local {
		case "style":
			id, s = attributeOf(e, "styleId"), docxStyle{}
		case "name":
			s.name = strings.ToLower(attributeOf(e, "val"))
		case "basedOn":
			s.basedOn = attributeOf(e, "val")
		case "outlineLvl":
			if n, err := strconv.Atoi(attributeOf(e, "val")); err == nil && n < 9 {
				s.level = n + 1
			}
		}
		d.styles[id] = s
	})
}

// level returns the level of the headings of a style, 0 for one that is of none.
func (d *docx) level(id string) int {
	for range 20 { // styles may be based on each other in a circle
		s := d.styles[id]
		if s.level > 0 {
			return s.level
		}
		if n := namedLevel(cmp.Or(s.name, strings.ToLower(id))); n > 0 {
			return n
		}
		if id = s.basedOn; id == "" {
			return 0
		}
	}
	return 0
}

// namedLevel is the level that a style's name says.
func namedLevel(name string) int {
	name = strings.ReplaceAll(name, " ", "")
	if name == "title" {
		return 1
	}
	for _, prefix := range []string{"heading", "berschrift", "überschrift", "titre"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			if n, err := strconv.Atoi(rest); err == nil && n >= 1 && n <= 9 {
				return n
			}
		}
	}
	return 0
}

// readNotes reads footnotes or endnotes.
func (d *docx) readNotes(part, kind string) {
	text, err := d.z.xml(part)
	if err != nil {
		return
	}
	for note := range strings.SplitSeq(text, "note ") { // <w:footnote w:id="2">
		tag, body, _ := strings.Cut(note, ">")
		id, ok := quotedAfter(tag, "id=")
		if text := strings.Join(strings.Fields(textOf(d.z.ctx, "<x>"+body)), " "); ok && text != "" {
			d.notes[kind+id] = text
		}
	}
}

// quotedAfter is what stands in quotation marks behind a name.
func quotedAfter(text, name string) (string, bool) {
	_, rest, ok := strings.Cut(text, name)
	if !ok || len(rest) < 2 {
		return "", false
	}
	value, _, ok := strings.Cut(rest[1:], rest[:1])
	return value, ok
}

// textOf is the text of XML of Office, of which what comes behind a fault is left out.
func textOf(ctx context.Context, source string) string {
	d := newXML(ctx, source)
	d.Strict = false
	var b strings.Builder
	inText := false
	for {
		t, err := d.RawToken()
		if err != nil {
			return b.String()
		}
		switch t := t.(type) {
		case xml.StartElement:
			inText = t.Name.Local == "t"
		case xml.EndElement:
			inText = false
			if t.Name.Local == "p" {
				b.WriteByte('\n')
			}
		case xml.CharData:
			if inText {
				b.Write(t)
			}
		}
	}
}

// around is what stands above and below pages, each text once.
func (d *docx) around(main string, parts map[string]relation) string {
	var texts []string
	for _, kind := range []string{"header", "footer"} {
		for _, part := range d.z.beside(main, parts, kind) {
			source, err := d.z.xml(part)
			if err != nil {
				continue
			}
			if text := strings.TrimSpace(textOf(d.z.ctx, source)); text != "" && !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
	}
	return strings.Join(texts, "\n")
}
