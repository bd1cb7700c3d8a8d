package wasm_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// BenchmarkCrossing measures what it costs to carry 200 bytes into a guest and
// out again through the pool. The guest does next to nothing.
func BenchmarkCrossing(b *testing.B) {
	for _, limiter := range []wasm.Limiter{wasm.Unlimited(), wasm.Metered(), wasm.ContextDone()} {
		b.Run(limiter.String(), func(b *testing.B) {
			m := compile(b, open(b, wasm.Options{Limiter: limiter}), "echo", wasm.Limits{})
			ctx := context.Background()
			in := bytes.Repeat([]byte("x"), 200)
			out := make([]byte, 0, 256)
			var err error
			b.ReportAllocs()
			for b.Loop() {
				if out, err = m.Call(ctx, decode, in, out[:0]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkStart measures a new instance of a small guest.
func BenchmarkStart(b *testing.B) {
	m := compile(b, open(b, wasm.Options{Limiter: wasm.Unlimited()}), "echo", wasm.Limits{Calls: 1, Instances: 1})
	ctx := context.Background()
	for b.Loop() {
		if _, err := m.Call(ctx, decode, []byte("x"), nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkQueue measures a crossing when a thousand calls want an instance at
// once.
func BenchmarkQueue(b *testing.B) {
	m := compile(b, open(b, wasm.Options{Limiter: wasm.Unlimited()}), "echo", wasm.Limits{})
	in := bytes.Repeat([]byte("x"), 200)
	b.SetParallelism(500)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		ctx := context.Background()
		out := make([]byte, 0, 256)
		var err error
		for pb.Next() {
			if out, err = m.Call(ctx, decode, in, out[:0]); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
