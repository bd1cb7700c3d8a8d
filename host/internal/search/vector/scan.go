package vector

import (
	"math"
	"math/bits"
)

// A codedQuery is what a vector is looked for by.
type codedQuery struct {
	head, tail []uint64
	bytes      []int8
	unit       float32
	// cosine is that of the angle by the bits of which so many differ, headCosine what
	// it may be at most by those of the head; both times the query's distance
	// from the mean.
	cosine, headCosine []float32
	// sides has, of each four numbers, what they add to the product with a row whose
	// bits these are.
	sides [][16]float32
	// By how much a product may be off that is told by the bits of both, and by
	// the row's bits and the query's numbers.
	doubt, sidesDoubt float32
}

// query makes codes of a vector.
func (c *codes) query(v []float32) *codedQuery {
	v = Unit(v)
	c.turn.apply(v)
	q := &codedQuery{head: make([]uint64, c.head), tail: make([]uint64, c.words-c.head), bytes: make([]int8, c.dims), sides: make([][16]float32, c.words*16)}
	away := c.pack(q.head, q.tail, v)
	q.unit = shorten(q.bytes, v)
	q.cosine = cosines(c.dims, away, 0)
	q.headCosine = q.cosine
	if c.head < c.words {
		q.headCosine = cosines(headBits, away, headDoubt)
	}
	// After the rotation numbers are about as from a normal distribution: a bit
	// stands for the mean of one half of it, and hides how the half is spread.
	root := math.Sqrt(float64(c.dims))
	q.doubt = away * float32(nearDoubt*math.Sqrt(math.Pi*math.Pi/4-1)/root)
	q.sidesDoubt = away * float32(nearDoubt*math.Sqrt(math.Pi/2-1)/root)
	half := float32(math.Sqrt(math.Pi/2) / root)
	for i, x := range v {
		x = (x - c.mean[i]) * half
		for bits := range q.sides[i/4] {
			if bits>>(i%4)&1 == 1 {
				q.sides[i/4][bits] += x
			} else {
				q.sides[i/4][bits] -= x
			}
		}
	}
	return q
}

// headDoubt is by how many standard deviations an angle may be smaller than
// the bits of the head say. It may be few: what is nearest is far nearer than
// the last candidate is.
const headDoubt = 1.5

// nearDoubt is by how many standard deviations a row may be less like than the nearest
// by bits and be looked at nevertheless. It is many: those nearest by bits
// are so by luck in part.
const nearDoubt = 4.5

// cosines returns, by how many of n bits differ, the cosine of the angle that this
// is by itself, or of one smaller by doubt standard deviations; times by.
func cosines(n int, by float32, doubt float64) []float32 {
	out := make([]float32, n+1)
	for i := range out {
		p := float64(i) / float64(n)
		p = max(p-doubt*math.Sqrt(max(p*(1-p), 1/float64(n))/float64(n)), 0)
		out[i] = by * float32(math.Cos(math.Pi*p))
	}
	return out
}

// scan looks at rows from to below end, of one block, and adds to best those that may be
// among the most like the query; allowed says of which seqs they may be.
//
// Each step goes over the rows that the one before left, and writes down which it
// leaves itself. Its loop has no jump that the processor could guess wrong, so that
// the next rows are fetched from memory while one is judged.
func (c *codes) scan(q *codedQuery, from, end int, seqs []uint64, allowed *Set, best *candidates) {
	var places [blockRows]uint32 // of rows in the block, and in the low half how many bits of the head differ
	left := places[:end-from]
	rows, seqs := c.rows[from:end], seqs[from:end]
	n := 0
	for i, seq := range seqs {
		left[n] = uint32(i) << 16
		if allowed.Has(seq) {
			n++
		}
	}
	heads, tails, stride := c.heads[from/blockRows], c.tails[from/blockRows], c.words-c.head
	left = left[:c.scanHeads(q, left[:n], heads, rows, best.least)]
	best.touched += touch(tails, stride, left)
	for _, x := range left {
		i, differ := int(x>>16), int(x&0xffff)
		tail, r := tails[i*stride:(i+1)*stride], &rows[i]
		differ += differing(tail, q.tail)
		if q.cosine[differ]*r.away+r.along < best.least {
			continue
		}
		like := (q.side(heads[i*c.head:(i+1)*c.head], 0)+q.side(tail, c.head))*r.away + r.along
		if like > best.least {
			best.add(from+i, like)
		}
	}
}

// touch fetches the tails of rows, all at once: to wait for one after the other takes
// longer than what is done with them. The sum is of no meaning.
func touch(tails []uint64, stride int, left []uint32) (sum uint64) {
	if stride > 0 {
		for _, x := range left {
			sum += tails[int(x>>16)*stride]
		}
	}
	return sum
}

// scanHeads leaves of left, in its place, the rows that may be as like as least by their heads,
// and returns how many.
func (c *codes) scanHeads(q *codedQuery, left []uint32, heads []uint64, rows []codedRow, least float32) (n int) {
	if c.head != headWords {
		for _, x := range left {
			i := int(x >> 16)
			differ := differing(heads[i*c.head:(i+1)*c.head], q.head)
			left[n] = x | uint32(differ)
			if r := &rows[i]; q.headCosine[differ]*r.away+r.along >= least {
				n++
			}
		}
		return n
	}
	k, cosine := [headWords]uint64(q.head), (*[headBits + 1]float32)(q.headCosine)
	for _, x := range left {
		i := int(x >> 16)
		h := (*[headWords]uint64)(heads[i*headWords:])
		differ := bits.OnesCount64(h[0]^k[0]) + bits.OnesCount64(h[1]^k[1]) + bits.OnesCount64(h[2]^k[2]) + bits.OnesCount64(h[3]^k[3])
		left[n] = x | uint32(differ)
		if r := &rows[i]; cosine[differ]*r.away+r.along >= least {
			n++
		}
	}
	return n
}

// side is about the query's product with a row at distance 1 from the mean, as far as some
// words of its code say, before which there are first others: half as much in doubt
// as by the bits of both.
func (q *codedQuery) side(words []uint64, first int) float32 {
	sides := q.sides[first*16:]
	var s0, s1, s2, s3 float32
	for _, w := range words {
		for range 4 {
			t := (*[4][16]float32)(sides)
			s0 += t[0][w&15]
			s1 += t[1][w>>4&15]
			s2 += t[2][w>>8&15]
			s3 += t[3][w>>12&15]
			w >>= 16
			sides = sides[4:]
		}
	}
	return (s0 + s1) + (s2 + s3)
}

// differing counts the bits in which a and b, of the same length, are not the same.
func differing(a, b []uint64) (n int) {
	b = b[:len(a)]
	i := 0
	for ; i+4 <= len(a); i += 4 {
		x, y := (*[4]uint64)(a[i:]), (*[4]uint64)(b[i:])
		n += bits.OnesCount64(x[0]^y[0]) + bits.OnesCount64(x[1]^y[1]) + bits.OnesCount64(x[2]^y[2]) + bits.OnesCount64(x[3]^y[3])
	}
	for ; i < len(a); i++ {
		n += bits.OnesCount64(a[i] ^ b[i])
	}
	return n
}

// candidates are the most likely of the rows that were looked at.
type candidates struct {
	most    likeliest
	near    likeliest // so many as are asked for
	doubt   float32   // how much less like than these a row may be that is nearer in truth
	least   float32   // what a row must be like at least to be of use
	touched uint64    // of no meaning: what is not kept would not be read
}

func newCandidates(want, near int, doubt float32) *candidates {
	return &candidates{most: likeliest{want: want}, near: likeliest{want: near}, doubt: doubt, least: float32(math.Inf(-1))}
}

func (c *candidates) add(row int, like float32) {
	x := candidate{int32(row), like}
	c.most.add(x)
	c.near.add(x)
	c.least = max(c.most.least(), c.near.least()-c.doubt)
}

// likeliest keep the best of the rows that they are shown.
type likeliest struct {
	want int
	heap []candidate // with the least likely at its root
}

type candidate struct {
	row  int32
	like float32
}

// least is how likely the last of them is, once there are enough.
func (c *likeliest) least() float32 {
	if len(c.heap) < c.want {
		return float32(math.Inf(-1))
	}
	return c.heap[0].like
}

// add adds a row, in the place of the least likely one where there are enough.
func (c *likeliest) add(x candidate) {
	h := c.heap
	if len(h) < c.want {
		h = append(h, x)
		for i := len(h) - 1; i > 0; {
			parent := (i - 1) / 2
			if h[parent].like <= h[i].like {
				break
			}
			h[parent], h[i] = h[i], h[parent]
			i = parent
		}
		c.heap = h
		return
	}
	if x.like <= h[0].like {
		return
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1].like < h[child].like {
			child++
		}
		if h[child].like >= x.like {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = x
}
