package pdf

import (
	"cmp"
	"math"
	"slices"
)

// A box is a place on a page: x grows in the direction in which lines are read, y from line to line.
type box struct{ x0, y0, x1, y1 float64 }

func (b box) union(c box) box {
	return box{min(b.x0, c.x0), min(b.y0, c.y0), max(b.x1, c.x1), max(b.y1, c.y1)}
}

// A piece is a line, or what of one is between wide gaps.
type piece struct {
	box
	from, to int     // in the text of the page, in characters
	unit     float64 // the width of a character, on average
	first    float64 // the width of its first word
	letters  int     // less its digits
	words    int
	stops    int  // words that end as a sentence, or a part of one
	goesOn   bool // it begins as a line in the middle of a sentence may
	ends     bool // it ends as a sentence does
}

// before adds a piece that is behind p in the same line.
func (p piece) before(q piece) piece {
	p.box, p.unit = p.union(q.box), max(p.unit, q.unit)
	p.letters, p.words, p.stops, p.ends = p.letters+q.letters, p.words+q.words, p.stops+q.stops, q.ends
	return p
}

// Bounds of the search for columns.
const (
	maxCuts    = 5   // columns within columns
	maxGutters = 3   // that are tried at once
	maxWork    = 100 // looks at each piece
)

// White between columns that are not minPairs lines long is at least wideGutter characters wide: words of a text have white
// between them, too, that is above other white.
const (
	minPairs   = 5
	wideGutter = 3
)

// minWhite is how much white is between parts of a page, for the distance of its lines.
const minWhite = 0.4

// An arranger finds the columns that pieces are in: a recursive cut at the white between columns, which are told from
// those of a table by lines that go on in the next one.
type arranger struct {
	pieces []piece
	work   int // how many more pieces may be looked at
}

// readingOrder returns pieces, which are in the order of the file, in that in which they are read; nil: in the order of
// the file.
func readingOrder(pieces []piece) []int {
	a := arranger{pieces, maxWork * len(pieces)}
	all := make([]int, len(pieces))
	for i := range all {
		all[i] = i
	}
	if order, _, isOther := a.arrange(all, 0); isOther {
		return order
	}
	return nil
}

// arrange orders a set of pieces, and reports whether it has columns, and whether the order is other than that of the
// file.
func (a *arranger) arrange(set []int, depth int) (order []int, hasColumns, isOther bool) {
	asFile := slices.Clone(set)
	slices.Sort(asFile)
	if a.work -= len(set); a.work < 0 || depth > maxCuts || len(set) < 4 {
		return asFile, false, false
	}
	rows := a.rowsOf(set)
	for _, g := range a.gutters(rows) {
		var rest []int // since the last columns
		takeRest := func() {
			part, _, other := a.arrange(rest, depth+1)
			order, rest, isOther = append(order, part...), nil, isOther || other
		}
		for _, b := range a.bands(rows, g, depth) {
			if b.columns == nil {
				for _, row := range b.rows {
					rest = append(rest, row...)
				}
				continue
			}
			takeRest()
			order, hasColumns, isOther = append(order, b.columns...), true, isOther || b.isOther
		}
		switch {
		case !hasColumns:
			order = nil
			continue
		case len(rest) > 0:
			takeRest()
		}
		if !isOther {
			return asFile, true, false
		}
		return order, true, true
	}
	return asFile, false, false
}

// rowsOf puts pieces that are beside each other in rows, from top to bottom, each from left to right.
func (a *arranger) rowsOf(set []int) (rows [][]int) {
	set = slices.Clone(set)
	slices.SortFunc(set, func(i, k int) int { return cmp.Compare(a.pieces[i].y0, a.pieces[k].y0) })
	var first piece
	for _, i := range set {
		p := a.pieces[i]
		if shared := min(p.y1, first.y1) - p.y0; len(rows) > 0 && 5*shared > 2*min(p.y1-p.y0, first.y1-first.y0) {
			rows[len(rows)-1] = append(rows[len(rows)-1], i)
			continue
		}
		rows, first = append(rows, []int{i}), p
	}
	for _, row := range rows {
		slices.SortFunc(row, func(i, k int) int { return cmp.Compare(a.pieces[i].x0, a.pieces[k].x0) })
	}
	return rows
}

// byPlace has pieces in the order of their rows.
func byPlace(pieces []piece) (sorted []piece) {
	a := arranger{pieces: pieces}
	all := make([]int, len(pieces))
	for i := range all {
		all[i] = i
	}
	for _, row := range a.rowsOf(all) {
		for _, i := range row {
			sorted = append(sorted, pieces[i])
		}
	}
	return sorted
}

// gutters are the places where gaps of the most rows are above each other.
func (a *arranger) gutters(rows [][]int) (places []float64) {
	type edge struct {
		x     float64
		begin bool
	}
	var edges []edge
	for _, row := range rows {
		end := a.pieces[row[0]].x1
		for _, i := range row[1:] {
			if p := a.pieces[i]; p.x0 > end {
				edges = append(edges, edge{end, true}, edge{p.x0, false})
			}
			end = max(end, a.pieces[i].x1)
		}
	}
	slices.SortFunc(edges, func(e, f edge) int { return cmp.Compare(e.x, f.x) })
	type gutter struct {
		gaps int
		x    float64
	}
	var found []gutter
	gaps, begin := 0, 0.0
	for i, e := range edges {
		if e.begin {
			gaps, begin = gaps+1, e.x
			continue
		}
		if gaps > 1 && edges[i-1].begin {
			found = append(found, gutter{gaps, (begin + e.x) / 2})
		}
		gaps--
	}
	slices.SortStableFunc(found, func(g, h gutter) int { return h.gaps - g.gaps })
	for _, g := range found[:min(len(found), maxGutters)] {
		places = append(places, g.x)
	}
	return places
}

// A band is rows below each other, and their pieces by columns, nil where there are none.
type band struct {
	rows    [][]int
	columns []int
	isOther bool // they are in another order than in the file
}

// bands parts rows into those with a column at each side of a gutter, and others.
func (a *arranger) bands(rows [][]int, gutter float64, depth int) (bands []band) {
	crosses := func(row []int) bool {
		return slices.ContainsFunc(row, func(i int) bool { return a.pieces[i].x0 < gutter && gutter < a.pieces[i].x1 })
	}
	for len(rows) > 0 {
		n := 0
		for n < len(rows) && crosses(rows[n]) == crosses(rows[0]) {
			n++
		}
		if crosses(rows[0]) || n < 2 {
			bands = append(bands, band{rows: rows[:n]})
		} else {
			bands = append(bands, a.columns(a.parts(rows[:n]), gutter, depth)...)
		}
		rows = rows[n:]
	}
	return bands
}

// parts cuts rows where there is white between them.
func (a *arranger) parts(rows [][]int) (parts [][][]int) {
	var pitches []float64
	for i, row := range rows[1:] {
		pitches = append(pitches, a.pieces[row[0]].y0-a.pieces[rows[i][0]].y0)
	}
	slices.Sort(pitches)
	pitch := pitches[len(pitches)/2]
	from, bottom := 0, a.bottom(rows[0])
	for i, row := range rows[1:] {
		if a.pieces[row[0]].y0-bottom > minWhite*pitch {
			parts, from = append(parts, rows[from:i+1]), i+1
		}
		bottom = max(bottom, a.bottom(row))
	}
	return append(parts, rows[from:])
}

func (a *arranger) bottom(row []int) float64 {
	bottom := a.pieces[row[0]].y1
	for _, i := range row {
		bottom = max(bottom, a.pieces[i].y1)
	}
	return bottom
}

// columns makes bands of parts that no piece crosses a gutter in. Parts with columns are one band, with what is between
// them, unless each is a row of a table whose cells have several lines.
func (a *arranger) columns(parts [][][]int, gutter float64, depth int) (bands []band) {
	has := make([]bool, len(parts))
	first, last, count, rows := -1, -1, 0, 0
	for i, part := range parts {
		if has[i] = a.haveText(part, gutter, depth); has[i] {
			if last, count, rows = i, count+1, rows+len(part); first < 0 {
				first = i
			}
		}
	}
	for ; count > 0 && first > 0 && a.fits(parts[first-1], parts[first], gutter); first-- {
		has[first-1] = true
	}
	for ; count > 0 && last+1 < len(parts) && a.fits(parts[last+1], parts[last], gutter); last++ {
		has[last+1] = true
	}
	areCells := rows <= 6*count && (count >= 4 || count > 1 && a.areUneven(parts[first:last], gutter))
	for i := 0; i < len(parts); i++ {
		if !has[i] {
			bands = append(bands, band{rows: parts[i]})
			continue
		}
		together := parts[i]
		for !areCells && i < last && (has[i+1] || !a.isGrid(parts[i+1], gutter)) {
			i++
			together = append(slices.Clip(together), parts[i]...)
		}
		left, right := a.sides(together, gutter)
		l, _, leftOther := a.arrange(left, depth+1)
		r, _, rightOther := a.arrange(right, depth+1)
		isOther := a.isInterleaved(together, gutter)
		if !isOther && slices.Min(right) < slices.Min(left) {
			l, r = r, l
		}
		bands = append(bands, band{together, append(l, r...), isOther || leftOther || rightOther})
	}
	return bands
}

// areUneven reports whether in one of several parts a side of the gutter ends lines above the other: columns that something
// cuts, such as a figure, end beside each other.
func (a *arranger) areUneven(parts [][][]int, gutter float64) bool {
	return slices.ContainsFunc(parts, func(rows [][]int) bool {
		left, right := a.sides(rows, gutter)
		if len(left) == 0 || len(right) == 0 {
			return false
		}
		lines := (a.bottom(rows[len(rows)-1]) - a.pieces[rows[0][0]].y0) / float64(len(rows))
		return math.Abs(a.bottom(left)-a.bottom(right)) > lines/2
	})
}

// fits reports whether rows beside columns, too few to be told from a table, begin where the columns do.
func (a *arranger) fits(rows, columns [][]int, gutter float64) bool {
	if len(rows) < 2 {
		return false
	}
	fit, all := 0, 0
	l, r := a.sides(rows, gutter)
	left, right := a.sides(columns, gutter)
	for _, side := range [2][2][]int{{l, left}, {r, right}} {
		if len(side[0]) == 0 || len(side[1]) == 0 {
			return false
		}
		begins := make([]float64, len(side[1]))
		for i, k := range side[1] {
			begins[i] = a.pieces[k].x0
		}
		begin, _ := aligned(begins, a.pieces[side[1][0]].unit)
		for _, i := range side[0] {
			if p := a.pieces[i]; p.x0 > begin-p.unit && p.x0 < begin+2*p.unit {
				fit++
			}
			all++
		}
	}
	return 3*fit >= 2*all
}

// sides are the pieces at the left and at the right of a gutter.
func (a *arranger) sides(rows [][]int, gutter float64) (left, right []int) {
	for _, row := range rows {
		for _, i := range row {
			if a.pieces[i].x1 <= gutter {
				left = append(left, i)
			} else {
				right = append(right, i)
			}
		}
	}
	return left, right
}

// isInterleaved reports whether the file has the sides of a gutter row by row, and not one behind the other: of the latter
// it knows best how they are read.
func (a *arranger) isInterleaved(rows [][]int, gutter float64) bool {
	var all []int
	pairs := 0
	for _, row := range rows {
		all = append(all, row...)
		if left, right := a.sides([][]int{row}, gutter); len(left) > 0 && len(right) > 0 {
			pairs++
		}
	}
	slices.Sort(all)
	turns := 0
	for k := 1; k < len(all); k++ {
		if (a.pieces[all[k]].x1 <= gutter) != (a.pieces[all[k-1]].x1 <= gutter) {
			turns++
		}
	}
	return pairs > 1 && turns >= pairs
}

// isGrid reports whether rows that are no columns of text are those of a table.
func (a *arranger) isGrid(rows [][]int, gutter float64) bool {
	both := 0
	for _, row := range rows {
		if left, right := a.sides([][]int{row}, gutter); len(left) > 0 && len(right) > 0 {
			both++
		}
	}
	return len(rows) >= 3 && 10*both >= 6*len(rows)
}

// haveText reports whether there is text at both sides of a gutter, or at one, whose sentences what is beside it would be
// read into.
func (a *arranger) haveText(rows [][]int, gutter float64, depth int) bool {
	var left, right column
	var pairs [][2]int
	for _, row := range rows {
		l, r := a.sides([][]int{row}, gutter)
		left.add(a.pieces, l)
		right.add(a.pieces, r)
		if len(l) > 0 && len(r) > 0 {
			pairs = append(pairs, [2]int{len(left.lines) - 1, len(right.lines) - 1})
		}
	}
	if len(pairs) == 0 || len(pairs) < minPairs && right.begin()-left.end() < wideGutter*left.unit() {
		return false
	}
	isText := func(c *column) bool {
		if c.isText() {
			return true
		}
		_, hasColumns, _ := a.arrange(c.pieces, depth+1)
		return hasColumns
	}
	switch l, r := isText(&left), isText(&right); {
	case l && r:
		return true
	case l:
		return left.isParted(pairs, 0)
	case r:
		return right.isParted(pairs, 1)
	}
	return false
}
