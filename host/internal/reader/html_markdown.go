package reader

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxIndent bounds how deep lists are shown within each other.
const maxIndent = 8

// A markdownWriter writes HTML as Markdown.
type markdownWriter struct {
	b       strings.Builder
	list    int    // lists within each other
	page    string // the page's title
	heading string // the line of the last heading, and its level
	level   int
	above   int                 // the level of the heading around the list of terms
	written map[*html.Node]bool // terms that are in the heading of another
}

// block begins a block on a line of its own.
func (w *markdownWriter) block() {
	s := w.b.String()
	switch {
	case s == "", strings.HasSuffix(s, "\n\n"):
	case strings.HasSuffix(s, "\n"):
		w.b.WriteByte('\n')
	default:
		w.b.WriteString("\n\n")
	}
}

// node writes a node and all in it.
func (w *markdownWriter) node(n *html.Node) {
	switch n.Type {
	case html.TextNode:
		w.text(n.Data)
		return
	case html.ElementNode, html.DocumentNode:
	default:
		return
	}
	if n.Type == html.ElementNode && isHidden(n) && !isMatterHeader(n) {
		return
	}
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		w.writeHeading(n)
	case atom.Pre:
		w.block()
		w.b.WriteString("```\n" + strings.Trim(preText(n), "\n") + "\n```\n\n")
	case atom.Br:
		w.b.WriteByte('\n')
	case atom.Li:
		w.line()
		w.b.WriteString(strings.Repeat("  ", min(max(w.list-1, 0), maxIndent)) + "- ")
		w.children(n)
		w.line()
	case atom.Ul, atom.Ol:
		if w.list == 0 {
			w.block()
		}
		w.list++
		w.children(n)
		w.list--
		if w.list == 0 {
			w.block()
		}
	case atom.Table:
		w.block()
		w.table(n)
		w.block()
	case atom.Dl:
		w.writeTerms(n)
	case atom.Dt:
		if !w.writeTerm(n) {
			w.separate(n)
			w.children(n)
			w.separate(n)
		}
	case atom.P, atom.Div, atom.Section, atom.Article, atom.Main, atom.Blockquote, atom.Dd, atom.Figure, atom.Details, atom.Summary, atom.Body, atom.Address, atom.Header, atom.Figcaption:
		w.separate(n)
		w.children(n)
		w.separate(n)
	default:
		w.children(n)
	}
}

// separate ends the block before n, or in a list the line.
func (w *markdownWriter) separate(n *html.Node) {
	if w.list > 0 || n.DataAtom == atom.Dd || n.DataAtom == atom.Dt {
		if !strings.HasSuffix(w.b.String(), "- ") {
			w.line()
		}
		return
	}
	w.block()
}

// isMatterHeader reports whether n is the header of an article, which has its heading.
func isMatterHeader(n *html.Node) bool {
	return n.DataAtom == atom.Header && find(n, func(k *html.Node) bool { return k.DataAtom == atom.H1 }) != nil
}

func (w *markdownWriter) children(n *html.Node) {
	for k := n.FirstChild; k != nil; k = k.NextSibling {
		w.node(k)
	}
}

// line begins a line.
func (w *markdownWriter) line() {
	if s := w.b.String(); s != "" && !strings.HasSuffix(s, "\n") {
		w.b.WriteByte('\n')
	}
}

// text writes words, with one space where there is any space.
func (w *markdownWriter) text(s string) {
	fields := strings.Fields(s)
	if len(fields) == 0 {
		if s != "" {
			w.space()
		}
		return
	}
	if strings.ContainsAny(s[:1], " \t\n\r") {
		w.space()
	}
	if b := w.b.String(); b == "" || strings.HasSuffix(b, "\n") {
		fields[0] = noHeading(fields[0])
	}
	w.b.WriteString(strings.Join(fields, " "))
	if strings.ContainsAny(s[len(s)-1:], " \t\n\r") {
		w.b.WriteByte(' ')
	}
}

func (w *markdownWriter) space() {
	if s := w.b.String(); s != "" && !strings.HasSuffix(s, " ") && !strings.HasSuffix(s, "\n") {
		w.b.WriteByte(' ')
	}
}

// table writes each row as a line.
func (w *markdownWriter) table(n *html.Node) {
	if n.DataAtom == atom.Tr {
		w.line()
		for k := n.FirstChild; k != nil; k = k.NextSibling {
			if k.DataAtom == atom.Td || k.DataAtom == atom.Th {
				w.b.WriteString("| " + strings.Join(strings.Fields(innerText(k)), " ") + " ")
			}
		}
		w.b.WriteString("|\n")
		return
	}
	if n.DataAtom == atom.Caption {
		w.children(n)
		w.line()
		return
	}
	for k := n.FirstChild; k != nil; k = k.NextSibling {
		w.table(k)
	}
}

// preText is a text as it is set, with its line ends.
func preText(n *html.Node) string {
	var b strings.Builder
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
		if n.DataAtom == atom.Br {
			b.WriteByte('\n')
		}
		own := isOnOwnLine(n) && n.DataAtom != atom.Pre && b.Len() > 0
		if own && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
		for k := n.FirstChild; k != nil; k = k.NextSibling {
			walk(k)
		}
		if own && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
	}
	walk(n)
	return b.String()
}
