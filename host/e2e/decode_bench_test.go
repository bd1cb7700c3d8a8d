//go:build unix

package e2e

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin/provider"
	"github.com/parley-search/parley/host/internal/setup/trial"
)

// BenchmarkDecode is what one event of text costs in each provider's built
// module, through the pool and the meter, state in and state out. "alike"
// differs from the event before in its text alone; "unlike" in a number too,
// so that no provider can go by the one before. "turns" is "alike" where eight
// answers take turns, so that each event is another answer's than the one before
// and the instance is reset between.
func BenchmarkDecode(b *testing.B) {
	openAI := `{"id":"chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz012","object":"chat.completion.chunk","created":%d,"model":"gpt-4.1-mini-2025-04-14","service_tier":"default","system_fingerprint":"fp_0123456789","choices":[{"index":0,"delta":{"content":" word%d"},"logprobs":null,"finish_reason":null}],"usage":null}`
	for _, p := range []struct{ name, source, event string }{
		{"openai", "openAi", openAI},
		{"azureopenai", "azureOpenAi", openAI},
		{"vllm", "vLlm", openAI},
		{"mistral", "mistral", `{"id":"cmpl-e5cc70bb28c444948073e77776eb30ef","object":"chat.completion.chunk","created":%d,"model":"mistral-small-latest","choices":[{"index":0,"delta":{"content":" word%d"},"finish_reason":null,"logprobs":null}]}`},
		{"gemini", "gemini", `{"candidates":[{"content":{"parts":[{"text":" word%[2]d"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":11,"candidatesTokenCount":%[1]d,"totalTokenCount":53,"promptTokensDetails":[{"modality":"TEXT","tokenCount":11}]},"modelVersion":"gemini-2.5-flash","responseId":"abcdefghijklmnopqrstuvwx"}`},
		{"anthropic", "anthropic", `{"type":"content_block_delta","index":%d,"delta":{"type":"text_delta","text":" word%d"}}`},
	} {
		r := replayerOf(b, p.name, p.source)
		b.Run(p.name+"/alike", func(b *testing.B) { benchDecode(b, r, p.source, p.event, 1, false) })
		b.Run(p.name+"/turns", func(b *testing.B) { benchDecode(b, r, p.source, p.event, 8, false) })
		if p.name != "anthropic" { // its events of text hold no other number
			b.Run(p.name+"/unlike", func(b *testing.B) { benchDecode(b, r, p.source, p.event, 1, true) })
		}
	}
}

func benchDecode(b *testing.B, r *trial.Replayer, name, event string, answers int, unlike bool) {
	typ, source := "", r.Answer()
	sources := []provider.Source{source}
	for len(sources) < answers {
		sources = append(sources, r.Answer())
	}
	var state []byte
	if name == "anthropic" {
		typ = "content_block_delta"
		for _, data := range []string{
			`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude","content":[],"stop_reason":null,"usage":{"input_tokens":9,"output_tokens":1}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		} {
			in := abi.AppendDecodeInput(nil, state, 0, []abi.Event{{Data: []byte(data)}})
			out, err := source.Decode(b.Context(), in, nil)
			if err != nil {
				b.Fatal(err)
			}
			if state, _, err = abi.DecodeOutput(out); err != nil {
				b.Fatal(err)
			}
		}
	}
	var inputs [2][]byte // texts of the same length, in turns
	for i := range inputs {
		n := 0
		if name != "anthropic" {
			n = 1760000000
		}
		if unlike {
			n += i
		}
		inputs[i] = fmt.Appendf(nil, event, n, 10+i)
	}
	b.SetBytes(int64(len(inputs[0])))
	b.ReportAllocs()
	var in, out []byte
	events := make([]abi.Event, 1)
	began := processorTime(b)
	for i := 0; b.Loop(); i++ {
		events[0] = abi.Event{Type: typ, Data: inputs[i&1]}
		in = abi.AppendDecodeInput(in[:0], state, 0, events)
		var err error
		if out, err = sources[i%answers].Decode(b.Context(), in, out[:0]); err != nil {
			b.Fatal(err)
		}
		next, records, err := abi.DecodeOutput(out)
		if err != nil || !bytes.Contains(records, []byte("word1")) {
			b.Fatalf("decode: error %v, records %q, want the text", err, records)
		}
		state = append(state[:0], next...)
	}
	b.ReportMetric((processorTime(b)-began).Seconds()*1e6/float64(b.N), "cpu-us/op")
}
