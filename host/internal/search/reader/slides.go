package reader

import (
	"context"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
)

// maxSlides bounds the slides and sheets that are read.
const maxSlides = 5000

// readPPTX reads a presentation: a section a slide, with its notes.
func readPPTX(ctx context.Context, _ *Reader, data []byte) (*Page, error) {
	z, err := openPacked(ctx, data)
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
	if err := eachElement(z.ctx, source, func(e xml.StartElement) {
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
	p, w := &Page{Title: z.title()}, newWriter(ctx)
	for i, slide := range slides {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		w.block()
		w.marks = append(w.marks, Mark{At: w.b.Len(), Page: i + 1})
		s := slideReader{w: w, number: i + 1}
		if err := s.read(z, slide); err != nil {
			w.noteLeft("slides that cannot be read: "+err.Error(), 1)
		}
		for _, notes := range related(s.links, "notesSlide") {
			n := slideReader{w: w, notes: true}
			if err := n.read(z, notes); err != nil {
				w.noteLeft("slides that cannot be read: "+err.Error(), 1)
			}
		}
		for _, comments := range related(s.links, "comments") {
			if source, err := z.xml(comments); err == nil {
				w.leaveOut("comments", charData(z.ctx, source))
			}
		}
	}
	w.finish(p)
	return p, nil
}

// A slideReader writes the shapes of a slide, or of the notes to it.
type slideReader struct {
	w      *writer
	z      *packed
	links  map[string]relation
	number int
	notes  bool

	title, text textBuilder
	holder      string // what a shape holds: a title, the body, a number
	level       int
	inText      bool
	link        textLink // that the run under way is
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
	s.z, s.links = z, z.relations(part)
	err = eachToken(z.ctx, source, func(t xml.Token) error {
		switch t := t.(type) {
		case xml.StartElement:
			s.start(t)
		case xml.EndElement:
			s.end(t.Name.Local)
		case xml.CharData:
			if s.inText {
				s.text.WriteString(string(t))
			}
		}
		return nil
	})
	if err != nil {
		err = fmt.Errorf("read %s: %w", part, err)
	}
	s.write()
	return err
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
	case "r", "fld":
		s.link = textLink{at: s.text.Len()}
	case "hlinkClick":
		s.link.target = s.links[attributeOf(t, "id")].target
	case "relIds", "chart":
		lines(s.z.drawnBy(t, s.links), func(line string) { s.items = append(s.items, slideItem{text: line}) })
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
	case "r", "fld":
		s.text.endLink(s.link)
		s.link.target = ""
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
