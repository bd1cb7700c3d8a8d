package reader

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// menus are what the names of elements with links to other pages have in them.
var menus = []string{"nav", "menu", "breadcrumb", "sidebar", "footer"}

// dropMenus takes out of a tree what is named as leading to other pages, and is made of links mostly: pages
// were made so before there was an element for it. It returns the bytes of text in n, and in links.
func dropMenus(n *html.Node, inLink bool) (all, linked int) {
	if n.Type == html.TextNode {
		size := len(strings.TrimSpace(n.Data))
		if inLink {
			return size, size
		}
		return size, 0
	}
	inLink = inLink || n.DataAtom == atom.A
	for k := n.FirstChild; k != nil; {
		next := k.NextSibling
		a, l := dropMenus(k, inLink)
		if 2*l >= a && isNamedMenu(k) {
			n.RemoveChild(k)
		} else {
			all, linked = all+a, linked+l
		}
		k = next
	}
	return all, linked
}

func isNamedMenu(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Div, atom.Ul, atom.Ol, atom.Table, atom.Section:
	default:
		return false
	}
	names := strings.ToLower(attribute(n, "class") + " " + attribute(n, "id"))
	return slices.ContainsFunc(menus, func(m string) bool { return strings.Contains(names, m) })
}
