package reader

import (
	"encoding/xml"
	"strconv"
	"strings"
)

type docxTable struct {
	rows  [][]string
	heads int
	cell  textBuilder
	span  int
	below bool // the cell goes on from the row above
	notes []string
}

func (b *docxBody) startInTable(t xml.StartElement) {
	if len(b.tables) == 0 {
		b.tables = append(b.tables, &docxTable{})
	}
	table := b.tables[len(b.tables)-1]
	switch t.Name.Local {
	case "tr":
		table.rows = append(table.rows, nil)
	case "tblHeader":
		if isOn(t) && table.heads == len(table.rows)-1 {
			table.heads = len(table.rows)
		}
	case "tc":
		table.span, table.below = 1, false
		table.cell.Reset()
	case "gridSpan":
		n, _ := strconv.Atoi(attributeOf(t, "val"))
		table.span = min(max(n, 1), maxSpan)
	case "vMerge":
		table.below = attributeOf(t, "val") != "restart"
	}
}

func (t *docxTable) endCell(w *writer) {
	if len(t.rows) == 0 {
		t.rows = append(t.rows, nil)
	}
	row, text := &t.rows[len(t.rows)-1], strings.TrimSpace(t.cell.String())
	if n := len(t.rows); t.below && text == "" && n > 1 && len(*row) < len(t.rows[n-2]) {
		text = t.rows[n-2][len(*row)]
	}
	for range t.span {
		w.takeCells(1, text)
		*row = append(*row, text)
		if len(text) > wideRow {
			break
		}
	}
	t.cell.Reset()
}

func (b *docxBody) endTable(t *docxTable) {
	if n := len(b.tables); n > 0 { // in a cell of another
		outer := b.tables[n-1]
		for _, row := range t.rows {
			outer.cell.WriteString(strings.Join(row, " ") + " ")
		}
		outer.notes = append(outer.notes, t.notes...)
		return
	}
	if t.heads == 0 && len(t.rows) > 1 {
		t.heads = 1
	}
	b.w.table(t.rows, t.heads)
	b.writeNotes(t.notes)
}
