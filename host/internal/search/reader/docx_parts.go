package reader

import (
	"cmp"
	"encoding/xml"
	"errors"
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

// textOf is the text of a part beside the body, such as a header. The notes in it are kept for what refers to them.
func (d *docx) textOf(part string) string {
	w := newWriter(d.z.ctx)
	beside := docx{z: d.z, w: w, styles: d.styles, notes: d.notes}
	if err := beside.part(part); err != nil {
		w.noteLeft("parts that cannot be read: "+err.Error(), 1)
	}
	for rule, words := range w.left {
		d.w.noteLeft(rule, words)
	}
	return strings.TrimSpace(w.b.String())
}

// formOf is what reads a file by its beginning, of those that word processors open as a document; nil: it is none. Mail is
// among them where it may be.
func formOf(data []byte, mail bool) readFunc {
	switch head := strings.TrimSpace(string(data[:min(len(data), 200)])); {
	case strings.HasPrefix(head, `{\rtf`):
		return readRTF
	case mail && (strings.Contains(head, "MIME-Version:") || strings.Contains(head, "Content-Type:")):
		return readMail
	case strings.HasPrefix(head, "<"):
		return readHTML
	}
	return nil
}

// inner writes a file that is embedded whole in the document. Programs that fill in forms make such documents.
func (b *docxBody) inner(part string) {
	data, err := b.z.unpack(part)
	read, page := formOf(data, true), &Page{}
	switch {
	case err != nil:
	case read != nil:
		page, err = read(b.z.ctx, &Reader{within: true}, data)
	case len(data) > 1 && string(data[:2]) == "PK":
		err = errors.New("it is a document of its own")
	default:
		page, err = readText(b.z.ctx, nil, data)
	}
	if err != nil {
		b.w.noteLeft("documents within the document: "+err.Error(), 1)
		return
	}
	b.w.add(page)
}

// around is what stands above and below pages, each text once.
func (d *docx) around(main string, parts map[string]relation) string {
	var texts []string
	for _, kind := range []string{"header", "footer"} {
		for _, part := range d.z.beside(main, parts, kind) {
			if text := d.textOf(part); text != "" && !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
	}
	return strings.Join(texts, "\n")
}
