package e2e

import (
	"slices"
	"testing"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin/provider"
	"github.com/parley-search/parley/sdk/plugintest"
)

// BenchmarkDecodeRecorded is what an event of a real stream costs in each
// provider's built module, one decode call an event, every stream with a state
// of its own from its first event to its last. One turn is all recordings of
// the source; where they are not at hand it is skipped. In "strict" each event is
// another answer's, which has the instance reset for it.
func BenchmarkDecodeRecorded(b *testing.B) {
	for _, p := range []struct{ name, source string }{
		{"openai", "openAi"},
		{"azureopenai", "azureOpenAi"},
		{"vllm", "vLlm"},
		{"mistral", "mistral"},
		{"gemini", "gemini"},
		{"anthropic", "anthropic"},
	} {
		b.Run(p.name, func(b *testing.B) {
			cases, err := plugintest.ReadCorpus(p.source)
			if err != nil {
				b.Skip("no recordings of providers: CORPUS names their folder, ../shared/corpus unless it is set")
			}
			var streams [][]abi.Event
			for _, c := range cases {
				if c.Kind != "stream" {
					continue
				}
				events := plugintest.Frame(c.Body)
				streams = append(streams, events)
			}
			r := replayerOf(b, p.name, p.source)
			b.Run("answer", func(b *testing.B) { benchRecorded(b, r.Answer(), streams) })
			r.Strict = true
			b.Run("strict", func(b *testing.B) { benchRecorded(b, r.Answer(), streams) })
		})
	}
}

// benchRecorded decodes streams in turns, an event a call.
func benchRecorded(b *testing.B, source provider.Source, streams [][]abi.Event) {
	var took []time.Duration
	bytes, count := 0, 0
	var in, out, state []byte
	for b.Loop() {
		for _, events := range streams {
			state = state[:0]
			for i := range events {
				bytes, count = bytes+len(events[i].Data), count+1
				in = abi.AppendDecodeInput(in[:0], state, flagsAt(i, len(events)), events[i:i+1])
				begin := time.Now()
				var err error
				out, err = source.Decode(b.Context(), in, out[:0])
				took = append(took, time.Since(begin))
				if err != nil {
					b.Fatal(err)
				}
				next, _, err := abi.DecodeOutput(out)
				if err != nil {
					b.Fatal(err)
				}
				state = append(state[:0], next...)
			}
		}
	}
	slices.Sort(took)
	at := func(q float64) float64 { return float64(took[int(q*float64(len(took)-1))].Nanoseconds()) }
	b.ReportMetric(at(0.5), "ns/event-p50")
	b.ReportMetric(at(0.99), "ns/event-p99")
	b.ReportMetric(float64(bytes)/float64(count), "B/event")
	b.ReportMetric(0, "ns/op") // a turn is as long as the recordings are
}

func flagsAt(i, n int) (flags byte) {
	if i == 0 {
		flags |= abi.FlagFirst
	}
	if i == n-1 {
		flags |= abi.FlagLast
	}
	return flags
}
