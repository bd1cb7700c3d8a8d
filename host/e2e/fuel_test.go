package e2e

import (
	"fmt"
	"testing"

	"github.com/parley-search/parley/abi"
)

// TestFuelOfWord bounds what a word of an answer of 64 costs, the events around
// the words among them, where each comes in a call of its own and nothing is left
// of the answer before. Fuel is the same on every machine.
func TestFuelOfWord(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it compiles plugins")
	}
	const head = `{"id":"chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz012","object":"chat.completion.chunk","created":1760000000,"model":"gpt-4.1-mini-2025-04-14","service_tier":"default","system_fingerprint":"fp_0123456789",`
	for _, tt := range []struct {
		name, plugin, source, more string
		most                       int64
	}{
		{"of a form that the self-test has", "openai", "openAi", "", 90_000},
		{"of a form that it has not", "openai", "openAi", `"seed":1,`, 130_000},
		{"of a form that the self-test has", "vllm", "vLlm", "", 90_000},
	} {
		t.Run(tt.plugin+"/"+tt.name, func(t *testing.T) {
			r := replayerOf(t, tt.plugin, tt.source)
			head := head + tt.more
			events := []string{head + `"choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"usage":null}`}
			const words = 64
			for n := range words {
				events = append(events, fmt.Sprintf(head+`"choices":[{"index":0,"delta":{"content":" word%d"},"logprobs":null,"finish_reason":null}],"usage":null}`, n))
			}
			events = append(events, head+`"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null}`,
				head+`"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`, "[DONE]")
			for range 2 {
				source, before := r.Answer(), r.Fuel()
				var state []byte
				for _, e := range events {
					out, err := source.Decode(t.Context(), abi.AppendDecodeInput(nil, state, 0, []abi.Event{{Data: []byte(e)}}), nil)
					if err != nil {
						t.Fatal(err)
					}
					if state, _, err = abi.DecodeOutput(out); err != nil {
						t.Fatal(err)
					}
				}
				got := (r.Fuel() - before) / words
				t.Logf("%d units of fuel a word", got)
				if got > tt.most {
					t.Errorf("a word spends %d units of fuel, want %d at most", got, tt.most)
				}
			}
		})
	}
}
