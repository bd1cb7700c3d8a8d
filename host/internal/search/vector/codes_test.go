package vector_test

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/search/storage"
	"github.com/parley-search/parley/host/internal/search/vector"
)

// A database keeps vectors as a client gave them.
type database struct {
	storage.DB // none of its other methods is called
	ids        []string
	stored     map[string][]byte
}

func (d *database) ScanVectors(_ context.Context, _ string, _ uint32, f func(id string, b []byte) error) error {
	for _, id := range d.ids {
		if b, ok := d.stored[id]; ok {
			if err := f(id, b); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *database) Vectors(_ string, _ uint32, ids []string) ([][]byte, error) {
	out := make([][]byte, len(ids))
	for i, id := range ids {
		out[i] = d.stored[id]
	}
	return out, nil
}

// put stores a document's vectors.
func (d *database) put(n int, vectors ...[]float32) *vector.Document {
	id := strconv.Itoa(n)
	v := &vector.Document{Seq: uint64(n), Vectors: vectors}
	if _, ok := d.stored[id]; !ok {
		d.ids = append(d.ids, id)
	}
	d.stored[id] = v.Encode()
	return v
}

// clustered returns what makes vectors like those of texts: around subjects, which
// lie around what all have in common, with a few numbers larger than others.
func clustered(rng *rand.Rand, dims, subjects int) func() []float32 {
	common, weight := random(rng, dims), make([]float32, dims)
	for i := range weight {
		weight[i] = float32(math.Exp(rng.NormFloat64() / 2))
	}
	centres := make([][]float32, subjects)
	for i := range centres {
		centres[i] = random(rng, dims)
	}
	return func() []float32 {
		v, c := random(rng, dims), centres[rng.IntN(subjects)]
		for i := range v {
			v[i] = weight[i] * (v[i] + 1.2*c[i] + common[i])
		}
		return v
	}
}

// layered returns what makes vectors of less structure: in a few directions of falling
// strength, around a few wide subjects, with noise in all numbers.
func layered(rng *rand.Rand, dims int) func() []float32 {
	common, directions, subjects := random(rng, dims), make([][]float32, min(96, dims)), make([][]float32, 500)
	for j := range directions {
		directions[j] = random(rng, dims)
	}
	for i := range subjects {
		subjects[i] = random(rng, len(directions))
	}
	return func() []float32 {
		v, subject := random(rng, dims), subjects[rng.IntN(len(subjects))]
		for i := range v {
			v[i] = 0.8*v[i] + 1.5*common[i]
		}
		for j, direction := range directions {
			by := float32(math.Pow(float64(j+1), -0.4)) * (0.7*subject[j] + float32(rng.NormFloat64()))
			for i, x := range direction {
				v[i] += by * x
			}
		}
		return v
	}
}

// recall is which part of the true nearest ten, of those that allowed has, Nearest
// finds for count queries; its scores must be those of the vectors.
func (d *database) recall(tb testing.TB, m *vector.Memory, key vector.Key, allowed *vector.Set, count int, query func() []float32) float64 {
	const k = 10
	found, wanted := 0, 0
	for range count {
		q := query()
		top := vector.NewTop(k)
		for _, id := range d.ids {
			seq, _ := strconv.ParseUint(id, 10, 64)
			b, ok := d.stored[id]
			if !ok || !allowed.Has(seq) {
				continue
			}
			v, err := vector.Decode(b)
			if err != nil {
				tb.Fatal(err)
			}
			best := float32(0)
			for _, x := range v.Vectors {
				best = max(best, vector.Likeness(q, x))
			}
			top.Add(id, v.Seq, best)
		}
		want := top.List()
		wanted += len(want)
		got, err := m.Nearest(context.Background(), key, q, k, allowed)
		if err != nil || len(got) != len(want) {
			tb.Fatalf("Nearest = %d neighbours, %v; want %d", len(got), err, len(want))
		}
		for i, n := range got {
			at := slices.IndexFunc(want, func(w vector.Neighbour) bool { return w.ID == n.ID })
			if at < 0 {
				continue
			}
			found++
			if diff := math.Abs(float64(n.Score - want[at].Score)); diff > 1e-6 {
				tb.Fatalf("neighbour %d, %+v, has another score than %+v", i, n, want[at])
			}
		}
	}
	return float64(found) / float64(wanted)
}

// TestNearestByCodes wants nearly all of the true neighbours where there are so many
// vectors that only their codes are in memory, while documents come, change and
// go, and after all is read again.
func TestNearestByCodes(t *testing.T) {
	const dims = 136 // a head and a tail; neither a word's nor a power's number
	rng := rand.New(rand.NewPCG(8, 9))
	next := clustered(rng, dims, 300)
	d := &database{stored: map[string][]byte{}}
	n := 0
	for ; n < 20_000; n++ {
		d.put(n, next())
	}
	m := vector.NewMemory(d, 1<<30)
	key := vector.Key{Docs: "a", Set: 1, Dims: dims}
	some := new(vector.Set)
	for i := 0; i < 40_000; i += 50 {
		some.Add(uint64(i))
	}
	check := func(when string) {
		t.Helper()
		for what, allowed := range map[string]*vector.Set{"all": nil, "one of fifty": some} {
			if got := d.recall(t, m, key, allowed, 10, next); got < 0.97 {
				t.Errorf("%s, %s: recall@10 = %.3f; want 0.97", when, what, got)
			}
		}
	}
	check("read")
	if got, most := m.Bytes(), int64(20_000*(dims+24+16+150)); got > most {
		t.Errorf("20,000 vectors of %d numbers take %d bytes; want %d at most", dims, got, most)
	}
	for range 10_000 {
		i := rng.IntN(n)
		switch rng.IntN(4) {
		case 0:
			gone := strconv.Itoa(i)
			delete(d.stored, gone)
			d.ids = slices.DeleteFunc(d.ids, func(id string) bool { return id == gone })
			m.Put("a", 1, gone, nil)
		case 1:
			m.Put("a", 1, strconv.Itoa(i), d.put(i, next(), next()))
		case 2:
			m.Put("a", 1, strconv.Itoa(i), d.put(i, next()))
		default:
			m.Put("a", 1, strconv.Itoa(n), d.put(n, next()))
			n++
		}
	}
	check("changed")
	m = vector.NewMemory(d, 1<<30)
	check("read again")
	// What was deleted a moment ago is not given, though its codes may be there yet.
	gone, err := m.Nearest(context.Background(), key, next(), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	delete(d.stored, gone[0].ID)
	if got, err := m.Nearest(context.Background(), key, next(), 100, nil); err != nil || slices.ContainsFunc(got, func(n vector.Neighbour) bool { return n.ID == gone[0].ID }) {
		t.Errorf("Nearest gives document %s, which is deleted; error %v", gone[0].ID, err)
	}
}

// TestNearestOfLittleStructure wants nearly all of the true neighbours, whatever a filter
// leaves, and most of them even where vectors have nothing in common, so that the
// nearest are hardly nearer than others.
func TestNearestOfLittleStructure(t *testing.T) {
	const dims, n = 300, 20_000
	rng := rand.New(rand.NewPCG(10, 11))
	for _, tt := range []struct {
		name string
		next func() []float32
		want float64
	}{
		{"little structure", layered(rng, dims), 0.97},
		{"none", func() []float32 { return random(rng, dims) }, 0.9},
	} {
		d := &database{stored: make(map[string][]byte, n)}
		for i := range n {
			d.put(i, tt.next())
		}
		m := vector.NewMemory(d, 1<<30)
		key := vector.Key{Docs: "a", Set: 1, Dims: dims}
		for _, each := range []int{1, 10, 1000, 5000} {
			some := new(vector.Set)
			for i := 0; i < n; i += each {
				some.Add(uint64(i))
			}
			if got := d.recall(t, m, key, some, 10, tt.next); got < tt.want {
				t.Errorf("%s, one of %d allowed: recall@10 = %.3f; want %.2f", tt.name, each, got, tt.want)
			}
		}
	}
}

// TestManyNearest wants as many documents as are asked for, each once, however many.
func TestManyNearest(t *testing.T) {
	const dims, n = 16, 35_000 // enough for two goroutines
	rng := rand.New(rand.NewPCG(3, 4))
	d := &database{stored: map[string][]byte{}}
	for i := range n {
		v := random(rng, dims)
		d.put(i, v, v) // twice the same: all rows of the candidates may be of few documents
	}
	m := vector.NewMemory(d, 1<<30)
	for _, k := range []int{1, 900, 3000, n} {
		got, err := m.Nearest(context.Background(), vector.Key{Docs: "a", Set: 1, Dims: dims}, random(rng, dims), k, nil)
		seen := map[string]bool{}
		for _, x := range got {
			seen[x.ID] = true
		}
		if err != nil || len(got) != k || len(seen) != k {
			t.Errorf("Nearest(%d) gives %d documents, %d of them different; error %v", k, len(got), len(seen), err)
		}
	}
}

// BenchmarkNearestByCodes is a search among vectors that only the codes of are in memory:
// VECTORS of them with DIMS numbers, by default 100,000 with 768, of which filters leave
// a part. It says how many of the true nearest ten are found for RECALL queries, by
// default none: each takes long.
func BenchmarkNearestByCodes(b *testing.B) {
	number := func(name string, missing int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
		return missing
	}
	n, dims := number("VECTORS", 100_000), number("DIMS", 768)
	rng := rand.New(rand.NewPCG(8, 9))
	for _, data := range []struct {
		name string
		make func() func() []float32
	}{
		{"clustered", func() func() []float32 { return clustered(rng, dims, max(n/100, 1)) }},
		{"layered", func() func() []float32 { return layered(rng, dims) }},
		{"random", func() func() []float32 { return func() []float32 { return random(rng, dims) } }},
	} {
		b.Run(data.name, func(b *testing.B) {
			next := data.make()
			d := &database{stored: make(map[string][]byte, n)}
			for i := range n {
				d.put(i, next())
			}
			m := vector.NewMemory(d, 4<<30)
			key := vector.Key{Docs: "a", Set: 1, Dims: dims}
			begun := time.Now()
			if _, err := m.Nearest(context.Background(), key, next(), 10, nil); err != nil {
				b.Fatal(err)
			}
			loaded := time.Since(begun)
			for _, each := range []int{1, 2, 10, 100, 1000} {
				var allowed *vector.Set
				if each > 1 {
					allowed = new(vector.Set)
					for i := 0; i < n; i += each {
						allowed.Add(uint64(i))
					}
				}
				b.Run("one of "+strconv.Itoa(each), func(b *testing.B) {
					benchmarkNearest(b, m, key, allowed, next)
					b.ReportMetric(loaded.Seconds(), "s-to-read")
					if count := number("RECALL", 0); count > 0 {
						b.ReportMetric(d.recall(b, m, key, allowed, count, next), "recall@10")
					}
				})
			}
		})
	}
}

func benchmarkNearest(b *testing.B, m *vector.Memory, key vector.Key, allowed *vector.Set, next func() []float32) {
	b.ReportAllocs()
	var took []time.Duration
	for b.Loop() {
		b.StopTimer()
		q := next()
		b.StartTimer()
		begun := time.Now()
		if _, err := m.Nearest(context.Background(), key, q, 10, allowed); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(m.Bytes())/(1<<20), "MiB")
}
