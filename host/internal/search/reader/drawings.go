package reader

import (
	"encoding/xml"
	"strings"
)

// drawnBy is the text of the diagram or chart that an element of Office leads to; empty: it leads to none.
func (p *packed) drawnBy(e xml.StartElement, links map[string]relation) string {
	id := ""
	switch e.Name.Local {
	case "relIds":
		id = attributeOf(e, "dm")
	case "chart":
		id = attributeOf(e, "id")
	}
	r, ok := links[id]
	if !ok || r.outside {
		return ""
	}
	if r.kind == "diagramData" {
		return p.drawingText(r.target, nil) // without what it leads to: diagrams may lead in a circle
	}
	source, err := p.xml(r.target)
	if err != nil {
		return ""
	}
	c := chartReader{}
	_ = eachToken(p.ctx, source, func(t xml.Token) error {
		c.take(t)
		return nil
	})
	return strings.Join(c.lines, "\n")
}

// drawingText is the text in a part of shapes, and of the charts and diagrams that its links lead to.
func (p *packed) drawingText(part string, links map[string]relation) string {
	source, err := p.xml(part)
	if err != nil {
		return ""
	}
	b, inText := textBuilder{ctx: p.ctx}, false
	_ = eachToken(p.ctx, source, func(t xml.Token) error {
		switch t := t.(type) {
		case xml.StartElement:
			inText = t.Name.Local == "t"
			if text := p.drawnBy(t, links); text != "" {
				b.WriteString(text + "\n")
			}
		case xml.EndElement:
			inText = false
			if t.Name.Local == "p" {
				b.WriteString("\n")
			}
		case xml.CharData:
			if inText {
				b.WriteString(string(t))
			}
		}
		return nil
	})
	return strings.TrimSpace(b.String())
}

// A chartReader makes lines of a chart: its titles, and of each series the name and the values with their labels.
type chartReader struct {
	lines  []string
	series map[string][]string // texts of the series under way, by the section of it; nil: none is
	in     string              // the section
	text   strings.Builder
	isText bool
}

func (c *chartReader) take(t xml.Token) {
	switch t := t.(type) {
	case xml.StartElement:
		switch t.Name.Local {
		case "ser", "series":
			c.series = map[string][]string{}
		case "tx", "cat", "val", "xVal", "yVal":
			c.in = t.Name.Local
		case "t", "v", "pt":
			c.isText = true
		}
	case xml.CharData:
		if c.isText {
			c.text.Write(t)
		}
	case xml.EndElement:
		switch t.Name.Local {
		case "t":
			c.isText = false
		case "v", "pt", "p":
			c.isText = false
			if text := strings.TrimSpace(c.text.String()); text != "" && c.series != nil {
				c.series[c.in] = append(c.series[c.in], text)
			} else if text != "" {
				c.lines = append(c.lines, text)
			}
			c.text.Reset()
		case "tx", "cat", "val", "xVal", "yVal":
			c.in = ""
		case "ser", "series":
			c.lines = append(c.lines, seriesLine(c.series))
			c.series = nil
		}
	}
}

// seriesLine is a series of a chart as a line.
func seriesLine(series map[string][]string) string {
	labels, values := append(series["cat"], series["xVal"]...), append(series["val"], series["yVal"]...)
	pairs := series[""]
	for i := range max(len(labels), len(values)) {
		pair := ""
		if i < len(labels) {
			pair = labels[i] + " "
		}
		if i < len(values) {
			pair += values[i]
		}
		pairs = append(pairs, strings.TrimSpace(pair))
	}
	return strings.TrimPrefix(strings.Join(series["tx"], " ")+": "+strings.Join(pairs, ", "), ": ")
}
