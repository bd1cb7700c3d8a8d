package main

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/provider"
)

func delta(typ, key, text, padding string) abi.Event {
	return abi.Event{
		Type: "content_block_delta",
		Data: []byte(`{"type":"content_block_delta","index":0,"delta":{"type":"` + typ + `","` + key + `":"` + text + `"}` + padding + `}`),
	}
}

func BenchmarkDecode(b *testing.B) {
	thinking := abi.Event{Data: []byte(thinkingStart)}
	for _, bb := range []struct {
		name  string
		start abi.Event
		a, b  abi.Event
	}{
		{"text", abi.Event{}, delta("text_delta", "text", " hello", ""), delta("text_delta", "text", " world and all", "             ")},
		{"with escapes", abi.Event{}, delta("text_delta", "text", ` he\nllo`, ""), delta("text_delta", "text", ` \"world`, "")},
		{"thinking that is carried", thinking, delta("thinking_delta", "thinking", " hello", ""), delta("thinking_delta", "thinking", " world", "")},
		{"unlike the one before", abi.Event{}, delta("text_delta", "text", " hello", ""), delta("thinking_delta", "thinking", " world", "")},
		{"4 KiB of text", abi.Event{}, delta("text_delta", "text", strings.Repeat("word ", 800), ""), delta("text_delta", "text", strings.Repeat("text ", 800), "")},
	} {
		b.Run(bb.name, func(b *testing.B) {
			g := provider.NewGuest(&anthropic{})
			events := []abi.Event{bb.start, bb.a, bb.b}
			var in, state []byte
			call := func(i int) {
				in = abi.AppendDecodeInput(in[:0], state, 0, events[i:i+1])
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
			if len(bb.start.Data) == 0 {
				events[0].Data = []byte(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`)
			}
			call(0)
			b.SetBytes(int64(len(bb.a.Data)))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				call(1 + i%2)
			}
		})
	}
}
