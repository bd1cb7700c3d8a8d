package plugintest

import (
	"bytes"
	"slices"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/response"
)

// RunBad breaks each stream of the cases of a folder in all the ways that
// networks and servers do, and checks that the result is still a stream: one
// finish or one error, and nothing that no stream may do. A stream of up to 32
// events is broken at each of them, a longer one at 32, its first ones among them. own
// are further events, by a name for each, for a provider whose events are not
// of OpenAI's shape: those with wrong types, calls without anything, a finish
// that is made up, and so on.
func RunBad(t *testing.T, d *Driver, dir string, own map[string]abi.Event) {
	t.Helper()
	cases, err := response.ReadCases(dir)
	if err != nil {
		t.Fatal(err)
	}
	long := append(append([]byte(`{"choices":[{"index":0,"delta":{"content":"`), bytes.Repeat([]byte("long "), 16<<20/5)...), `"}}]}`...)
	bad := map[string][]abi.Event{
		"cut off":                nil,
		"not JSON":               {{Data: []byte("\x00garbage")}},
		"half an event":          {{Data: []byte(`{"choices":[{"delta":{"content":"x`)}},
		"a web page":             {{Data: []byte("<html></html>")}},
		"another type":           {{Type: "ping", Data: []byte(`{"type":"ping"}`)}},
		"an error":               {{Type: "error", Data: []byte(`{"error":{"message":"m"}}`)}},
		"a list":                 {{Data: []byte(`[1,2]`)}},
		"wrong types":            {{Data: []byte(`{"id":1,"choices":[{"delta":{"content":5,"tool_calls":{"a":1}},"finish_reason":[]}],"usage":"x"}`)}},
		"calls without anything": {{Data: []byte(`{"choices":[{"delta":{"tool_calls":[{},{"function":{}},{"id":""}]}}]}`)}},
		"a call without a name":  {{Data: []byte(`{"choices":[{"delta":{"tool_calls":[{"index":7,"function":{"arguments":"{}"}}]}}]}`)}},
		"a finish and another":   {{Data: []byte(`{"choices":[{"delta":{},"finish_reason":"made_up"}]}`)}, {Data: []byte(`{"choices":[{"delta":{},"finish_reason":"length"}]}`)}},
		"a line of 16 MiB":       {{Data: long}},
	}
	for name, e := range own {
		bad[name] = []abi.Event{e, e} // the second one must find the stream in order, too
	}
	heavy := false
	for _, c := range cases {
		if c.Kind != "stream" {
			continue
		}
		events := Frame(c.Body)
		for name, insert := range bad {
			for _, at := range breakPlaces(len(events)) {
				if name == "a line of 16 MiB" {
					if heavy || at == 0 {
						continue // once is enough
					}
					heavy = true
				}
				rest := events[at:]
				if insert == nil {
					rest = nil
				}
				s := d.Stream()
				if err := s.Decode(abi.FlagLast, slices.Concat(events[:at], insert, rest)...); err != nil {
					t.Errorf("%s, %s at %d: %v", c.Name, name, at, err)
					continue
				}
				if len(s.Broken) > 0 {
					t.Errorf("%s, %s at %d: finish %v, error %v: %q", c.Name, name, at, s.FinishReason, s.Error, s.Broken)
				}
			}
		}
	}
}

// breakPlaces returns where a stream of n events is broken: before each of the first
// events, at some places of the rest, and at its end.
func breakPlaces(n int) (places []int) {
	const first, rest = 16, 16
	for at := range min(n, first) {
		places = append(places, at)
	}
	step := max(1, (n-first+rest-1)/rest)
	for at := first; at < n; at += step {
		places = append(places, at)
	}
	return append(places, n)
}
