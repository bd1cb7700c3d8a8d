package bleveindex_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parley-search/parley/host/internal/search/bleveindex"
)

func TestNumbersSortAsBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	list := []float64{0, math.Copysign(0, -1), 1, -1, math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(1), math.Inf(-1)}
	for range 2000 {
		list = append(list, math.Float64frombits(rng.Uint64()), float64(rng.IntN(100)-50))
	}
	list = slices.DeleteFunc(list, math.IsNaN)
	slices.Sort(list)
	var last []byte
	for i, f := range list {
		b := bleveindex.AppendNumber(nil, f)
		if got := bleveindex.ParseNumber(b); got != f {
			t.Fatalf("%v comes back as %v", f, got)
		}
		if i > 0 && bytes.Compare(last, b) > 0 || i > 0 && list[i-1] != f && bytes.Equal(last, b) {
			t.Fatalf("%v is %x, %v before it %x", f, b, list[i-1], last)
		}
		if slices.Max(b) > 0x7f {
			t.Fatalf("%v is %x", f, b)
		}
		last = b
	}
}
