package openai

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/provider"
)

// event is an event of about 300 bytes, as OpenAI sends them.
func event(created, text string) abi.Event {
	return abi.Event{Data: []byte(`{"id":"chatcmpl-AbCdEfGhIjKlMnOpQrStUvWx","object":"chat.completion.chunk","created":` + created +
		`,"model":"gpt-4o-mini-2024-07-18","service_tier":"default","system_fingerprint":"fp_1234567890","choices":[{"index":0,"delta":{"content":"` + text +
		`"},"logprobs":null,"finish_reason":null}],"usage":null}`)}
}

func BenchmarkDecode(b *testing.B) {
	for _, bb := range []struct {
		name string
		a, b abi.Event
		full bool
	}{
		{"like the one before", event("1755878837", " hello"), event("1755878837", " world!"), false},
		{"with escapes", event("1755878837", ` he\nllo`), event("1755878837", ` \"world!`), false},
		{"unlike the one before", event("1755878837", " hello"), event("1755878838", " world!"), false},
		{"read in full", event("1755878837", " hello"), event("1755878838", " world!"), true},
		{"4 KiB of text", event("1755878837", strings.Repeat("word ", 800)), event("1755878837", strings.Repeat("text ", 800)), false},
	} {
		b.Run(bb.name, func(b *testing.B) {
			g := provider.NewGuest(&plain{Decoder: Decoder{full: bb.full}})
			events := []abi.Event{bb.a, bb.b}
			var in, state []byte
			b.SetBytes(int64(len(bb.a.Data)))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				in = abi.AppendDecodeInput(in[:0], state, 0, events[i%2:i%2+1])
				out, err := g.Decode(in)
				if err != nil {
					b.Fatal(err)
				}
				next, _, err := abi.DecodeOutput(out)
				if err != nil {
					b.Fatal(err)
				}
				state = append(state[:0], next...)
			}
		})
	}
}
