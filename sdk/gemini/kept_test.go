package gemini

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/pattern"
	"github.com/parley-search/parley/sdk/plugintest"
)

// TestKept: of the events that begin and end a stream, those without calls and
// signatures are read in full twice, whatever names, counts and texts they have.
func TestKept(t *testing.T) {
	other := func(s string) string {
		return strings.NewReplacer(`"One"`, `"Zwei\n"`, `"r"`, `"another"`, `"m"`, `"other"`, ": 7", ": 12", ": 3,", ": 400,", "STOP", "STOP").Replace(s)
	}
	const lastEvent = `{"candidates": [{"content": {"parts": [{"text": ""}],"role": "model"},"finishReason": "STOP","index": 0}],"usageMetadata": {"promptTokenCount": 7,"totalTokenCount": 40,"promptTokensDetails": [{"modality": "TEXT","tokenCount": 7}]},"modelVersion": "m","responseId": "r"}`
	for _, tt := range []struct {
		name, first, second string
		kept                bool
	}{
		{"the first", usageEvent, other(usageEvent), true},
		{"the last", lastEvent, other(lastEvent), true},
		{"another finish", lastEvent, strings.Replace(lastEvent, "STOP", "MAX_TOKENS", 1), false},
		{"thoughts", thoughtEvent, other(thoughtEvent), true},
		{"a signature", signedEvent, signedEvent, false},
		{"a call", callEvent, callEvent, false},
		{"a name that is none", strings.Replace(usageEvent, `"r"`, "5", 1), strings.Replace(usageEvent, `"r"`, "5", 1), false},
		{"a bad call", `{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}`, `{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}`, false},
		{"a prompt that is blocked", `{"promptFeedback":{"blockReason":"SAFETY"}}`, `{"promptFeedback":{"blockReason":"SAFETY"}}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := &Provider{}
			for range 2 { // the first of its form is not kept
				if err := plugintest.New(p).Stream().Decode(0, abi.Event{Data: []byte(tt.first)}); err != nil {
					t.Fatal(err)
				}
			}
			var r pattern.Reading
			if got := p.kept.Match([]byte(tt.second), &r); got != tt.kept {
				t.Errorf("%s fits: %v, want %v", tt.second, got, tt.kept)
			}
			// A new instance makes the same of it.
			end := abi.Event{Data: []byte(finishedEvent)}
			got, want := comesTo(t, p, tt.second, end), comesTo(t, &Provider{}, tt.second, end)
			if got != want {
				t.Errorf("recalled it comes to %s, read to %s", got, want)
			}
		})
	}
}

// comesTo returns what a stream of two events comes to, as text.
func comesTo(t *testing.T, p *Provider, event string, end abi.Event) string {
	t.Helper()
	s := plugintest.New(p).Stream()
	if err := s.Decode(0, abi.Event{Data: []byte(event)}); err != nil {
		t.Fatal(err)
	}
	if err := s.Decode(abi.FlagLast, end); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(s.Aggregate)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
