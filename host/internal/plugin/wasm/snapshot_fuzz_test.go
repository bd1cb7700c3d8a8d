package wasm

import (
	"bytes"
	"math/rand/v2"
	"os"
	"testing"
)

// FuzzHostileReset has a guest write to its memory and globals as the input says
// and resets it, in each way: after every reset all of its memory and all of its
// globals are the snapshot's.
func FuzzHostileReset(f *testing.F) {
	m := frozenModule(f, openRuntime(f, Options{CacheDir: f.TempDir()}), "thief", Limits{Room: 8 << 20})
	if m.snapshot() == nil {
		f.Skip("this system has no snapshots")
	}
	var all []*instance
	for _, w := range ways(f) {
		all = append(all, startIn(f, m, w))
	}
	f.Cleanup(func() {
		for _, i := range all {
			i.close()
		}
	})
	f.Add([]byte("mw12345678"), uint64(1), uint16(3))
	f.Add([]byte("pw12345678"), uint64(2), uint16(0))
	f.Add([]byte("dw12345678"), uint64(3), uint16(1100))
	f.Add(append([]byte("aw"), make([]byte, 100_000)...), uint64(4), uint16(70))
	n := m.index["parley_decode"]
	f.Fuzz(func(t *testing.T, in []byte, seed uint64, writes uint16) {
		for k, i := range all {
			_, err := i.call(n, in[:min(len(in), m.limits.Input)], nil)
			if _, ok := err.(*Fault); ok {
				t.Fatal(err)
			}
			// What a guest of another kind might do.
			r := rand.New(rand.NewPCG(seed, uint64(writes)))
			for range writes % 2048 {
				at := uint32(r.IntN(int(i.memory.Size())))
				i.memory.WriteByte(at, byte(r.Uint32()))
				i.globals[r.IntN(len(i.globals))].Set(uint64(r.Uint32())) // which every type holds
			}
			s := i.snapshot
			if int(i.memory.Size()) != len(s.memory) {
				if _, ok := i.reset(); ok {
					t.Fatal("an instance that has grown was reset")
				}
				all[k] = startIn(t, m, s.way)
				i.close()
				continue
			}
			if _, ok := i.reset(); !ok {
				t.Fatalf("way %d: it cannot be reset", s.way)
			}
			if got := i.linear.block[:i.memory.Size()]; !bytes.Equal(got, s.memory) {
				t.Fatalf("way %d: the memory is not the snapshot's", s.way)
			}
			for k, g := range i.globals {
				if g.Get() != s.globals[k] {
					t.Fatalf("way %d: global %d is %d, want %d", s.way, k, g.Get(), s.globals[k])
				}
			}
			if i.region != s.region || i.capacity != s.capacity {
				t.Fatalf("way %d: the input region has %d bytes at %d, want %d at %d", s.way, i.capacity, i.region, s.capacity, s.region)
			}
		}
	})
}

// startIn starts an instance that is reset in way w.
func startIn(t testing.TB, m *Module, w way) *instance {
	t.Helper()
	i, err := m.start()
	if err != nil {
		t.Fatal(err)
	}
	s := *i.snapshot
	s.way = w
	i.snapshot = &s
	return i
}

// BenchmarkReset is what it takes to bring an instance back that has written to
// so many pages since.
func BenchmarkReset(b *testing.B) {
	m := frozenModule(b, openRuntime(b, Options{CacheDir: b.TempDir()}), "thief", Limits{Room: 4 << 20})
	if m.snapshot() == nil {
		b.Skip("this system has no snapshots")
	}
	names := map[way]string{wayNone: "anew", wayRead: "read", wayScan: "scan"}
	for _, w := range ways(b) {
		for _, pages := range []int{0, 4, 100} {
			b.Run(names[w]+"/"+map[int]string{0: "nothing", 4: "4-pages", 100: "100-pages"}[pages], func(b *testing.B) {
				i := startIn(b, m, w)
				defer i.close()
				block, size := i.linear.block, os.Getpagesize()
				b.ReportAllocs()
				for n := 0; b.Loop(); n++ {
					for p := range pages {
						block[(7+p*3)*size] = byte(n) | 1 // a store each, and a fault where the page was given up
					}
					if _, ok := i.reset(); !ok {
						b.Fatal("it cannot be reset")
					}
				}
			})
		}
	}
}
