package bleveindex

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Places come back as they were packed, and what does not fit into a number is
// refused.
func TestPackPlaces(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	packed, refused := 0, 0
	for range 200_000 {
		var places []uint32
		fields, far := 1+rng.IntN(1<<rng.IntN(17)), 1+rng.IntN(1<<rng.IntN(17))
		for range 1 + rng.IntN(6) {
			places = append(places, position(rng.IntN(fields), 1+rng.IntN(far)))
		}
		slices.Sort(places)
		places = slices.Compact(places)
		n, ok := packPlaces(places)
		if !ok {
			refused++
			continue
		}
		packed++
		if n&1 == 0 || n>>mostPacked != 0 {
			t.Fatalf("packPlaces(%x) = %x; want an odd number of %d bits", places, n, mostPacked)
		}
		var got []uint32
		unpackPlaces(n, func(field, pos uint16) { got = append(got, position(int(field), int(pos))) })
		if !slices.Equal(got, places) {
			t.Fatalf("unpackPlaces(packPlaces(%x)) = %x", places, got)
		}
	}
	if packed < refused || refused == 0 {
		t.Errorf("%d packed, %d refused; want most packed, and some not", packed, refused)
	}
	for _, places := range [][]uint32{nil, {0}, {position(1, 5), position(1, 5)}} {
		if n, ok := packPlaces(places); ok {
			t.Errorf("packPlaces(%x) = %x; want it refused", places, n)
		}
	}
}

func BenchmarkUnpackPlaces(b *testing.B) {
	n, ok := packPlaces([]uint32{position(1, 3), position(2, 17), position(2, 40)})
	if !ok {
		b.Fatal("not packed")
	}
	b.ReportAllocs()
	sum := 0
	for b.Loop() {
		unpackPlaces(n, func(field, pos uint16) { sum += int(field) + int(pos) })
	}
	if sum == 0 {
		b.Fatal("no places")
	}
}
