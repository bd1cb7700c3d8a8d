package reader

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/parley-search/parley/host/internal/search/passage"
)

// writeHeading writes a heading with the anchor that leads to it. The heading of a note stands above that
// note alone, so that it is a line of text.
func (h *htmlWriter) writeHeading(n *html.Node) {
	h.flush()
	switch text := headingText(n); {
	case isInNote(n) || len(text) > passage.MaxHeading:
		h.text(text)
		h.flush()
	case text != "":
		h.addHeading(int(n.Data[1]-'0'), text, anchorOfNode(n))
	}
}

// headingOfTitle returns the heading that a page's title begins with, before the name of its site; empty:
// none is so.
func headingOfTitle(doc *html.Node, title string) (heading string) {
	title = strings.Join(strings.Fields(title), " ")
	find(doc, func(n *html.Node) bool {
		if n.DataAtom != atom.H1 && n.DataAtom != atom.H2 {
			return false
		}
		text := headingText(n)
		if text == "" || !strings.HasPrefix(title, text) {
			return false
		}
		heading = text
		return true
	})
	return heading
}

func (h *htmlWriter) addHeading(level int, text, anchor string) {
	h.heading, h.level, h.back = text, level, false
	if anchor != "" {
		h.heading += " {#" + anchor + "}"
	}
	h.w.heading(level, h.heading, "")
}

const (
	deepest = 6   // level of headings
	maxTerm = 200 // bytes of a term that is a heading
	maxSame = 10  // terms in one
)

// writeTerms writes a list of terms and what they mean. Terms that a link can lead to are headings: options
// of a program, functions of a library. What comes behind the list is below the heading before it.
func (h *htmlWriter) writeTerms(n *html.Node) {
	if h.level == 0 && h.page != "" {
		h.heading, h.level = h.page, 1
	}
	heading, level, above := h.heading, h.level, h.above
	h.above = level
	h.flush()
	h.children(n)
	h.flush()
	h.above = above
	if h.heading != heading {
		h.heading, h.level, h.back = heading, level, true
	}
}

// writeTerm writes a term as a heading, with those that follow it at once and mean the same. It reports
// false where that is not to be.
func (h *htmlWriter) writeTerm(n *html.Node) bool {
	if h.written[n] {
		return true
	}
	anchor, text := anchorOfNode(n), headingText(n)
	if anchor == "" || !hasLetter(text) || h.above == 0 || len(h.lists) > 0 { // a number leads to a footnote
		return false
	}
	var same []*html.Node
	for next := nextElement(n); next != nil && next.DataAtom == atom.Dt; next = nextElement(next) {
		same = append(same, next)
		if text += ", " + headingText(next); len(text) > maxTerm || len(same) > maxSame {
			return false
		}
	}
	if h.written == nil {
		h.written = map[*html.Node]bool{}
	}
	for _, s := range same {
		h.written[s] = true
	}
	h.flush()
	h.addHeading(min(h.above+1, deepest), text, anchor)
	return true
}

func nextElement(n *html.Node) *html.Node {
	for n = n.NextSibling; n != nil && n.Type != html.ElementNode; n = n.NextSibling {
	}
	return n
}

// headingText is a heading without the sign that links to it.
func headingText(n *html.Node) string {
	text := strings.Join(strings.Fields(innerText(n)), " ")
	text = strings.TrimSpace(strings.Trim(text, "¶#§"))
	return strings.TrimSpace(strings.TrimSuffix(text, "[source]"))
}

// notes are the classes of elements that hold an aside: a note, a tip, a warning.
var notes = map[string]bool{
	"note": true, "tip": true, "warning": true, "caution": true, "important": true, "danger": true, "hint": true, "attention": true,
	"admonition": true, "sidebar": true, "callout": true, "alert": true,
}

// isInNote reports whether a heading is that of a note, a warning or the like.
func isInNote(n *html.Node) bool {
	for range 3 {
		if n = n.Parent; n == nil {
			return false
		}
		for class := range strings.FieldsSeq(attribute(n, "class")) {
			if notes[strings.ToLower(class)] {
				return true
			}
		}
		if attribute(n, "role") == "note" {
			return true
		}
	}
	return false
}

// aroundHeading is how many elements around a heading may have the id that leads to it.
const aroundHeading = 5

// anchorOfNode returns what leads to a heading: its id or that of something in it, where the sign in it
// links to, or the id of an element that begins with it; empty: nothing does.
func anchorOfNode(n *html.Node) string {
	if id := idOf(n); id != "" {
		return id
	}
	anchor := ""
	find(n, func(k *html.Node) bool {
		href, isLink := strings.CutPrefix(attribute(k, "href"), "#")
		switch {
		case idOf(k) != "":
			anchor = idOf(k)
		case k.DataAtom == atom.A && isLink && strings.Trim(innerText(k), "¶#§ \u00a0") == "":
			anchor = fitAnchor(href)
		}
		return anchor != ""
	})
	for range aroundHeading {
		if anchor != "" || !isFirst(n) {
			break
		}
		if n = n.Parent; n == nil || n.DataAtom == atom.Body || n.DataAtom == atom.Main {
			break
		}
		anchor = idOf(n)
	}
	return anchor
}

// idOf is the id of an element, or the name of an anchor.
func idOf(n *html.Node) string {
	if id := fitAnchor(attribute(n, "id")); id != "" || n.DataAtom != atom.A {
		return id
	}
	return fitAnchor(attribute(n, "name"))
}

// fitAnchor returns an anchor, or nothing where it is none that a URL can have as it is.
func fitAnchor(id string) string {
	if len(id) > maxTerm || strings.ContainsAny(id, " \t\n\r{}\"<>%#") {
		return ""
	}
	return id
}

// isFirst reports whether nothing to be read stands before n in its element.
func isFirst(n *html.Node) bool {
	for n = n.PrevSibling; n != nil; n = n.PrevSibling {
		if n.Type == html.TextNode && strings.TrimSpace(n.Data) != "" || n.Type == html.ElementNode && strings.TrimSpace(innerText(n)) != "" {
			return false
		}
	}
	return true
}
