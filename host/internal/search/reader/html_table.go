package reader

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxSpan bounds how many rows and columns a cell is repeated in.
const maxSpan = 50

// table writes a table: a row a line, below its head, with what spans several rows or columns in each. A table
// that only arranges a page is taken apart.
func (h *htmlWriter) table(n *html.Node) {
	if isLayout(n) {
		h.arranged(n)
		return
	}
	t := tableGrid{}
	t.collect(h, n)
	h.goBack()
	h.w.table(t.rows, t.heads)
}

// isLayout reports whether a table is there for the look of a page: it says so, or has no heads and other
// blocks in its cells, or no more than one column.
func isLayout(n *html.Node) bool {
	if role := attribute(n, "role"); role == "presentation" || role == "none" {
		return true
	}
	if find(n, func(k *html.Node) bool { return k.DataAtom == atom.Table && k != n }) != nil {
		return true
	}
	if find(n, func(k *html.Node) bool { return k.DataAtom == atom.Th || k.DataAtom == atom.Thead }) != nil {
		return false
	}
	columns := 0
	blocks := find(n, func(k *html.Node) bool {
		if k.DataAtom == atom.Tr {
			cells := 0
			for c := k.FirstChild; c != nil; c = c.NextSibling {
				if c.DataAtom == atom.Td {
					cells++
				}
			}
			columns = max(columns, cells)
		}
		switch k.DataAtom {
		case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Pre, atom.Form, atom.Article, atom.Section:
			return true
		}
		return false
	})
	return blocks != nil || columns < 2
}

// arranged writes what is in the cells of a table, one after the other.
func (h *htmlWriter) arranged(n *html.Node) {
	for k := n.FirstChild; k != nil; k = k.NextSibling {
		switch k.DataAtom {
		case atom.Tr, atom.Tbody, atom.Thead, atom.Tfoot:
			h.arranged(k)
		default:
			h.flush()
			if k.DataAtom == atom.Td || k.DataAtom == atom.Th || k.DataAtom == atom.Caption {
				h.children(k)
			} else {
				h.node(k)
			}
			h.flush()
		}
	}
}

// A tableGrid has the cells of a table where they stand.
type tableGrid struct {
	rows  [][]string
	heads int
	body  bool // a row of data has come
	below map[int]spanned
}

// A spanned cell stands in rows to come as well.
type spanned struct {
	text string
	rows int
}

func (t *tableGrid) collect(h *htmlWriter, n *html.Node) {
	for k := n.FirstChild; k != nil; k = k.NextSibling {
		switch {
		case k.DataAtom == atom.Tr:
			t.row(h, k)
		case k.DataAtom == atom.Thead, k.DataAtom == atom.Tbody, k.DataAtom == atom.Tfoot:
			t.collect(h, k)
		default:
			h.node(k) // a caption, or what a parser leaves where it is
			h.flush()
		}
	}
}

func (t *tableGrid) row(h *htmlWriter, n *html.Node) {
	var row []string
	onlyHeads, before := true, len(t.rows)
	h.leaveHidden(n)
	fill := func() {
		for {
			s, ok := t.below[len(row)]
			if !ok {
				return
			}
			if s.rows--; s.rows == 0 {
				delete(t.below, len(row))
			} else {
				t.below[len(row)] = s
			}
			row = append(row, s.text)
		}
	}
	for k := n.FirstChild; k != nil; k = k.NextSibling {
		if k.DataAtom != atom.Td && k.DataAtom != atom.Th {
			if k.Type == html.ElementNode && hiddenBy(k) == "" {
				row = append(row, innerText(k))
			}
			continue
		}
		fill()
		onlyHeads = onlyHeads && (k.DataAtom == atom.Th || n.Parent.DataAtom == atom.Thead)
		text := innerText(k)
		rows := min(max(spanOf(k, "rowspan"), 1), maxSpan)
		for range min(max(spanOf(k, "colspan"), 1), maxSpan) {
			if rows > 1 {
				if t.below == nil {
					t.below = map[int]spanned{}
				}
				t.below[len(row)] = spanned{text, rows - 1}
			}
			row = append(row, text)
			if len(text) > wideRow || k.DataAtom == atom.Td && strings.TrimSpace(text) != "" && len(row) > 200 {
				break
			}
		}
	}
	fill()
	for _, cell := range row {
		h.w.takeCells(1, cell)
	}
	t.rows = append(t.rows, row)
	if onlyHeads && !t.body && len(row) > 0 {
		t.heads = before + 1
	} else {
		t.body = true
	}
}

func spanOf(n *html.Node, name string) int {
	span, _ := strconv.Atoi(attribute(n, name))
	return span
}
