package plugintest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// Chat returns a chat request such as a client may send and OpenAI's API takes,
// with what a host adds: instructions in odd places, texts that are empty, lists
// of parts, tool calls in parallel with ids of all kinds and answers in any
// order, members of all kinds. The same r gives the same requests.
func Chat(r *rand.Rand, model string) []byte {
	c := chat{r, 0}
	body := object{"model": model, "messages": c.messages(), "stream": true}
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		if r.IntN(4) == 0 {
			body[name] = pickOne(r, parameters[name])
		}
	}
	if r.IntN(4) > 0 {
		tools := []any{newFunction("searchInIndex", schemas[0])}
		for i := range r.IntN(4) {
			tools = append(tools, newFunction(fmt.Sprintf("tool_%d", i), pickOne(r, schemas)))
		}
		body["tools"] = tools
		if r.IntN(2) == 0 {
			body["tool_choice"] = pickOne(r, choices)
		}
		if r.IntN(2) == 0 {
			body["parallel_tool_calls"] = r.IntN(2) == 0
		}
	}
	b, err := json.Marshal(body)
	if err != nil {
		panic(err) // nothing in it that JSON has not
	}
	return b
}

type object map[string]any

// parameters are members of a request with some of their values.
var parameters = map[string][]any{
	"temperature":           {0.0, 0.7, nil},
	"top_p":                 {1, nil},
	"max_tokens":            {16, nil},
	"max_completion_tokens": {32, nil},
	"n":                     {1},
	"seed":                  {42, nil},
	"stop":                  {"END", []any{"a", "b"}, nil},
	"user":                  {"someone"},
	"store":                 {false, true},
	"logprobs":              {false},
	"top_logprobs":          {2},
	"logit_bias":            {object{"50256": -100}},
	"presence_penalty":      {0.5},
	"frequency_penalty":     {-0.5},
	"reasoning_effort":      {"low", "high", "none", nil},
	"verbosity":             {"low"},
	"service_tier":          {"auto"},
	"metadata":              {object{"a": "b"}},
	"prompt_cache_key":      {"k"},
	"safety_identifier":     {"s"},
	"stream_options":        {object{"include_usage": false}, object{"include_obfuscation": true}, nil},
	"response_format":       {object{"type": "text"}, object{"type": "json_object"}},
}

// schemas are parameters of functions; the first one is the host's own.
var schemas = []any{
	object{
		"type": "object", "required": []any{"q"}, "additionalProperties": false,
		"properties": object{
			"indexUid": object{"type": "string", "enum": []any{"movies"}},
			"q":        object{"type": "string"}, "filter": object{"type": "string"},
		},
	},
	nil,
	object{},
	object{"type": "object", "properties": object{
		"type": object{"type": []any{"string", "null"}, "enum": []any{"a", nil}},
		"list": object{"type": "array", "items": object{"type": []any{"integer", "number"}}},
		"or":   object{"anyOf": []any{object{"type": []any{"string"}}, object{"type": "null"}}},
		"data": object{"default": object{"type": []any{"kept"}}},
	}},
	object{"$ref": "#/$defs/a", "$defs": object{"a": object{"type": []any{"object", "null"}, "additionalProperties": object{"type": []any{"null", "boolean"}}}}},
}

var choices = []any{
	"auto", "none", "required", nil,
	object{"type": "function", "function": object{"name": "searchInIndex"}},
	object{"type": "allowed_tools", "allowed_tools": object{"mode": "required", "tools": []any{
		object{"type": "function", "function": object{"name": "searchInIndex"}},
	}}},
}

func newFunction(name string, schema any) object {
	f := object{"name": name, "description": "does " + name}
	if schema != nil {
		f["parameters"] = schema
	}
	return object{"type": "function", "function": f}
}

func pickOne[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

// chat makes conversations.
type chat struct {
	*rand.Rand
	calls int // so far
}

func (c *chat) messages() (all []any) {
	all = append(all, object{"role": "system", "content": "Use the search."})
	for range 1 + c.IntN(7) {
		switch c.IntN(6) {
		case 0:
			all = append(all, object{"role": pickOne(c.Rand, []string{"system", "developer"}), "content": c.text()})
		case 1, 2:
			user := object{"role": "user", "content": c.content(true)}
			if c.IntN(4) == 0 {
				user["name"] = "ann"
			}
			all = append(all, user)
		case 3:
			all = append(all, c.assistant())
		default:
			all = append(all, c.turn()...)
		}
	}
	if c.IntN(5) > 0 {
		all = append(all, object{"role": "user", "content": "And now?"})
	}
	return all
}

// assistant returns an answer that is whole.
func (c *chat) assistant() object {
	m := object{"role": "assistant", "content": c.content(false)}
	switch c.IntN(4) {
	case 0:
		m["content"], m["refusal"] = nil, "I cannot."
	case 1:
		m["reasoning_content"], m["annotations"], m["name"] = "Hm.", []any{}, "bot"
	}
	return m
}

// turn returns an assistant's calls with their answers, in any order.
func (c *chat) turn() []any {
	var calls, answers []any
	for range 1 + c.IntN(4) {
		c.calls++
		id := fmt.Sprintf(pickOne(c.Rand, []string{"call_%d", "chatcmpl-tool-%032d", "%09d", "functions.f:%d", "D681PevK%d", "ünï-%d"}), c.calls)
		calls = append(calls, object{"id": id, "type": "function", "index": len(calls), "function": object{
			"name": "searchInIndex", "arguments": pickOne(c.Rand, []string{"{}", `{"q":"nolan"}`, "", `{"q":"cut`}),
		}})
		answers = append(answers, object{"role": "tool", "tool_call_id": id, "content": c.content(false)})
	}
	c.Shuffle(len(answers), func(i, j int) { answers[i], answers[j] = answers[j], answers[i] })
	m := object{"role": "assistant", "tool_calls": calls}
	if c.IntN(2) == 0 {
		m["content"] = pickOne(c.Rand, []any{nil, "", "I will look."})
	}
	return append([]any{m}, answers...)
}

func (c *chat) text() string {
	return pickOne(c.Rand, []string{"", "Hello.", "\u2028 \"quoted\" \\ \u0000 \U0001f600", " "})
}

// content returns a text or a list of parts; images where they may be.
func (c *chat) content(images bool) any {
	if c.IntN(3) > 0 {
		return c.text()
	}
	parts := []any{}
	for range c.IntN(3) {
		parts = append(parts, object{"type": "text", "text": c.text(), "cache_control": object{"type": "ephemeral"}})
	}
	if images && c.IntN(3) == 0 {
		parts = append(parts, object{"type": "image_url", "image_url": object{"url": "https://pictures.example/1.png", "detail": "low"}})
	}
	if len(parts) == 0 {
		return "No parts."
	}
	return parts
}
