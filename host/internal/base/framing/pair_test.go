package framing

import (
	"slices"
	"testing"

	"github.com/parley-search/parley/abi"
)

// TestPair: a character whose halves came in two events is in the later one, whole.
func TestPair(t *testing.T) {
	for _, tt := range []struct {
		name     string
		in, want []string
	}{
		{"two events", []string{`{"t":"a\ud83d"}`, `{"t":"\ude00b"}`}, []string{`{"t":"a"}`, `{"t":"\ud83d\ude00b"}`}},
		{"upper case", []string{`{"t":"\uD83D"}`, `{"t":"\uDE00"}`}, []string{`{"t":""}`, `{"t":"\uD83D\uDE00"}`}},
		{"another event between", []string{`{"t":"\ud83d"}`, `{"type":"ping"}`, `{"t":"\ude00"}`}, []string{`{"t":""}`, `{"type":"ping"}`, `{"t":"\ud83d\ude00"}`}},
		{"three in a row", []string{`{"t":"\ud83d"}`, `{"t":"\ude00\ud83d"}`, `{"t":"\ude01"}`}, []string{`{"t":""}`, `{"t":"\ud83d\ude00"}`, `{"t":"\ud83d\ude01"}`}},
		{"twice in an event", []string{`{"t":"\ud83d","d":["\ud83d"]}`, `{"t":"\ude00\ud83d","d":["\ude00\ud83d"]}`, `{"t":"\ude00","d":["\ude00"]}`}, []string{`{"t":"","d":[""]}`, `{"t":"\ud83d\ude00","d":["\ud83d\ude00"]}`, `{"t":"\ud83d\ude00","d":["\ud83d\ude00"]}`}},
		{"whole ones", []string{`{"t":"\ud83d\ude00"}`, `{"t":"\n\ud83d\ude00 \\ud83d"}`}, []string{`{"t":"\ud83d\ude00"}`, `{"t":"\n\ud83d\ude00 \\ud83d"}`}},
		{"no second half", []string{`{"t":"a\ud83d"}`, `{"t":"\u00e9"}`}, []string{`{"t":"a"}`, `{"t":"\u00e9"}`}},
		{"no first half", []string{`{"t":"\ude00"}`, `{"t":"\"\ude00"}`}, []string{`{"t":"\ude00"}`, `{"t":"\"\ude00"}`}},
		{"no JSON", []string{`\ude00`, `\ud83d"`, `\ude00"`, `\`}, []string{`\ude00`, `"`, `\ude00"`, `\`}},
	} {
		in, aws := "", ""
		var want, wantAWS []event
		for i, data := range tt.in {
			in += "data: " + data + "\n\n"
			aws += awsMessage(data, ":event-type", "delta", ":message-type", "event")
			want, wantAWS = append(want, event{"", tt.want[i]}), append(wantAWS, event{"delta", tt.want[i]})
		}
		for _, n := range []int{1, 7, len(in)} {
			if got, err := cut(Options{Framing: abi.FramingSSE}, bytewise(in, n)...); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s by %d bytes: %q, %v; want %q", tt.name, n, got, err, want)
			}
		}
		if got, err := cut(Options{Framing: abi.FramingAWSEventStream}, aws); err != nil || !slices.Equal(got, wantAWS) {
			t.Errorf("%s in AWS's form: %q, %v; want %q", tt.name, got, err, wantAWS)
		}
	}
}
