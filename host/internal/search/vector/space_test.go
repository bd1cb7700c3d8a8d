package vector_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/parley-search/parley/host/internal/search/vector"
)

func random(rng *rand.Rand, dims int) []float32 {
	v := make([]float32, dims)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	return v
}

func never() error { return nil }

// A model of a Space: a map, and every score worked out the long way.
type model map[string]struct {
	seq     uint64
	vectors [][]float32
}

func (m model) nearest(query []float32, k int, allowed *vector.Set, binary bool) []vector.Neighbour {
	var all []vector.Neighbour
	for id, d := range m {
		if !allowed.Has(d.seq) {
			continue
		}
		best := 0.0
		for _, v := range d.vectors {
			a, b := query, v
			if binary {
				a, b = vector.Signs(a), vector.Signs(b)
			}
			var dot, la, lb float64
			for i := range a {
				dot += float64(a[i]) * float64(b[i])
				la += float64(a[i]) * float64(a[i])
				lb += float64(b[i]) * float64(b[i])
			}
			best = max(best, (1+dot/math.Sqrt(la*lb))/2)
		}
		all = append(all, vector.Neighbour{ID: id, Seq: d.seq, Score: float32(best)})
	}
	slices.SortFunc(all, func(a, b vector.Neighbour) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Seq, b.Seq))
	})
	return all[:min(k, len(all))]
}

// Whatever is put, replaced and deleted, a Space finds what the long way does.
func TestSpaceAgainstModel(t *testing.T) {
	for _, binary := range []bool{false, true} {
		for _, most := range []int{1, 3} { // vectors of a document
			rng := rand.New(rand.NewPCG(7, uint64(most)))
			const dims = 67 // of neither block nor word
			s, m := vector.New(dims, binary), model{}
			for step := range 6000 {
				id := fmt.Sprint("d", rng.IntN(2500))
				if rng.IntN(4) == 0 {
					s.Delete(id)
					delete(m, id)
					continue
				}
				var vs [][]float32
				for range 1 + rng.IntN(most) {
					vs = append(vs, random(rng, dims))
				}
				s.Put(id, uint64(step), vs)
				m[id] = struct {
					seq     uint64
					vectors [][]float32
				}{uint64(step), vs}
			}
			if n, _ := s.Docs(); n != len(m) {
				t.Fatalf("Docs = %d, want %d", n, len(m))
			}
			odd := new(vector.Set)
			for n := uint64(1); n < 6000; n += 2 {
				odd.Add(n)
			}
			for _, allowed := range []*vector.Set{nil, odd, {}} {
				for _, k := range []int{0, 1, 20, 5000} {
					q := random(rng, dims)
					got, _, err := s.Nearest(q, k, k, allowed, never)
					if err != nil {
						t.Fatal(err)
					}
					want := m.nearest(q, k, allowed, binary)
					if len(got) != len(want) {
						t.Fatalf("binary %v: Nearest(%d) found %d, want %d", binary, k, len(got), len(want))
					}
					for i := range got {
						// Neighbours whose scores differ by rounding alone may change places.
						if math.Abs(float64(got[i].Score-want[i].Score)) > 1e-5 {
							t.Fatalf("binary %v: neighbour %d of %d is %+v, want %+v", binary, i, k, got[i], want[i])
						}
					}
				}
			}
			for id := range m {
				s.Delete(id)
			}
			if n, _ := s.Docs(); n != 0 || s.Bytes() != 0 {
				t.Errorf("emptied, a space has %d documents and %d bytes", n, s.Bytes())
			}
		}
	}
}

func TestSpaceStops(t *testing.T) {
	s := vector.New(2, false)
	s.Put("a", 1, [][]float32{{1, 0}})
	late := errors.New("late")
	if _, _, err := s.Nearest([]float32{1, 0}, 1, 1, nil, func() error { return late }); !errors.Is(err, late) {
		t.Errorf("Nearest = %v, want %v", err, late)
	}
}

// A vector without a direction, or beyond what its square can be, is no
// mistake.
func TestSpaceOddVectors(t *testing.T) {
	s := vector.New(2, false)
	s.Put("zero", 1, [][]float32{{0, 0}})
	s.Put("huge", 2, [][]float32{{3e38, 3e38}})
	s.Put("tiny", 3, [][]float32{{-1e-38, -1e-38}})
	got, _, err := s.Nearest([]float32{1, 1}, 3, 3, nil, never)
	if err != nil || len(got) != 3 {
		t.Fatalf("Nearest = %v, %v", got, err)
	}
	for i, want := range []struct {
		id    string
		score float32
	}{{"huge", 1}, {"zero", 0.5}, {"tiny", 0}} {
		if got[i].ID != want.id || math.Abs(float64(got[i].Score-want.score)) > 1e-6 {
			t.Errorf("neighbour %d = %+v, want %+v", i, got[i], want)
		}
	}
}

func TestSpaceHammer(t *testing.T) {
	const dims = 16
	s := vector.New(dims, false)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(3, uint64(w)))
			for i := range 400 {
				id := fmt.Sprint(rng.IntN(300))
				switch {
				case w == 0 && i%5 == 0:
					s.Delete(id)
				case w == 0:
					s.Put(id, uint64(i), [][]float32{random(rng, dims), random(rng, dims)})
				default:
					got, _, err := s.Nearest(random(rng, dims), 10, 10, nil, never)
					if err != nil || len(got) > 10 {
						t.Errorf("Nearest = %d, %v", len(got), err)
					}
				}
			}
		})
	}
	wg.Wait()
}

// BenchmarkNearest is a search among 63,000 vectors.
func BenchmarkNearest(b *testing.B) {
	for _, bb := range []struct {
		name   string
		dims   int
		binary bool
	}{{"384", 384, false}, {"1536", 1536, false}, {"384 binary", 384, true}} {
		b.Run(bb.name, func(b *testing.B) {
			const n = 63_000
			rng := rand.New(rand.NewPCG(1, 1))
			s := vector.New(bb.dims, bb.binary)
			v := random(rng, bb.dims)
			for i := range n {
				v[rng.IntN(bb.dims)] = float32(rng.NormFloat64())
				s.Put(fmt.Sprint(i), uint64(i), [][]float32{v})
			}
			q := random(rng, bb.dims)
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := s.Nearest(q, 20, 20, nil, never); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(s.Bytes())/(1<<20), "MiB")
		})
	}
}
