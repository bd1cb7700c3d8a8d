package vector

import "math"

// headBits is how many bits of each code are looked at first: most vectors are
// too far away by these alone.
const headBits = 256

const headWords = headBits / 64

// codes keep vectors twice, shortened: at one bit a number, by which a few
// candidates are found among all, and at one byte a number, by which these are
// put in order. What is kept is turned by a rotation, which leaves products as
// they are and makes all numbers of a vector matter alike.
//
// The bits say on which side of the mean a number is. They give the angle at the
// mean between two vectors, as far as so many bits can; how far away from the
// mean each vector is, and how much it is along it, is kept beside them.
type codes struct {
	dims, words, head int // numbers, and words of 64 bits of a code and of its head
	turn              *rotation
	mean              []float32 // turned

	heads, tails [][]uint64 // blocks, side by side
	bytes        [][]int8
	rows         []codedRow
	turned       []float32 // to work in, of the writer
}

// A codedRow is what is kept of a vector beside its codes.
type codedRow struct {
	away  float32 // its distance from the mean
	along float32 // its product with the mean
	unit  float32 // what 1 is worth in its bytes
}

// newCodes returns codes whose mean is that of count rows.
func newCodes(dims, count int, row func(int) []float32) *codes {
	words := (dims + 63) / 64
	c := &codes{dims: dims, words: words, head: min(words, headWords), turn: newRotation(dims), mean: make([]float32, dims), turned: make([]float32, dims)}
	sums := make([]float64, dims)
	for i := range count {
		for k, x := range row(i) {
			sums[k] += float64(x)
		}
	}
	for k, sum := range sums {
		c.mean[k] = float32(sum / float64(count))
	}
	c.turn.apply(c.mean)
	return c
}

// blockBytes is what a block of rows takes.
func (c *codes) blockBytes() int64 { return blockRows * int64(c.words*8+c.dims+12) }

func (c *codes) set(row int, v []float32) {
	if row == len(c.rows) {
		c.rows = append(c.rows, codedRow{})
		if row/blockRows == len(c.bytes) {
			c.heads = append(c.heads, make([]uint64, blockRows*c.head))
			c.tails = append(c.tails, make([]uint64, blockRows*(c.words-c.head)))
			c.bytes = append(c.bytes, make([]int8, blockRows*c.dims))
		}
	}
	copy(c.turned, Unit(v))
	c.turn.apply(c.turned)
	r := &c.rows[row]
	r.along = Dot(c.turned, c.mean)
	r.away = c.pack(c.headOf(row), c.tailOf(row), c.turned)
	r.unit = shorten(c.bytesOf(row), c.turned)
}

func (c *codes) headOf(row int) []uint64 { return part(c.heads, row, c.head) }
func (c *codes) tailOf(row int) []uint64 { return part(c.tails, row, c.words-c.head) }
func (c *codes) bytesOf(row int) []int8  { return part(c.bytes, row, c.dims) }

// pack writes the bits of a turned vector, and returns its distance from the mean.
func (c *codes) pack(head, tail []uint64, v []float32) float32 {
	clear(head)
	clear(tail)
	sum := float32(0)
	for i, x := range v {
		x -= c.mean[i]
		sum += x * x
		if x < 0 {
			continue
		}
		if w := i / 64; w < len(head) {
			head[w] |= 1 << (i % 64)
		} else {
			tail[w-len(head)] |= 1 << (i % 64)
		}
	}
	return float32(math.Sqrt(float64(sum)))
}

// shorten writes v at one byte a number, and returns what 1 is worth.
func shorten(dst []int8, v []float32) float32 {
	most := float32(0)
	for _, x := range v {
		most = max(most, x, -x)
	}
	if most == 0 {
		clear(dst)
		return 0
	}
	by := 127 / most
	for i, x := range v {
		dst[i] = int8(math.RoundToEven(float64(x * by)))
	}
	return most / 127
}

// move copies a row over another.
func (c *codes) move(to, from int) {
	copy(c.headOf(to), c.headOf(from))
	copy(c.tailOf(to), c.tailOf(from))
	copy(c.bytesOf(to), c.bytesOf(from))
	c.rows[to] = c.rows[from]
}

// cut leaves the first n rows, and the blocks that these are in.
func (c *codes) cut(n int) {
	c.rows = c.rows[:n]
	blocks := blocksOf(n)
	c.heads, c.tails, c.bytes = c.heads[:blocks], c.tails[:blocks], c.bytes[:blocks]
}

// like is the product of a row with the query, by their bytes.
func (c *codes) like(q *codedQuery, row int) float32 {
	return float32(dotBytes(q.bytes, c.bytesOf(row))) * q.unit * c.rows[row].unit
}

// dotBytes is [Dot] of bytes.
func dotBytes(a, b []int8) int32 {
	var s0, s1, s2, s3 int32
	for len(a) >= 8 && len(b) >= 8 {
		x, y := a[:8:8], b[:8:8]
		s0 += int32(x[0])*int32(y[0]) + int32(x[4])*int32(y[4])
		s1 += int32(x[1])*int32(y[1]) + int32(x[5])*int32(y[5])
		s2 += int32(x[2])*int32(y[2]) + int32(x[6])*int32(y[6])
		s3 += int32(x[3])*int32(y[3]) + int32(x[7])*int32(y[7])
		a, b = a[8:], b[8:]
	}
	for i := range a {
		s0 += int32(a[i]) * int32(b[i])
	}
	return s0 + s1 + s2 + s3
}
