package framing

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
)

// delta is an event of the size that providers send.
var delta = `data: {"id":"chatcmpl-9f2","object":"chat.completion.chunk","created":1763700000,"model":"m-1","system_fingerprint":"fp_1","choices":[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"` + strings.Repeat("x", 60) + `"}` + "\n\n"

// BenchmarkSSE frames a stream that comes in network-sized pieces.
func BenchmarkSSE(b *testing.B) {
	const events = 1000
	for _, end := range []struct{ name, text string }{{"LF", "\n"}, {"CRLF", "\r\n"}, {"CR", "\r"}} {
		in := strings.ReplaceAll(strings.Repeat(delta, events), "\n", end.text)
		b.Run(end.name, func(b *testing.B) {
			f := New(Options{Framing: abi.FramingSSE})
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				for rest := in; len(rest) > 0; {
					k := copy(f.Room(), rest[:min(len(rest), 1400)])
					rest = rest[k:]
					got, err := f.Take(k)
					if err != nil {
						b.Fatal(err)
					}
					n += len(got)
				}
			}
			if n != events*b.N {
				b.Fatalf("%d events, want %d", n, events*b.N)
			}
			perEvent(b, n)
		})
	}
}

// BenchmarkJSONArray frames a pretty-printed array.
func BenchmarkJSONArray(b *testing.B) {
	const events = 1000
	value := strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(delta), "data: "), ",", ",\n  ")
	in := "[" + strings.Repeat(value+"\n,\n", events-1) + value + "]\n"
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	n := 0
	f := New(Options{Framing: abi.FramingJSONArray})
	for b.Loop() {
		for rest := in; len(rest) > 0; {
			k := copy(f.Room(), rest[:min(len(rest), 1400)])
			rest = rest[k:]
			got, err := f.Take(k)
			if err != nil {
				b.Fatal(err)
			}
			n += len(got)
		}
	}
	perEvent(b, n)
}

func perEvent(b *testing.B, events int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
}
