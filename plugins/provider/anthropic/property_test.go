package main

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/plugintest"
)

// A maker makes up requests as a client may send them.
type maker struct {
	*rand.Rand
	ids []string // of all calls so far
}

func (m maker) pick(s ...any) any  { return s[m.IntN(len(s))] }
func (m maker) chance(n int) bool  { return m.IntN(n) == 0 }
func (m maker) text() any          { return m.pick("", " ", "\n", "Hello", "é \"quoted\"", "\x00\u2028") }
func (m maker) part(t string) dict { return dict{"type": t, t: m.text()} }
func (m maker) name() string       { return m.pick("searchInIndex", "weather", "a-b_C9").(string) }

func (m maker) id() string           { return m.pick("call_1", "call_2", "a b", "é", "toolu_01").(string) }
func (m maker) model(t []string) any { return t[m.IntN(len(t))] }
func (m maker) function(n any) dict  { return dict{"type": "function", "function": dict{"name": n}} }

func (m maker) arguments() any {
	return m.pick("{}", "", " ", `{"q":"a"}`, `{"q":`, "[1]", "null", `{"a":{"b":[1,"}"]}}`)
}

func (m maker) maybe(o dict, k string, v ...any) {
	if m.chance(3) {
		o[k] = v[m.IntN(len(v))]
	}
}

func (m *maker) message() dict {
	role := m.pick("user", "user", "assistant", "assistant", "tool", "system", "developer").(string)
	o := dict{"role": role, "content": m.text()}
	if m.chance(4) {
		o["content"] = []any{m.part("text"), m.part("text")}
	}
	switch role {
	case "assistant":
		m.maybe(o, "content", nil)
		m.maybe(o, "refusal", m.text())
		var calls []any
		for range m.pick(0, 0, 1, 1, 2, 3).(int) {
			id := m.id()
			m.ids = append(m.ids, id)
			calls = append(calls, dict{"id": id, "type": "function", "function": dict{"name": m.pick(m.name(), "made up!", ""), "arguments": m.arguments()}})
		}
		if calls != nil {
			o["tool_calls"] = calls
		}
	case "tool":
		if len(m.ids) == 0 && !m.chance(20) {
			return m.message()
		}
		id := "nobody's"
		if len(m.ids) > 0 {
			id = m.ids[m.IntN(len(m.ids))]
		}
		o["tool_call_id"] = id
	}
	return o
}

func (m *maker) chat(models []string) dict {
	o := dict{"model": m.model(models), "stream": true}
	messages := []any{}
	for range 1 + m.IntN(8) {
		messages = append(messages, m.message())
	}
	o["messages"] = messages
	for range m.pick(0, 1, 2).(int) {
		f := m.function(m.name())
		m.maybe(object(f["function"]), "parameters", dict{}, nil, dict{"type": "object", "properties": dict{}}, dict{"type": []any{"object", "null"}})
		m.maybe(object(f["function"]), "description", "", "What it does")
		m.maybe(object(f["function"]), "strict", true, false, nil)
		tools, _ := o["tools"].([]any)
		o["tools"] = append(tools, f)
	}
	m.maybe(o, "tool_choice", "auto", "none", "required", m.function("weather"), nil,
		dict{"type": "allowed_tools", "allowed_tools": dict{"mode": "required", "tools": []any{m.function("weather")}}})
	m.maybe(o, "parallel_tool_calls", true, false)
	m.maybe(o, "max_tokens", 1, 100, 1024, 1025, 2000, 64000, nil)
	m.maybe(o, "max_completion_tokens", 1, 1500, nil)
	m.maybe(o, "reasoning_effort", "none", "minimal", "low", "medium", "high", "xhigh", "max", "odd", nil)
	m.maybe(o, "temperature", 0, 0.7, 1, 2, nil)
	m.maybe(o, "top_p", 0.5, nil)
	m.maybe(o, "top_k", 5)
	m.maybe(o, "stop", "END", "", []any{"a", " ", "b"}, nil)
	m.maybe(o, "response_format", dict{"type": "text"}, dict{"type": "json_object"}, dict{"type": "json_schema", "json_schema": dict{"name": "n", "schema": dict{"type": "object"}}})
	for _, key := range []string{"n", "seed", "user", "logprobs", "stream_options", "store", "frequency_penalty", "service_tier", "metadata"} {
		m.maybe(o, key, 1, "default", dict{"a": "b"})
	}
	return o
}

// TestEncodeProperty holds the bodies of requests that are made up to the
// API's rules.
func TestEncodeProperty(t *testing.T) {
	var models []string
	for model := range versions {
		models = append(models, model)
	}
	models = append(models, "some-model", "claude-next")
	d := plugintest.New(&anthropic{})
	seeds, refused := 3_000, 0
	if os.Getenv("LONG") != "" {
		seeds = 20_000
	}
	for seed := range uint64(seeds) {
		m := maker{Rand: rand.New(rand.NewPCG(seed, 7))}
		chat, err := json.Marshal(m.chat(models))
		if err != nil {
			t.Fatal(err)
		}
		r, err := d.Encode(abi.EncodeRequest{Chat: abi.RawJSON(chat)})
		if err != nil {
			if !strings.Contains(err.Error(), "tool_call_id") {
				t.Fatalf("seed %d: Encode(%s): %v", seed, chat, err)
			}
			refused++
			continue
		}
		if problems := validate(r.Body); problems != nil {
			t.Fatalf("seed %d: chat %s\nbecame %s\nwhich is refused: %v", seed, chat, r.Body, problems)
		}
	}
	if refused == 0 || refused > seeds/2 {
		t.Errorf("%d of %d refused: the requests made up are not what they should be", refused, seeds)
	}
}

// TestRulesTakeRecordings holds the rules to the recorded requests: those that the API
// took must pass.
func TestRulesTakeRecordings(t *testing.T) {
	cases, err := plugintest.ReadCorpus("anthropic")
	if err != nil {
		t.Skip("no recordings of providers: CORPUS names their folder, ../shared/corpus unless it is set")
	}
	taken := 0
	for _, c := range cases {
		if len(c.Request) == 0 {
			continue
		}
		if c.Status != 200 {
			continue
		}
		taken++
		for _, problem := range validate(c.Request) {
			if strings.Contains(problem, "toolu_01") && strings.HasPrefix(c.Name, "anthropic-dd-trace-text-0") {
				continue // its call and result have different ids: the request was edited after recording
			}
			t.Errorf("%s was taken, and the validator says: %s", c.Name, problem)
		}
	}
	t.Log(strconv.Itoa(taken) + " recorded requests pass")
}

func TestRulesFind(t *testing.T) {
	const head = `{"model":"claude-sonnet-4-5","max_tokens":9000,`
	const call = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}`
	for name, body := range map[string]string{
		"extra":           head + `"n":1,"messages":[{"role":"user","content":"a"}]}`,
		"no messages":     head + `"messages":[]}`,
		"assistant last":  head + `"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}`,
		"two users":       head + `"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]}`,
		"blank":           head + `"messages":[{"role":"user","content":" "}]}`,
		"unanswered":      head + `"messages":[{"role":"user","content":"a"},` + call + `,{"role":"user","content":"b"}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}`,
		"result late":     head + `"messages":[{"role":"user","content":"a"},` + call + `,{"role":"user","content":[{"type":"text","text":"b"},{"type":"tool_result","tool_use_id":"a"}]}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}`,
		"tools undefined": head + `"messages":[{"role":"user","content":"a"},` + call + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]}`,
		"bare thinking":   head + `"thinking":{"type":"enabled","budget_tokens":2000},"messages":[{"role":"user","content":"a"},` + call + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}`,
		"hot thinking":    head + `"temperature":0,"thinking":{"type":"enabled","budget_tokens":2000},"messages":[{"role":"user","content":"a"}]}`,
		"budget":          head + `"thinking":{"type":"enabled","budget_tokens":9000},"messages":[{"role":"user","content":"a"}]}`,
		"two samplers":    head + `"temperature":1,"top_p":1,"messages":[{"role":"user","content":"a"}]}`,
		"choice alone":    head + `"tool_choice":{"type":"auto"},"messages":[{"role":"user","content":"a"}]}`,
	} {
		if validate([]byte(body)) == nil {
			t.Errorf("%s: the validator takes %s", name, body)
		}
	}
}
