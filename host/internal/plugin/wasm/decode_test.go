package wasm_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
	"github.com/parley-search/parley/host/internal/plugin/wasm/meter"
)

// chunk is an event of an OpenAI-compatible server, of about 300 bytes.
const chunk = `{"id":"chatcmpl-7b1f0c9ad1f84d0b8c3f6f0f2f7a9a51","object":"chat.completion.chunk","created":1763700000,"model":"meta-llama/Llama-3.1-8B-Instruct","system_fingerprint":"fp_50cad350e4","choices":[{"index":0,"delta":{"content":" the documents that were found"},"logprobs":null,"finish_reason":null}]}`

// goPlugin returns the module of the shipped vllm plugin, built here.
func goPlugin(t testing.TB) []byte {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "..", "plugins", "provider", "vllm")
	if _, err := os.Stat(filepath.Join(dir, plugin.ManifestFile)); err != nil {
		t.Skipf("the vllm plugin is not there: %v", err)
	}
	file, err := plugin.Build(context.Background(), dir, t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestRealPlugin decodes the same events with a real plugin under each
// limiter: all answer the same.
func TestRealPlugin(t *testing.T) {
	if testing.Short() || underRace {
		t.Skip("it builds and compiles a plugin, which takes long")
	}
	bin := goPlugin(t)
	want := map[string]string{}
	for _, limiter := range []wasm.Limiter{wasm.Unlimited(), wasm.Metered(), wasm.ContextDone()} {
		m, err := open(t, wasm.Options{Limiter: limiter}).Compile(t.Context(), "vllm", bin, wasm.Limits{CallTimeout: 10 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		for _, data := range []string{chunk, "[DONE]", "{", `{"choices":[]}`, `{"error":{"message":"oh dear"}}`, chunk[:len(chunk)/2] + strings.Repeat("é", 20_000)} {
			got, err := m.Call(t.Context(), decode, abi.AppendDecodeInput(nil, nil, 0, []abi.Event{{Data: []byte(data)}}), nil)
			answer := fmt.Sprintf("%x, %v", got, err)
			if limiter == wasm.Unlimited() {
				want[data] = answer
			} else if answer != want[data] {
				t.Errorf("%s: decode of %.40q = %s, want %s", limiter, data, answer, want[data])
			}
		}
		if s := m.Stats(); s.Limiter != limiter.String() || len(s.Faults) > 0 {
			t.Errorf("Stats = %+v, want no fault under %s", s, limiter)
		}
	}
}

// BenchmarkRewrite measures what metering a real plugin costs once, when it is
// loaded.
func BenchmarkRewrite(b *testing.B) {
	bin := goPlugin(b)
	for b.Loop() {
		out, _, err := meter.Rewrite(bin)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(out))/float64(len(bin)), "growth")
	}
	b.SetBytes(int64(len(bin)))
}

// BenchmarkDecode measures one decode call of a real plugin, written in Go,
// under each limiter.
func BenchmarkDecode(b *testing.B) {
	bin := goPlugin(b)
	in := abi.AppendDecodeInput(nil, nil, 0, []abi.Event{{Data: []byte(chunk)}})
	for _, limiter := range []wasm.Limiter{wasm.Unlimited(), wasm.Metered(), wasm.ContextDone()} {
		b.Run(limiter.String(), func(b *testing.B) {
			m, err := open(b, wasm.Options{Limiter: limiter}).Compile(b.Context(), "vllm", bin, wasm.Limits{CallTimeout: 10 * time.Second})
			if err != nil {
				b.Fatal(err)
			}
			var out []byte
			for range 100 { // to size buffers
				if out, err = m.Call(b.Context(), decode, in, out[:0]); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			before := m.Stats().Fuel
			for b.Loop() {
				if out, err = m.Call(b.Context(), decode, in, out[:0]); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(m.Stats().Fuel-before)/float64(b.N), "fuel/op")
		})
	}
}
