package vector

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
)

// around returns a vector around one of subjects, and that subject.
func around(rng *rand.Rand, subjects [][]float32) ([]float32, int) {
	n := rng.IntN(len(subjects))
	v := slices.Clone(subjects[n])
	for i := range v {
		v[i] += 0.8 * float32(rng.NormFloat64())
	}
	return v, n
}

func subjects(rng *rand.Rand, n, dims int) [][]float32 {
	out := make([][]float32, n)
	for i := range out {
		out[i] = make([]float32, dims)
		for k := range out[i] {
			out[i][k] = float32(rng.NormFloat64()) + 0.5
		}
	}
	return out
}

// TestDoubt wants products by bits to be off by what the query says of them, and by the
// query's numbers half of that: what is passed over depends on it.
func TestDoubt(t *testing.T) {
	for _, dims := range []int{136, 300, 768} {
		rng := rand.New(rand.NewPCG(5, uint64(dims)))
		const n = 400
		vectors := make([][]float32, n)
		for i := range vectors {
			vectors[i], _ = around(rng, subjects(rng, 1, dims))
			vectors[i] = Unit(vectors[i])
		}
		c := newCodes(dims, n, func(i int) []float32 { return vectors[i] })
		for i, v := range vectors {
			c.set(i, v)
		}
		bits, sides, count := 0.0, 0.0, 0.0
		for _, v := range vectors[:40] {
			q := c.query(v)
			turned := Unit(v)
			c.turn.apply(turned)
			common := Dot(turned, c.mean) - Dot(c.mean, c.mean) // of all products with q, which no step has
			for i, x := range vectors {
				r := &c.rows[i]
				truth := Dot(v, x) - common
				if like := c.like(q, i) - common; math.Abs(float64(like-truth)) > 0.01 {
					t.Fatalf("%d numbers: by bytes a product is %.3f, in truth %.3f", dims, like, truth)
				}
				if &x[0] == &v[0] {
					continue
				}
				differ := differing(c.headOf(i), q.head) + differing(c.tailOf(i), q.tail)
				off := (q.cosine[differ]*r.away + r.along - truth) / (q.doubt * r.away)
				bits += float64(off * off)
				off = ((q.side(c.headOf(i), 0)+q.side(c.tailOf(i), c.head))*r.away + r.along - truth) / (q.sidesDoubt * r.away)
				sides += float64(off * off)
				count++
			}
		}
		for what, square := range map[string]float64{"bits of both": bits, "bits and numbers": sides} {
			if off := nearDoubt * math.Sqrt(square/count); off < 0.85 || off > 1.15 {
				t.Errorf("%d numbers: by %s products are off by %.2f of the deviation that is reckoned with", dims, what, off)
			}
		}
	}
}

// TestFewLookedAtCloser wants the rows whose bytes are looked at to be about those that are
// near, and all of these, also where goroutines share the rows and a filter
// leaves some.
func TestFewLookedAtCloser(t *testing.T) {
	const dims, n, of = 320, 2 * shareBlocks * blockRows, 40
	rng := rand.New(rand.NewPCG(6, 7))
	all := subjects(rng, n/of, dims)
	s, its := New(dims, false), make([][]int, len(all)) // rows of a subject
	for i := range n {
		v, subject := around(rng, all)
		s.Put(strconv.Itoa(i), uint64(i), [][]float32{v})
		its[subject] = append(its[subject], i)
	}
	even := new(Set)
	for i := 0; i < n; i += 2 {
		even.Add(uint64(i))
	}
	c := s.rows.(*codes)
	for name, allowed := range map[string]*Set{"all": nil, "half": even} {
		looked, near, missed := 0, 0, 0
		for range 20 {
			v, subject := around(rng, all)
			found, err := s.candidates(c, c.query(v), leastCloser, 10, allowed, func() error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			looked += len(found)
			rows := map[int]bool{}
			for _, x := range found {
				rows[int(x.row)] = true
				if !allowed.Has(s.seqs[x.row]) {
					t.Fatalf("%s: row %d is not allowed", name, x.row)
				}
			}
			for _, row := range its[subject] {
				if allowed.Has(uint64(row)) {
					near++
					if !rows[row] {
						missed++
					}
				}
			}
		}
		if looked > 10*near || missed*100 > near {
			t.Errorf("%s: looked closer at %d rows, where %d are near, and missed %d of these", name, looked, near, missed)
		}
	}
}

// TestCodesHammer has several search while one changes what is there; then what is
// there is found by itself, and what is gone is not.
func TestCodesHammer(t *testing.T) {
	const dims, n = 64, 2*shareBlocks*blockRows + 100
	rng := rand.New(rand.NewPCG(1, 2))
	vector := func() []float32 { return Unit(subjects(rng, 1, dims)[0]) }
	s, kept := New(dims, false), map[int][]float32{}
	for i := range n {
		kept[i] = vector()
		s.Put(strconv.Itoa(i), uint64(i), [][]float32{kept[i]})
	}
	queries := subjects(rng, 4, dims)
	var wg sync.WaitGroup
	for _, q := range queries {
		wg.Go(func() {
			for range 10 {
				list, _, err := s.Nearest(q, 10, 20, nil, func() error { return nil })
				if err != nil || len(list) < 10 || len(list) > 20 {
					t.Errorf("Nearest gives %d documents, error %v; want 10 to 20", len(list), err)
				}
			}
		})
	}
	wg.Go(func() {
		for i := range 2000 {
			id := (i * 7919) % n
			if i%2 == 0 {
				s.Delete(strconv.Itoa(id))
				delete(kept, id)
				continue
			}
			kept[id] = vector()
			s.Put(strconv.Itoa(id), uint64(id), [][]float32{kept[id]})
		}
	})
	wg.Wait()
	for i := range 200 {
		id := (i * 7919) % n
		v, there := kept[id]
		if !there {
			v = vector()
		}
		list, _, err := s.Nearest(v, 10, 20, nil, func() error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		found := slices.ContainsFunc(list, func(n Neighbour) bool { return n.ID == fmt.Sprint(id) })
		if found != there {
			t.Errorf("document %d is there: %v; found: %v", id, there, found)
		}
	}
}
