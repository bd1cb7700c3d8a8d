package vector

import "math/bits"

// rows keep vectors by their number, in one form or another. Those numbered in
// a block are in one piece of memory, so that no copy of the whole is ever made.
type rows interface {
	set(row int, v []float32) // a row that is there, or the next
	move(to, from int)
	cut(n int) // leaves the first n
	blockBytes() int64
}

// floats are vectors at length 1.
type floats struct {
	dims   int
	blocks [][]float32
}

func (f *floats) row(row int) []float32 { return part(f.blocks, row, f.dims) }
func (f *floats) move(to, from int)     { copy(f.row(to), f.row(from)) }
func (f *floats) cut(n int)             { f.blocks = f.blocks[:blocksOf(n)] }
func (f *floats) blockBytes() int64     { return int64(blockRows * f.dims * 4) }

func (f *floats) set(row int, v []float32) {
	if row/blockRows == len(f.blocks) {
		f.blocks = append(f.blocks, make([]float32, blockRows*f.dims))
	}
	copy(f.row(row), Unit(v))
}

// signs are vectors at one bit a number.
type signs struct {
	dims, words int
	blocks      [][]uint64
}

func (s *signs) row(row int) []uint64 { return part(s.blocks, row, s.words) }
func (s *signs) move(to, from int)    { copy(s.row(to), s.row(from)) }
func (s *signs) cut(n int)            { s.blocks = s.blocks[:blocksOf(n)] }
func (s *signs) blockBytes() int64    { return int64(blockRows * s.words * 8) }

func (s *signs) set(row int, v []float32) {
	if row/blockRows == len(s.blocks) {
		s.blocks = append(s.blocks, make([]uint64, blockRows*s.words))
	}
	pack(s.row(row), v)
}

// pack writes the signs of v as bits.
func pack(dst []uint64, v []float32) {
	clear(dst)
	for i, x := range v {
		if x >= 0 {
			dst[i/64] |= 1 << (i % 64)
		}
	}
}

// differ is in how many bits a row and q are not the same.
func (s *signs) differ(row int, q []uint64) (n int) {
	for i, w := range s.row(row) {
		n += bits.OnesCount64(w ^ q[i])
	}
	return n
}

// blocksOf is how many blocks n rows are in.
func blocksOf(n int) int { return (n + blockRows - 1) / blockRows }

// part returns what a row has of blocks, of which each row has stride.
func part[T any](blocks [][]T, row, stride int) []T {
	at := row % blockRows * stride
	return blocks[row/blockRows][at : at+stride]
}
