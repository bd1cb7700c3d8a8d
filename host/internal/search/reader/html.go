package reader

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// readHTML reads a page of the web: all of it but menus and what is no text, the main part first.
func readHTML(ctx context.Context, r *Reader, data []byte) (*Page, error) {
	source, encoding, err := decode(data, declaredHTML(data))
	if err != nil {
		return nil, err
	}
	doc, err := parsePage(ctx, source)
	if err != nil {
		return nil, err
	}
	p := &Page{Encoding: encoding}
	h := htmlWriter{w: newWriter(ctx)}
	h.readPage(doc, p, r.Site)
	h.w.finish(p)
	return p, nil
}

// parsePage parses a page: as XML where it says that it is and is well-formed, so that "<a/>" ends there, and
// else as browsers do.
func parsePage(ctx context.Context, source string) (*html.Node, error) {
	if strings.HasPrefix(strings.TrimSpace(source[:min(len(source), 200)]), "<?xml") {
		if doc, err := parseXHTML(ctx, source); err == nil {
			return doc, nil
		}
	}
	plain, err := withoutFormatting(newInput(ctx, source))
	if err != nil {
		return nil, err
	}
	doc, err := html.ParseWithOptions(bytes.NewReader(plain), html.ParseOptionEnableScripting(false))
	if err != nil {
		return nil, fmt.Errorf("read HTML: %w", err)
	}
	return doc, nil
}

// writeFragment writes a stretch of HTML that stands in another text.
func (w *writer) writeFragment(source string) {
	body := &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
	plain, err := withoutFormatting(newInput(w.b.ctx, source))
	if err != nil {
		w.paragraph(source)
		return
	}
	nodes, err := html.ParseFragmentWithOptions(bytes.NewReader(plain), body, html.ParseOptionEnableScripting(false))
	if err != nil {
		w.paragraph(source)
		return
	}
	h := htmlWriter{w: w}
	for _, n := range nodes {
		h.node(n)
	}
	h.flush()
}

// maxTags bounds the tags of a page: each takes some hundred bytes while it is read.
const maxTags = 300_000

// withoutFormatting returns a page without the tags that only say how words look. A parser repeats those
// that are open in each paragraph that follows, so that a small page could become a large one.
func withoutFormatting(r io.Reader) ([]byte, error) {
	var b bytes.Buffer
	z := html.NewTokenizer(r)
	for tags := 0; ; {
		switch z.Next() {
		case html.ErrorToken:
			if err := z.Err(); !errors.Is(err, io.EOF) {
				return nil, fmt.Errorf("read HTML: %w", err)
			}
			b.Write(z.Raw())
			return b.Bytes(), nil
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			if tags++; tags > maxTags {
				return nil, fmt.Errorf("it has more than %d tags: split it into several files", maxTags)
			}
			raw := bytes.Clone(z.Raw()) // reading the name changes it
			name, _ := z.TagName()
			switch atom.Lookup(name) {
			case atom.B, atom.I, atom.Em, atom.Strong, atom.Code, atom.U, atom.Font, atom.Big, atom.Small, atom.Strike, atom.S, atom.Tt, atom.Nobr:
			default:
				b.Write(raw)
			}
		default:
			b.Write(z.Raw())
		}
	}
}

// readPage writes a page, and says its title and language.
func (h *htmlWriter) readPage(doc *html.Node, p *Page, site *Site) {
	if root := find(doc, func(n *html.Node) bool { return n.DataAtom == atom.Html }); root != nil {
		p.Lang = cmp.Or(attribute(root, "lang"), attribute(root, "xml:lang"))
	}
	window := ""
	if t := find(doc, func(n *html.Node) bool { return n.DataAtom == atom.Title && n.Namespace == "" }); t != nil {
		window = strings.Join(strings.Fields(innerText(t)), " ")
	}
	p.Title = window
	body := find(doc, func(n *html.Node) bool { return n.DataAtom == atom.Body })
	if body == nil {
		body = doc // of XML
	}
	h.leaveMenus(body, site)
	name := headingOfTitle(body, p.Title)
	h.page = cmp.Or(name, p.Title)
	main := mainOf(body)
	h.node(main)
	h.flush()
	heading := Page{Text: h.w.b.String(), Marks: h.w.marks}
	heading.takeTitle()
	switch {
	case heading.Title != "" && (name == "" || !strings.HasSuffix(p.Title, heading.Title)):
		p.Title = heading.Title // a page's own heading is shorter than a title made for a list of windows
	case name != "":
		p.Title = name // the site's name and its links come before it
		if heading.Title != "" && !strings.EqualFold(heading.Title, name) {
			h.w.b.Reset()
			h.w.b.WriteString(heading.Text)
		}
	}
	h.w.leaveOut("what the title of the window says besides", strings.Replace(window, p.Title, "", 1))
	if main != body { // what is around it is below the page's title
		h.skip = main
		h.heading, h.level, h.back = p.Title, 1, true
		h.node(body)
		h.flush()
	}
}

// mainOf returns the part of a page that is its matter, where one says so: the only main element, else the
// only article; else the body.
func mainOf(body *html.Node) *html.Node {
	for _, fits := range []func(*html.Node) bool{
		func(n *html.Node) bool { return n.DataAtom == atom.Main || attribute(n, "role") == "main" },
		func(n *html.Node) bool { return n.DataAtom == atom.Article },
	} {
		var found []*html.Node
		find(body, func(n *html.Node) bool {
			if fits(n) && strings.TrimSpace(innerText(n)) != "" {
				found = append(found, n)
			}
			return len(found) > 1
		})
		if len(found) == 1 {
			return found[0]
		}
	}
	return body
}

// find returns the first node that fits, in the order of the text.
func find(n *html.Node, fits func(*html.Node) bool) *html.Node {
	if n.Type == html.ElementNode && fits(n) {
		return n
	}
	for k := n.FirstChild; k != nil; k = k.NextSibling {
		if f := find(k, fits); f != nil {
			return f
		}
	}
	return nil
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// unseen are the elements whose contents nobody reads, and the rule that leaves them out.
var unseen = map[atom.Atom]string{
	atom.Script: "scripts and styles", atom.Style: "scripts and styles", atom.Head: "the head of the page", atom.Template: "templates",
	atom.Select: "choices of forms", atom.Datalist: "choices of forms",
}

// hiddenBy is the rule by which an element is left out; empty: it is text.
func hiddenBy(n *html.Node) string {
	if n.DataAtom == atom.Template && attribute(n, "shadowrootmode") != "" {
		return ""
	}
	if rule := unseen[n.DataAtom]; rule != "" {
		return rule
	}
	if attribute(n, "aria-hidden") == "true" && !isOnOwnLine(n) {
		return "signs that are hidden from readers" // panels of tabs that are not shown yet are text
	}
	return ""
}

// isOnOwnLine reports whether an element begins a line and ends it.
func isOnOwnLine(n *html.Node) bool {
	switch n.DataAtom {
	case atom.P, atom.Div, atom.Section, atom.Article, atom.Main, atom.Blockquote, atom.Dl, atom.Dd, atom.Dt, atom.Figure, atom.Figcaption, atom.Details, atom.Summary,
		atom.Ul, atom.Ol, atom.Menu, atom.Dir, atom.Li, atom.Table, atom.Tr, atom.Td, atom.Th, atom.Caption, atom.Pre, atom.Address, atom.Body, atom.Form, atom.Fieldset, atom.Legend,
		atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Header, atom.Footer, atom.Nav, atom.Aside, atom.Hgroup, atom.Hr, atom.Dialog, atom.Center, atom.Noscript,
		atom.Video, atom.Audio, atom.Object, atom.Iframe, atom.Svg:
		return true
	}
	return n.Data == "search" || n.DataAtom == atom.Template
}

// isApart reports whether an element has space around it.
func isApart(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Button, atom.Label, atom.Option, atom.Textarea, atom.Input:
		return true
	}
	return n.Data == "text" || strings.Contains(n.Data, "-") && n.Type == html.ElementNode || isOnOwnLine(n) // a drawing's, or one of the page's own
}

// innerText is the text of a node, as it is written, with line ends around what has lines of its own.
func innerText(n *html.Node) string {
	var b strings.Builder
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		switch {
		case n.Type == html.TextNode:
			b.WriteString(n.Data)
		case n.Type == html.ElementNode && hiddenBy(n) != "":
			return
		case n.DataAtom == atom.Br:
			b.WriteByte('\n')
		case n.DataAtom == atom.Img:
			b.WriteString(" " + attribute(n, "alt") + " ")
		}
		if isApart(n) {
			b.WriteByte('\n')
			defer b.WriteByte('\n')
		}
		for k := n.FirstChild; k != nil; k = k.NextSibling {
			walk(k)
		}
	}
	walk(n)
	return b.String()
}
