package openai

import (
	"slices"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/provider"
)

// outerOf is what comes of events around the deltas: a record each, and - for
// each text between them.
func outerOf(t *testing.T, full bool, events ...string) []string {
	t.Helper()
	g := provider.NewGuest(&plain{Decoder: Decoder{full: full}})
	var state []byte
	var got []string
	for i, e := range events {
		flags := byte(0)
		if i == 0 {
			flags = abi.FlagFirst
		}
		out, err := g.Decode(abi.AppendDecodeInput(nil, state, flags, []abi.Event{{Data: []byte(e)}}))
		if err != nil {
			t.Fatal(err)
		}
		next, records, err := abi.DecodeOutput(out)
		if err != nil {
			t.Fatal(err)
		}
		state = slices.Clone(next)
		for {
			r, rest, ok, err := abi.NextRecord(records)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			records = rest
			switch r.Kind {
			case abi.RecordOuter:
				got = append(got, string(r.Payload))
			case abi.RecordText:
				got = append(got, "-")
			}
		}
	}
	return got
}

// What servers say around a delta is passed on where it differs from the last,
// and what they say of tokens with each.
func TestOuter(t *testing.T) {
	chunk := func(around, choice, text string) string {
		return `{"id":"a","object":"chat.completion.chunk","created":1,"model":"m"` + around + `,"choices":[{"index":0,"delta":{"content":"` + text + `"}` + choice + `,"finish_reason":null}],"usage":null}`
	}
	logprobs := `,"logprobs":{"content":[{"token":"a"}]}`
	tests := []struct {
		name   string
		events []string
		want   []string
	}{
		{"the same in each", []string{
			chunk(`,"service_tier":"default","system_fingerprint":"fp"`, `,"logprobs":null`, "a"),
			chunk(`,"service_tier":"default","system_fingerprint":"fp"`, `,"logprobs":null`, "b"),
			chunk(`,"service_tier":"default","system_fingerprint":"fp"`, `,"logprobs":null`, "c"),
		}, []string{`{"chunk":{"service_tier":"default","system_fingerprint":"fp"}}`, "-", "-", "-"}},
		{"another one", []string{
			chunk(`,"citations":["a"]`, "", "a"), chunk(`,"citations":["a","b"]`, "", "b"), chunk("", "", "c"), chunk(`,"citations":["a","b"]`, "", "d"),
		}, []string{`{"chunk":{"citations":["a"]}}`, "-", `{"chunk":{"citations":["a","b"]}}`, "-", "-", "-"}},
		{"of tokens, the same twice", []string{chunk("", logprobs, "a"), chunk("", logprobs, "a"), chunk("", "", "b")}, []string{
			`{"choice":{"logprobs":{"content":[{"token":"a"}]}}}`, "-", `{"choice":{"logprobs":{"content":[{"token":"a"}]}}}`, "-", "-",
		}},
		{"of filters and tokens", []string{
			chunk("", `,"content_filter_results":{"hate":{"filtered":false}}`+logprobs, "a"), chunk("", `,"content_filter_results":{"hate":{"filtered":false}}`, "b"),
		}, []string{`{"choice":{"content_filter_results":{"hate":{"filtered":false}},"logprobs":{"content":[{"token":"a"}]}}}`, "-", "-"}},
		{"nothing", []string{chunk("", "", "a"), chunk(`,"system_fingerprint":null`, `,"logprobs":null`, "b")}, []string{"-", "-"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, full := range []bool{true, false} {
				if got := outerOf(t, full, tt.events...); !slices.Equal(got, tt.want) {
					t.Errorf("read in full %t: %q, want %q", full, got, tt.want)
				}
			}
		})
	}
}

// An instance that keeps the events of a stream finds what stands around those of
// the next one as well.
func TestOuterKept(t *testing.T) {
	g := provider.NewGuest(&plain{})
	event := func(id, text string) abi.Event {
		return abi.Event{Data: []byte(`{"id":"` + id + `","model":"m","service_tier":"flex","choices":[{"index":0,"delta":{"content":"` + text + `"}}]}`)}
	}
	for _, id := range []string{"one", "two"} {
		out, err := g.Decode(abi.AppendDecodeInput(nil, nil, abi.FlagFirst, []abi.Event{event(id, "a"), event(id, "b")}))
		if err != nil {
			t.Fatal(err)
		}
		_, records, err := abi.DecodeOutput(out)
		if err != nil {
			t.Fatal(err)
		}
		r, _, _, err := abi.NextRecord(records)
		if err != nil || r.Kind != abi.RecordOuter || string(r.Payload) != `{"chunk":{"service_tier":"flex"}}` {
			t.Errorf("stream %s begins with a record of kind %d, %s; want what stands around its chunks", id, r.Kind, r.Payload)
		}
	}
}
