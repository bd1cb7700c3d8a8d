package reader

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// An htmlWriter writes elements of HTML.
type htmlWriter struct {
	w     *writer
	line  textBuilder // the paragraph under way
	lists []int       // numbers of the next items of the lists under way; 0: without numbers
	mark  string      // of the item that begins
	skip  *html.Node  // what was written before

	page    string // the page's title
	heading string // the last heading, and its level
	level   int
	back    bool                // the last heading is to be written again before what comes
	above   int                 // the level of the heading around the list of terms
	written map[*html.Node]bool // terms that are in the heading of another
}

// flush ends the paragraph under way.
func (h *htmlWriter) flush() {
	text := strings.TrimSpace(h.line.String())
	h.line.Reset()
	if text == "" {
		return
	}
	h.goBack()
	if len(h.lists) == 0 {
		h.w.paragraph(text)
		return
	}
	h.w.item(len(h.lists)-1, h.mark, text)
	h.mark = ""
}

// goBack writes the heading again that what comes is below, if there is one between.
func (h *htmlWriter) goBack() {
	if h.back {
		h.back = false
		h.w.heading(h.level, h.heading, "")
	}
}

// node writes a node and all in it.
func (h *htmlWriter) node(n *html.Node) {
	switch n.Type {
	case html.TextNode:
		h.text(n.Data)
		return
	case html.CommentNode:
		h.w.leaveOut("comments", n.Data)
		return
	case html.ElementNode, html.DocumentNode:
	default:
		return
	}
	if n == h.skip {
		return
	}
	if rule := hiddenBy(n); rule != "" {
		h.w.leaveOut(rule, rawText(n))
		return
	}
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		h.writeHeading(n)
	case atom.Pre:
		h.flush()
		h.goBack()
		h.w.code("", preText(n))
	case atom.Br:
		h.line.WriteByte('\n')
	case atom.Img:
		h.text(" " + attribute(n, "alt") + " ")
	case atom.Sup:
		if text := strings.TrimSpace(innerText(n)); text != "" && countWords(text[:1]) > 0 && h.line.Len() > 0 {
			h.text("^")
		}
		h.children(n)
	case atom.Li:
		h.flush()
		h.mark = "-"
		if len(h.lists) == 0 {
			h.lists = append(h.lists, 0)
			defer func() { h.lists = h.lists[:len(h.lists)-1] }()
		} else if number := &h.lists[len(h.lists)-1]; *number > 0 {
			h.mark = strconv.Itoa(*number) + "."
			*number++
		}
		h.children(n)
		h.flush()
		h.mark = ""
	case atom.Ul, atom.Ol, atom.Menu, atom.Dir:
		h.flush()
		start := 0
		if n.DataAtom == atom.Ol {
			start, _ = strconv.Atoi(attribute(n, "start"))
			start = min(max(start, 1), 1<<30)
		}
		h.lists = append(h.lists, start)
		h.children(n)
		h.flush()
		h.lists = h.lists[:len(h.lists)-1]
	case atom.Table:
		h.flush()
		h.table(n)
	case atom.Dl:
		h.writeTerms(n)
	case atom.Dt:
		if !h.writeTerm(n) {
			h.flush()
			h.children(n)
			h.line.WriteByte('\n')
		}
	case atom.Dd:
		h.children(n)
		h.flush()
	default:
		switch {
		case isOnOwnLine(n):
			h.flush()
			h.children(n)
			h.flush()
		case isApart(n):
			h.space()
			h.children(n)
			h.space()
		default:
			h.children(n)
		}
	}
}

func (h *htmlWriter) children(n *html.Node) {
	for k := n.FirstChild; k != nil; k = k.NextSibling {
		h.node(k)
	}
}

// text writes words, with one space where there is any space.
func (h *htmlWriter) text(s string) {
	fields := strings.Fields(s)
	if len(fields) == 0 {
		if s != "" {
			h.space()
		}
		return
	}
	if isSpace(s[0]) {
		h.space()
	}
	for i, f := range fields {
		if i > 0 {
			h.line.WriteByte(' ')
		}
		h.line.WriteString(f)
	}
	if isSpace(s[len(s)-1]) {
		h.line.WriteByte(' ')
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

func (h *htmlWriter) space() {
	if s := h.line.String(); s != "" && !isSpace(s[len(s)-1]) {
		h.line.WriteByte(' ')
	}
}

// rawText is all text of a node, with what its pictures and comments say.
func rawText(n *html.Node) string {
	var b strings.Builder
	b.WriteString(attribute(n, "alt") + " ")
	for k := range n.Descendants() {
		if k.Type == html.TextNode || k.Type == html.CommentNode {
			b.WriteString(k.Data)
		}
		b.WriteString(attribute(k, "alt") + " ")
	}
	return b.String()
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
