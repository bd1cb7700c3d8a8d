package reader

import (
	"context"
	"hash/maphash"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// menus are what the names of elements with links to other pages have in them.
var menus = []string{"nav", "menu", "breadcrumb", "sidebar", "footer", "toc"}

// leaveMenus takes out of a page what is around its text on each page of a site: what is made for links or
// named so, and is of links by half or more, or is the same on most pages of the site. A page that would have
// no text then is left as it is.
func (h *htmlWriter) leaveMenus(body *html.Node, site *Site) {
	var out []*html.Node
	rules := map[*html.Node]string{}
	all, _, _ := measure(body, false, func(n *html.Node, all, linked, links int) bool {
		rule := ""
		switch {
		case all == 0 || !isAround(n):
		case site.repeats(n):
			rule = "the same on most pages of the site"
		case 2*linked >= all && (links > 1 || n.DataAtom == atom.Nav) && !holdsMatter(n):
			rule = "menus"
		}
		if rule != "" {
			out = append(out, n)
			rules[n] = rule
		}
		return rule != ""
	})
	if all == 0 {
		return
	}
	for _, n := range out {
		h.w.leaveOut(rules[n], innerText(n))
		h.leaveHidden(n)
		n.Parent.RemoveChild(n)
	}
}

// leaveHidden notes what is left out of an element in any case.
func (h *htmlWriter) leaveHidden(n *html.Node) {
	for k := n.FirstChild; k != nil; k = k.NextSibling {
		switch {
		case k.Type == html.CommentNode:
			h.w.leaveOut("comments", k.Data)
		case k.Type != html.ElementNode:
		case hiddenBy(k) != "":
			h.w.leaveOut(hiddenBy(k), rawText(k))
		default:
			h.leaveHidden(k)
		}
	}
}

// measure returns the bytes of text in a node, how many of them are in links, and the links. What leave takes
// is not counted in what is around it.
func measure(n *html.Node, inLink bool, leave func(n *html.Node, all, linked, links int) bool) (all, linked, links int) {
	if n.Type == html.TextNode {
		if all = len(strings.TrimSpace(n.Data)); inLink {
			linked = all
		}
		return all, linked, 0
	}
	if n.Type == html.ElementNode && hiddenBy(n) != "" {
		return 0, 0, 0
	}
	if n.DataAtom == atom.A {
		inLink = true
		links++
	}
	for k := n.FirstChild; k != nil; k = k.NextSibling {
		a, l, m := measure(k, inLink, leave)
		if k.Type == html.ElementNode && leave(k, a, l, m) {
			continue
		}
		all, linked, links = all+a, linked+l, links+m
	}
	return all, linked, links
}

// isAround reports whether an element is of the kinds that stand around the text of a page.
func isAround(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Nav, atom.Header, atom.Footer, atom.Aside, atom.Form:
		return true
	case atom.Div, atom.Ul, atom.Ol, atom.Table, atom.Section:
	default:
		return false
	}
	switch attribute(n, "role") {
	case "navigation", "banner", "contentinfo", "complementary", "search", "menu", "menubar", "directory":
		return true
	}
	names := strings.ToLower(attribute(n, "class") + " " + attribute(n, "id"))
	return slices.ContainsFunc(menus, func(m string) bool { return strings.Contains(names, m) })
}

// holdsMatter reports whether an element has the heading or the main part of a page in it.
func holdsMatter(n *html.Node) bool {
	return find(n, func(k *html.Node) bool {
		return k.DataAtom == atom.Main || k.DataAtom == atom.Article || k.DataAtom == atom.H1
	}) != nil
}

// A Site knows what is the same on the pages of a site. Nil knows nothing.
type Site struct {
	seed  maphash.Seed
	pages int
	times map[uint64]int
}

// MaxLearned is how many pages tell what all of a site have.
const MaxLearned = 24

// Learn looks at a page, unless enough were looked at before. It reports whether more would help.
func (s *Site) Learn(data []byte) bool {
	if s.pages >= MaxLearned {
		return false
	}
	source, _, err := decode(data, declaredHTML(data))
	if err != nil {
		return true
	}
	doc, err := parsePage(context.Background(), source) // a context that ends is heeded by panics, which Read knows
	if err != nil {
		return true
	}
	if s.times == nil {
		s.times, s.seed = map[uint64]int{}, maphash.MakeSeed()
	}
	s.pages++
	seen := map[uint64]bool{}
	find(doc, func(n *html.Node) bool {
		if isAround(n) {
			if key := s.keyOf(n); !seen[key] {
				seen[key] = true
				s.times[key]++
			}
		}
		return false
	})
	return true
}

func (s *Site) keyOf(n *html.Node) uint64 {
	return maphash.String(s.seed, strings.Join(strings.Fields(innerText(n)), " "))
}

// repeats reports whether an element is on most of the pages.
func (s *Site) repeats(n *html.Node) bool {
	return s != nil && s.pages > 2 && 2*s.times[s.keyOf(n)] > s.pages
}
