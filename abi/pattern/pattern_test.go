package pattern

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
)

// told returns the payload of a pattern, as a guest writes it.
func told(t testing.TB, p *abi.Pattern) []byte {
	t.Helper()
	r, rest, ok, err := abi.NextRecord(abi.AppendPattern(nil, p))
	if err != nil || !ok || len(rest) > 0 || r.Kind != abi.RecordPattern {
		t.Fatalf("record %v %v, %d bytes behind it, %v", r.Kind, ok, len(rest), err)
	}
	return r.Payload
}

func text(before, tail string) *abi.Pattern {
	return &abi.Pattern{Kind: abi.RecordText, Holes: []abi.Hole{{What: abi.HoleText, Before: []byte(before)}}, Tail: []byte(tail)}
}

func TestMatch(t *testing.T) {
	full := &abi.Pattern{Kind: abi.RecordText, Report: true, Holes: []abi.Hole{
		{What: abi.HoleNumber, Before: []byte(`{"at":`)},
		{What: abi.HoleText, Before: []byte(`,"text":"`)},
		{What: abi.HoleString, Before: []byte(`","pad":"`)},
		{What: abi.HoleCount, Before: []byte(`","n":`)},
		{What: abi.HoleSpaces},
	}, Tail: []byte(`}`)}
	typed := text(`{"t":"`, `"}`)
	typed.Type = []byte("delta")
	plain := text(`{"t":"`, `"}`)
	long := strings.Repeat("x", maxEvent)
	tests := []struct {
		name, typ, data, want string
		pattern               *abi.Pattern
		ok                    bool
	}{
		{"text", "", `{"t":"one"}`, "one", plain, true},
		{"no text", "", `{"t":""}`, "", plain, true},
		{"escapes", "", `{"t":"\"\\\u00e9\ud83d\ude00\n"}`, "\"\\é😀\n", plain, true},
		{"half a pair", "", `{"t":"\ud83d"}`, "\ufffd", plain, true},
		{"a wrong escape", "", `{"t":"\x"}`, "", plain, false},
		{"a quote that is escaped", "", `{"t":"a\"}`, "", plain, false},
		{"a quote behind two slashes", "", `{"t":"a\\"}`, `a\`, plain, true},
		{"not UTF-8", "", "{\"t\":\"\xff\"}", "", plain, false},
		{"long", "", `{"t":"` + long[8:] + `"}`, long[8:], plain, true},
		{"too long", "", `{"t":"` + long + `"}`, "", plain, false},
		{"another literal", "", `{"u":"one"}`, "", plain, false},
		{"another tail", "", `{"t":"one"]`, "", plain, false},
		{"more in between", "", `{"t":"one","u":"two"}`, "", plain, false},
		{"literals that overlap", "", `{"t":"}`, "", plain, false},
		{"nothing", "", "", "", plain, false},
		{"a type too much", "delta", `{"t":"one"}`, "", plain, false},
		{"its type", "delta", `{"t":"one"}`, "one", typed, true},
		{"a type missing", "", `{"t":"one"}`, "", typed, false},
		{"all holes", "", `{"at":12,"text":"one","pad":"\"","n":7  }`, "one", full, true},
		{"a zero in front", "", `{"at":012,"text":"one","pad":"","n":7}`, "", full, false},
		{"no number", "", `{"at":,"text":"one","pad":"","n":7}`, "", full, false},
		{"a count of none", "", `{"at":1,"text":"one","pad":"","n":0}`, "", full, false},
		{"a number of 19 digits", "", `{"at":1000000000000000000,"text":"one","pad":"","n":7}`, "", full, false},
		{"a fraction", "", `{"at":1.5,"text":"one","pad":"","n":7}`, "", full, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var m Matcher
			if err := m.learn(told(t, tt.pattern)); err != nil {
				t.Fatal(err)
			}
			events := []abi.Event{{Type: tt.typ, Data: []byte(tt.data)}}
			records, rest := m.AppendRecords(nil, events)
			if got := len(rest) == 0; got != tt.ok {
				t.Fatalf("matched: %v, want %v", got, tt.ok)
			}
			want := []byte(nil)
			if tt.want != "" {
				want = abi.AppendRecord(nil, abi.RecordText, tt.want)
			}
			if !bytes.Equal(records, want) {
				t.Errorf("records %q, want %q", records, want)
			}
		})
	}
}

// TestReport: the guest is told how much was matched, and the last counts.
func TestReport(t *testing.T) {
	var m Matcher
	err := m.learn(told(t, &abi.Pattern{Kind: abi.RecordReasoning, Report: true, Holes: []abi.Hole{
		{What: abi.HoleText, Before: []byte(`["`)}, {What: abi.HoleCount, Before: []byte(`",`)}, {What: abi.HoleCount, Before: []byte(`,`)},
	}, Tail: []byte(`]`)}))
	if err != nil {
		t.Fatal(err)
	}
	if e, ok := m.report(); ok {
		t.Errorf("report %q before anything was matched", e.Data)
	}
	var events []abi.Event
	for _, data := range []string{`["ab",1,2]`, `["",1,3]`, `["é",4,5]`, `["x",0,6]`, `["y",7,8]`} {
		events = append(events, abi.Event{Data: []byte(data)})
	}
	records, rest := m.AppendRecords([]byte("before"), events)
	if want := abi.AppendRecord(abi.AppendRecord([]byte("before"), abi.RecordReasoning, "ab"), abi.RecordReasoning, "é"); !bytes.Equal(records, want) || len(rest) != 2 {
		t.Errorf("records %q, want %q; %d events left, want 2", records, want, len(rest))
	}
	e, ok := m.report()
	if want := abi.AppendMatched(nil, 3, 4, []uint64{4, 5}); !ok || e.Type != abi.EventMatched || !bytes.Equal(e.Data, want) {
		t.Errorf("report %v %q %x, want %q %x", ok, e.Type, e.Data, abi.EventMatched, want)
	}
	m.forget()
	if _, rest := m.AppendRecords(nil, events); len(rest) != len(events) {
		t.Error("a pattern that was given up matches")
	}
	if _, ok := m.report(); ok {
		t.Error("there is a report of a pattern that was given up")
	}
}

func TestArguments(t *testing.T) {
	var m Matcher
	p := text(`{"t":"`, `"}`)
	p.Kind, p.Index = abi.RecordToolArguments, 3
	if err := m.learn(told(t, p)); err != nil {
		t.Fatal(err)
	}
	records, _ := m.AppendRecords(nil, []abi.Event{{Data: []byte(`{"t":"{\"a\""}`)}})
	if want := abi.AppendToolArguments(nil, 3, `{"a"`); !bytes.Equal(records, want) {
		t.Errorf("records %q, want %q", records, want)
	}
}

// TestLearnFrom: the pattern stands anywhere among the records of a call, and a call
// without one leaves none behind BeginCall.
func TestLearnFrom(t *testing.T) {
	records := abi.AppendRecord(nil, abi.RecordText, "a")
	records = append(records, abi.AppendPattern(nil, text(`{"t":"`, `"}`))...)
	records = abi.AppendRecord(records, abi.RecordText, "b")
	event := []abi.Event{{Data: []byte(`{"t":"a"}`)}}
	var m Matcher
	if told, err := m.LearnFrom(records); !told || err != nil {
		t.Fatalf("told %v, %v", told, err)
	}
	if _, rest := m.AppendRecords(nil, event); len(rest) > 0 {
		t.Error("the pattern does not match")
	}
	if rest := m.BeginCall(event); len(rest) != 1 {
		t.Errorf("%d events for the call, want 1 without a report", len(rest))
	}
	if told, err := m.LearnFrom(records[:9]); told || err != nil {
		t.Errorf("of a text alone: told %v, %v", told, err)
	}
	if _, rest := m.AppendRecords(nil, event); len(rest) == 0 {
		t.Error("the pattern of the call before still matches")
	}
}

// TestLearnBad: what is no pattern is refused, and none is left.
func TestLearnBad(t *testing.T) {
	good := told(t, text(`{"t":"`, `"}`))
	change := func(at int, to byte) []byte { b := slices.Clone(good); b[at] = to; return b }
	two := text(`{"t":"`, `"}`)
	two.Holes = append(two.Holes, abi.Hole{What: abi.HoleText, Before: []byte(`","u":"`)})
	for name, payload := range map[string][]byte{
		"nothing":               nil,
		"cut off":               good[:len(good)-9],
		"a kind without text":   change(0, byte(abi.RecordFinish)),
		"more holes than it is": change(1, 2),
		"holes beyond":          change(1, abi.MaxHoles+1),
		"a type beyond":         change(8, 200),
		"a hole of no kind":     change(12, 9),
		"no text":               change(12, byte(abi.HoleString)),
		"two texts":             told(t, two),
		"no quote before":       told(t, text(`{"t":`, `"}`)),
		"no quote behind":       told(t, text(`{"t":"`, `}`)),
		"too long":              told(t, text(`{"t":"`, `"`+strings.Repeat("x", abi.MaxPattern)+`}`)),
	} {
		t.Run(name, func(t *testing.T) {
			var m Matcher
			if err := m.learn(good); err != nil {
				t.Fatal(err)
			}
			if err := m.learn(payload); !errors.Is(err, abi.ErrMalformed) {
				t.Fatalf("error %v, want %v", err, abi.ErrMalformed)
			}
			if _, rest := m.AppendRecords(nil, []abi.Event{{Data: []byte(`{"t":"a"}`)}}); len(rest) == 0 {
				t.Error("the pattern before it still matches")
			}
		})
	}
}

// FuzzMatch: no payload and no event make it panic, and what matches a JSON pattern
// is JSON with that text.
func FuzzMatch(f *testing.F) {
	f.Add([]byte(nil), `{"t":"one"}`)
	f.Add(told(f, text(`{"t":"`, `"}`)), `{"t":"\""}`)
	f.Fuzz(func(t *testing.T, payload []byte, data string) {
		var any, plain Matcher
		if any.learn(payload) == nil {
			any.AppendRecords(nil, []abi.Event{{Data: []byte(data)}})
			any.report()
		}
		if err := plain.learn(told(t, text(`{"t":"`, `"}`))); err != nil {
			t.Fatal(err)
		}
		records, rest := plain.AppendRecords(nil, []abi.Event{{Data: []byte(data)}})
		if len(rest) > 0 || strings.ContainsFunc(data, func(r rune) bool { return r < ' ' }) {
			return // a guest's own scan takes control characters as they are, too
		}
		var v struct{ T string }
		if err := json.Unmarshal([]byte(data), &v); err != nil {
			t.Fatalf("%q matched, and is not JSON: %v", data, err)
		}
		want := []byte(nil)
		if v.T != "" {
			want = abi.AppendRecord(nil, abi.RecordText, v.T)
		}
		if !bytes.Equal(records, want) {
			t.Errorf("%q makes %q, want %q", data, records, want)
		}
	})
}

// BenchmarkMatch is an event of OpenAI's form.
func BenchmarkMatch(b *testing.B) {
	const head = `{"id":"chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz012","object":"chat.completion.chunk","created":1760000000,"model":"gpt-4.1-mini-2025-04-14","service_tier":"default","system_fingerprint":"fp_0123456789","choices":[{"index":0,"delta":{"content":"`
	const tail = `"},"logprobs":null,"finish_reason":null}],"usage":null}`
	var m Matcher
	if err := m.learn(told(b, text(head, tail))); err != nil {
		b.Fatal(err)
	}
	events := []abi.Event{{Data: []byte(head + " word" + tail)}}
	var records []byte
	b.SetBytes(int64(len(events[0].Data)))
	b.ReportAllocs()
	for b.Loop() {
		var rest []abi.Event
		if records, rest = m.AppendRecords(records[:0], events); len(rest) > 0 {
			b.Fatal("no match")
		}
	}
}
