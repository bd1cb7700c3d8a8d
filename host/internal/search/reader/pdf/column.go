package pdf

import (
	"cmp"
	"slices"
)

// A column is the lines at a side of a gutter.
type column struct {
	lines  []piece
	pieces []int
}

// add adds the pieces of a row, which are one line.
func (c *column) add(pieces []piece, row []int) {
	c.pieces = append(c.pieces, row...)
	for n, i := range row {
		if n == 0 {
			c.lines = append(c.lines, pieces[i])
		} else {
			c.lines[len(c.lines)-1] = c.lines[len(c.lines)-1].before(pieces[i])
		}
	}
}

// begin is where the first of the lines of a column begins, end where the last one ends, and unit the width of a character.
func (c *column) begin() float64 {
	return slices.MinFunc(c.lines, func(p, q piece) int { return cmp.Compare(p.x0, q.x0) }).x0
}

func (c *column) end() float64 {
	return slices.MaxFunc(c.lines, func(p, q piece) int { return cmp.Compare(p.x1, q.x1) }).x1
}

func (c *column) unit() float64 { return c.lines[len(c.lines)/2].unit }

// goOn reports for each line but the first whether it is full up to the word that the next one begins with, and for each
// whether a sentence goes on there, too.
func (c *column) goOn() (full, on []bool) {
	end := c.end()
	full, on = make([]bool, len(c.lines)), make([]bool, len(c.lines))
	for i, next := range c.lines[1:] {
		l := c.lines[i]
		full[i+1] = end-l.x1 < next.first+l.unit/2
		on[i+1] = full[i+1] && next.goesOn && !l.ends
	}
	return full, on
}

// isText reports whether lines are those of a text, and not cells of a table.
func (c *column) isText() bool {
	n := len(c.lines)
	if n < 2 {
		return false
	}
	letters, words, stops := 0, 0, 0
	begins := make([]float64, n)
	for i, l := range c.lines {
		letters, words, stops = letters+l.letters, words+l.words, stops+l.stops
		begins[i] = l.x0
	}
	if letters < 10*n || words < 2*n && letters < 15*n || stops < n/6 {
		return false
	}
	if _, most := aligned(begins, c.unit()); 2*most < n {
		return false
	}
	full, on := c.goOn()
	return 10*count(on) >= 4*(n-1) || n >= 4 && 10*count(full) >= 8*(n-1) && letters >= 16*n
}

// aligned is the place which the most places are within reach of, behind it, and how many.
func aligned(places []float64, reach float64) (place float64, most int) {
	slices.Sort(places)
	from := 0
	for i, x := range places {
		for from < i && x-places[from] > reach {
			from++
		}
		if n := i - from + 1; n > most {
			place, most = places[from], n
		}
	}
	return place, most
}

// isParted reports whether what is beside lines of a text, by pairs whose member side is a line's place, is for a good part of it
// where a sentence goes on.
func (c *column) isParted(pairs [][2]int, side int) bool {
	_, on := c.goOn()
	in := 0
	for _, p := range pairs {
		if on[p[side]] {
			in++
		}
	}
	return len(c.lines) >= 4 && 3*in >= len(pairs)
}

func count(list []bool) (n int) {
	for _, b := range list {
		if b {
			n++
		}
	}
	return n
}
