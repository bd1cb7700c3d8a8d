package openai

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/plugintest"
)

const wordEvent = `{"id":"a","created":17,"model":"m","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}`

// TestPattern: the host is told of the events that differ in one string, and of no
// others.
func TestPattern(t *testing.T) {
	change := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(wordEvent) }
	const call = `{"id":"a","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{"}}]}}]}`
	const arguments = `{"id":"a","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}}]}`
	padded := func(text, padding string) string { return change("Hi", text, "}]}", `}],"p":"`+padding+`"}`) }
	for _, tt := range []struct {
		name    string
		events  []string
		matched int
	}{
		{"text", []string{wordEvent, change("Hi", " there"), change("Hi", ""), change("Hi", `\"\u00e9`)}, 3},
		{"reasoning", []string{change("content", "reasoning"), change("content", "reasoning", "Hi", "Ho")}, 1},
		{"padding", []string{padded("a", "xyz"), padded("b", ""), padded("c", `\"`)}, 2},
		{"arguments", []string{call, arguments, arguments, arguments}, 2},
		{"another time", []string{wordEvent, change("17", "18"), change("17", "18")}, 1},
		{"a finish between", []string{wordEvent, wordEvent, change("null", `"stop"`), wordEvent, wordEvent}, 2},
		{"not UTF-8", []string{wordEvent, change("Hi", "\xff"), wordEvent}, 1},
		{"the end", []string{wordEvent, change("null", `"stop"`), "[DONE]", wordEvent, wordEvent}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var events, typed []abi.Event
			for _, data := range tt.events {
				events = append(events, abi.Event{Data: []byte(data)})
				typed = append(typed, abi.Event{Type: "chunk", Data: []byte(data)})
			}
			d := plugintest.New(&plain{})
			plugintest.RunPatterns(t, d, tt.matched, events...)
			plugintest.RunPatterns(t, d, 0, typed...)
		})
	}
}

func TestPatternsAlike(t *testing.T) {
	var events []abi.Event
	for _, data := range []string{
		wordEvent,
		`{"id":"a","created":17,"model":"m","choices":[{"index":0,"delta":{"content":"Hi"}}],"p":"xy"}`,
		`{"id":"a","model":"m","choices":[{"index":0,"delta":{"reasoning_content":"Hm"}}]}`,
		`{"id":"a","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{"}}]}}]}`,
		`{"id":"a","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}}]}`,
		`{"id":"a","model":"m","service_tier":"flex","choices":[{"delta":{"content":"Hi"}}]}`,
	} {
		events = append(events, abi.Event{Data: []byte(data)})
	}
	end := []abi.Event{{Data: []byte(`{"id":"a","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`)}, {Data: []byte("[DONE]")}}
	plugintest.RunAlike(t, plugintest.New(&plain{}), plugintest.New(&plain{Decoder: Decoder{full: true}}), nil, events, end)
}
