package gemini

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/pattern"
	"github.com/parley-search/parley/sdk/plugintest"
	"github.com/parley-search/parley/sdk/provider"
)

// plain is the provider without patterns: each event is read in full.
type plain struct{ Provider }

func (p *plain) Decode(s *state, e provider.Event, out *provider.Out) error {
	if s.Pattern.Known() {
		out.Memo = s.forget(out)
	}
	return p.Provider.Decode(s, e, out)
}

// spy is the provider, and sees whether the last event fitted the pattern.
type spy struct {
	Provider
	fitted bool
}

func (p *spy) Decode(s *state, e provider.Event, out *provider.Out) error {
	if !e.End {
		var r pattern.Reading
		p.fitted = s.Pattern.Match(out.Memo[int(s.Calls)*idSize:], e.Data, &r)
	}
	return p.Provider.Decode(s, e, out)
}

const (
	usageEvent    = `{"candidates": [{"content": {"parts": [{"text": "One"}],"role": "model"},"index": 0}],"usageMetadata": {"promptTokenCount": 7,"candidatesTokenCount": 3,"totalTokenCount": 40,"promptTokensDetails": [{"modality": "TEXT","tokenCount": 7}],"thoughtsTokenCount": 30,"cachedContentTokenCount": 5},"modelVersion": "m","responseId": "r"}`
	bareEvent     = `{"candidates":[{"content":{"role":"model","parts":[{"text":"One"}]}}],"usageMetadata":{"trafficType":"ON_DEMAND"},"modelVersion":"m","createTime":"t"}`
	usageFirst    = `{"usageMetadata":{"totalTokenCount":12,"toolUsePromptTokenCount":4,"promptTokenCount":5},"candidates":[{"content":{"parts":[{"text":"One"},{}]}}]}`
	thoughtEvent  = `{"candidates":[{"content":{"parts":[{"text":"Hm","thought":true}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":7,"thoughtsTokenCount":9,"totalTokenCount":16},"responseId":"r"}`
	signedEvent   = `{"candidates":[{"content":{"parts":[{"text":"end","thoughtSignature":"c2ln"}]}}],"usageMetadata":{"promptTokenCount":1}}`
	callEvent     = `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"q":1}}}]}}]}`
	finishedEvent = `{"candidates":[{"content":{"parts":[{"text":"."}]},"finishReason":"STOP"}]}`
)

// prettyEvent is one of those of a list, which are written on many lines.
const prettyEvent = "{\n  \"candidates\": [\n    {\n      \"content\": {\n        \"parts\": [\n          {\n            \"text\": \"One\"\n          }\n        ]\n      },\n      \"index\": 0\n    }\n  ],\n" +
	"  \"usageMetadata\": {\n    \"promptTokenCount\": 7,\n    \"totalTokenCount\": 8\n  },\n  \"responseId\": \"r\"\n}"

func TestPattern(t *testing.T) {
	replace := func(s string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(s) }
	tests := []struct {
		name          string
		first, second string
		fits          bool
		text          string
		reasoning     string
		usage         provider.Usage
	}{
		{"text", bareEvent, replace(bareEvent, "One", "Two"), true, "OneTwo", "", provider.Usage{}},
		{"text with escapes", bareEvent, replace(bareEvent, "One", `T\"\u00e9\n`), true, "OneT\"é\n", "", provider.Usage{}},
		{"counts", usageEvent, replace(usageEvent, "One", " two", ": 3,", ": 5,", ": 40,", ": 43,", ": 30,", ": 31,"), true, "One two", "", provider.Usage{Prompt: 7, Completion: 36, Reasoning: 31, Cached: 5, Total: 43}},
		{"counts before the text", usageFirst, replace(usageFirst, "12", "0", ":4", ":40", "One", ""), true, "One", "", provider.Usage{Prompt: 45, Total: 45}},
		{"counts of nothing", usageFirst, replace(usageFirst, "12", "0", ":4", ":0", ":5", ":0"), true, "OneOne", "", provider.Usage{Prompt: 9, Total: 12}},
		{"thoughts", thoughtEvent, replace(thoughtEvent, "Hm", ", so", ":9", ":11", "16", "18"), true, "", "Hm, so", provider.Usage{Prompt: 7, Completion: 11, Reasoning: 11, Total: 18}},
		{"many lines", prettyEvent, replace(prettyEvent, "One", "\n", ": 8", ": 9"), true, "One\n", "", provider.Usage{Prompt: 7, Total: 9}},
		{"text after thoughts", thoughtEvent, replace(thoughtEvent, `,"thought":true`, ""), false, "Hm", "Hm", provider.Usage{Prompt: 7, Completion: 9, Reasoning: 9, Total: 16}},
		{"a count below zero", usageEvent, replace(usageEvent, ": 40,", ": -1,"), false, "OneOne", "", provider.Usage{Prompt: 7, Completion: 33, Reasoning: 30, Cached: 5, Total: 40}},
		{"a count with a fraction", usageEvent, replace(usageEvent, ": 40,", ": 41.0,"), false, "OneOne", "", provider.Usage{Prompt: 7, Completion: 33, Reasoning: 30, Cached: 5, Total: 41}},
		{"a count with an exponent", usageEvent, replace(usageEvent, ": 40,", ": 4e2,"), false, "OneOne", "", provider.Usage{Prompt: 7, Completion: 33, Reasoning: 30, Cached: 5, Total: 400}},
		{"a count as text", usageEvent, replace(usageEvent, ": 40,", `: "44",`), false, "OneOne", "", provider.Usage{Prompt: 7, Completion: 33, Reasoning: 30, Cached: 5, Total: 44}},
		{"counts twice", replace(usageFirst, `,"candidates"`, `,"usageMetadata":{"totalTokenCount":2},"candidates"`), replace(usageFirst, `,"candidates"`, `,"usageMetadata":{"totalTokenCount":3},"candidates"`), false, "OneOne", "", provider.Usage{Total: 3}},
		{"a signature", signedEvent, signedEvent, false, "endend", "", provider.Usage{Prompt: 1, Total: 1}},
		{"two texts", replace(bareEvent, `]}}]`, `,{"text":"b"}]}}]`), replace(bareEvent, "One", "Two", `]}}]`, `,{"text":"c"}]}}]`), true, "OnebTwoc", "", provider.Usage{}},
		{"a finish reason", finishedEvent, finishedEvent, false, "..", "", provider.Usage{}},
		{"one more member", bareEvent, replace(bareEvent, `"role"`, `"index":1,"role"`), false, "OneOne", "", provider.Usage{}},
		{"another answer", replace(bareEvent, `{"content"`, `{"index":1,"content"`), replace(bareEvent, `{"content"`, `{"index":1,"content"`, "One", "Two"), false, "", "", provider.Usage{}},
		{"too long", replace(bareEvent, "ON_DEMAND", strings.Repeat("x", pattern.MaxLiterals)), replace(bareEvent, "ON_DEMAND", strings.Repeat("x", pattern.MaxLiterals)), false, "OneOne", "", provider.Usage{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &spy{}
			s := plugintest.New(p).Stream()
			for _, data := range []string{tt.first, tt.second} {
				if err := s.Decode(0, abi.Event{Data: []byte(data)}); err != nil {
					t.Fatal(err)
				}
			}
			if p.fitted != tt.fits {
				t.Errorf("the second event fits: %v, want %v", p.fitted, tt.fits)
			}
			if err := s.Decode(abi.FlagLast); err != nil {
				t.Fatal(err)
			}
			var usage provider.Usage
			if s.Usage != nil {
				usage = *s.Usage
			}
			if s.Text != tt.text || s.Reasoning != tt.reasoning || usage != tt.usage {
				t.Errorf("got text %q, reasoning %q, usage %+v; want %q, %q, %+v", s.Text, s.Reasoning, usage, tt.text, tt.reasoning, tt.usage)
			}
		})
	}
}

// TestPatternAndCalls: a call takes the pattern's place in the memo.
func TestPatternAndCalls(t *testing.T) {
	call := func(id string) string { return strings.Replace(callEvent, `"name"`, `"id":"`+id+`","name"`, 1) }
	s := decoded(t, bareEvent, bareEvent, call("a"), bareEvent, bareEvent, call("a"), call("b"), bareEvent, finishedEvent)
	if s.Text != strings.Repeat("One", 5)+"." || len(s.ToolCalls) != 3 {
		t.Fatalf("text %q, calls %+v", s.Text, s.ToolCalls)
	}
	if a, b, c := s.ToolCalls[0].ID, s.ToolCalls[1].ID, s.ToolCalls[2].ID; a != "a" || !strings.HasPrefix(b, ownID) || c != "b" {
		t.Errorf("ids %q, %q, %q: want a, one made up, b", a, b, c)
	}
}

// TestPatternsAlike: with a signature at its end a stream also tells how much
// text the state counted.
func TestPatternsAlike(t *testing.T) {
	var events []abi.Event
	for _, data := range []string{usageEvent, bareEvent, usageFirst, thoughtEvent, prettyEvent, signedEvent, callEvent} {
		events = append(events, abi.Event{Data: []byte(data)})
	}
	end := []abi.Event{{Data: []byte(signedEvent)}, {Data: []byte(finishedEvent)}}
	plugintest.RunAlike(t, plugintest.New(&Provider{}), plugintest.New(&plain{}), nil, events, end)
}

// TestPatternTold: the host makes the records of texts with their counts, and says
// what it made of.
func TestPatternTold(t *testing.T) {
	replace := func(s string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(s) }
	for _, tt := range []struct {
		name    string
		matched int
		events  []string
	}{
		{"text", 2, []string{bareEvent, replace(bareEvent, "One", "Two"), replace(bareEvent, "One", ""), finishedEvent}},
		{"counts", 2, []string{usageEvent, replace(usageEvent, ": 40,", ": 43,"), replace(usageEvent, ": 40,", ": 47,"), signedEvent, finishedEvent}},
		{"counts at the end", 1, []string{usageEvent, replace(usageEvent, ": 40,", ": 43,")}},
		{"no count", 0, []string{usageFirst, replace(usageFirst, "12", "0")}},
		{"thoughts", 1, []string{thoughtEvent, replace(thoughtEvent, ":9", ":11"), signedEvent, finishedEvent}},
		{"two texts", 0, []string{replace(bareEvent, `]}}]`, `,{"text":"b"}]}}]`), replace(bareEvent, `]}}]`, `,{"text":"b"}]}}]`)}},
		{"calls between", 2, []string{bareEvent, bareEvent, callEvent, bareEvent, bareEvent, finishedEvent}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var events []abi.Event
			for _, data := range tt.events {
				events = append(events, abi.Event{Data: []byte(data)})
			}
			plugintest.RunPatterns(t, plugintest.New(&Provider{}), tt.matched, events...)
		})
	}
}

// TestMatchedBad: a host's word that is not of the pattern changes nothing.
func TestMatchedBad(t *testing.T) {
	s := decoded(t, usageEvent, finishedEvent)
	for _, data := range [][]byte{nil, make([]byte, 15), make([]byte, 16), make([]byte, 20)} {
		stream := plugintest.New(&Provider{}).Stream()
		for _, e := range []abi.Event{{Data: []byte(usageEvent)}, {Type: abi.EventMatched, Data: data}, {Data: []byte(finishedEvent)}} {
			if err := stream.Decode(0, e); err != nil {
				t.Fatal(err)
			}
		}
		if err := stream.Decode(abi.FlagLast); err != nil {
			t.Fatal(err)
		}
		if *stream.Usage != *s.Usage || stream.Text != s.Text {
			t.Errorf("%d bytes: usage %+v, text %q; want %+v, %q", len(data), stream.Usage, stream.Text, s.Usage, s.Text)
		}
	}
}
