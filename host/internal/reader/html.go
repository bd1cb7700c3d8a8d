package reader

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"codeberg.org/readeck/go-readability/v2"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// readHTML reads a page of the web: what is in main or article, else what a reader mode would show, else
// the body without what is around the text.
func readHTML(_ context.Context, _ *Reader, data []byte) (*Page, error) {
	r, err := charset.NewReader(bytes.NewReader(data), "text/html")
	if err != nil {
		return nil, fmt.Errorf("read HTML: %w", err)
	}
	plain, err := withoutFormatting(r)
	if err != nil {
		return nil, err
	}
	doc, err := html.Parse(bytes.NewReader(plain))
	if err != nil {
		return nil, fmt.Errorf("read HTML: %w", err)
	}
	dropMenus(doc, false)
	p := &Page{}
	if root := find(doc, func(n *html.Node) bool { return n.DataAtom == atom.Html }); root != nil {
		p.Lang = attribute(root, "lang")
	}
	if t := find(doc, func(n *html.Node) bool { return n.DataAtom == atom.Title }); t != nil {
		p.Title = strings.TrimSpace(innerText(t))
	}
	body := mainOf(doc)
	if body == nil {
		body = readableOf(doc)
	}
	if body == nil {
		return nil, ErrEmpty
	}
	name := headingOfTitle(doc, p.Title)
	w := markdownWriter{page: cmp.Or(name, p.Title)}
	w.node(body)
	if w.b.Len() > MaxText {
		return nil, errTooLong
	}
	heading := ""
	text := takeTitle(w.b.String(), &heading)
	switch own := heading != "" && text != w.b.String(); {
	case own && (name == "" || !strings.HasSuffix(p.Title, heading)):
		p.Title = heading // a page's own heading is shorter than a title made for a list of windows
	case name != "":
		p.Title = name // the site's name and its links come before it
	}
	p.Text = text
	return p, nil
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
			return b.Bytes(), nil
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			if tags++; tags > maxTags {
				return nil, fmt.Errorf("it has more than %d tags: split it into several files", maxTags)
			}
			raw := bytes.Clone(z.Raw()) // TagName writes over it
			name, _ := z.TagName()
			switch atom.Lookup(name) {
			case atom.B, atom.Big, atom.Em, atom.Font, atom.I, atom.Nobr, atom.S, atom.Small, atom.Strike, atom.Strong, atom.Tt, atom.U, atom.Code:
			default:
				b.Write(raw)
			}
		default:
			b.Write(z.Raw())
		}
	}
}

// mainOf returns the element that says it is the page's matter, nil where none does or it has no text.
func mainOf(doc *html.Node) *html.Node {
	for _, fits := range []func(*html.Node) bool{
		func(n *html.Node) bool { return n.DataAtom == atom.Main || attribute(n, "role") == "main" },
		func(n *html.Node) bool { return n.DataAtom == atom.Article },
	} {
		if n := find(doc, fits); n != nil && strings.TrimSpace(innerText(n)) != "" {
			return n
		}
	}
	return nil
}

// What a reader mode finds is not believed where it is less text than this, in bytes, or less than this part
// of all: documentation is longer than what it looks for, and half of a page would be lost.
const (
	minReadable    = 200
	mostOfReadable = 0.9
)

// readableOf returns what a reader mode would show, or else the body.
func readableOf(doc *html.Node) *html.Node {
	body := find(doc, func(n *html.Node) bool { return n.DataAtom == atom.Body })
	if body == nil {
		return nil
	}
	all := len(strings.TrimSpace(innerText(body)))
	parser := readability.NewParser()
	parser.KeepClasses = true // they say what is a note
	a, err := parser.ParseDocument(clone(doc), &url.URL{Scheme: "https", Host: "localhost"})
	if err == nil && a.Node != nil {
		if n := len(strings.TrimSpace(innerText(a.Node))); n >= minReadable && float64(n) >= mostOfReadable*float64(all) {
			return a.Node
		}
	}
	return body
}

// clone copies a tree: reader modes change the one that they read.
func clone(n *html.Node) *html.Node {
	c := &html.Node{Type: n.Type, DataAtom: n.DataAtom, Data: n.Data, Namespace: n.Namespace, Attr: n.Attr}
	for k := n.FirstChild; k != nil; k = k.NextSibling {
		c.AppendChild(clone(k))
	}
	return c
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

// isHidden reports whether an element is not part of a page's text.
func isHidden(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Nav, atom.Header, atom.Footer, atom.Aside, atom.Form, atom.Iframe,
		atom.Svg, atom.Button, atom.Select, atom.Head, atom.Canvas, atom.Object:
		return true
	}
	role := attribute(n, "role")
	_, hidden := hasAttribute(n, "hidden")
	return hidden || attribute(n, "aria-hidden") == "true" || role == "navigation" || role == "banner" || role == "contentinfo" || role == "search"
}

func hasAttribute(n *html.Node, name string) (value string, ok bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

// isOnOwnLine reports whether an element begins a line and ends it.
func isOnOwnLine(n *html.Node) bool {
	switch n.DataAtom {
	case atom.P, atom.Div, atom.Section, atom.Article, atom.Blockquote, atom.Dl, atom.Dd, atom.Dt, atom.Figure, atom.Figcaption, atom.Details, atom.Summary,
		atom.Ul, atom.Ol, atom.Li, atom.Table, atom.Tr, atom.Td, atom.Th, atom.Caption, atom.Pre, atom.Address, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return true
	}
	return false
}

// innerText is the text of a node, as it is written, with line ends around what has lines of its own.
func innerText(n *html.Node) string {
	var b strings.Builder
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		switch {
		case n.Type == html.TextNode:
			b.WriteString(n.Data)
		case n.Type == html.ElementNode && n.DataAtom != atom.Title && isHidden(n):
			return
		case n.DataAtom == atom.Br:
			b.WriteByte('\n')
		}
		if isOnOwnLine(n) {
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
