package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	"github.com/parley-search/parley/sdk/plugintest"
)

// TestEncodeProperty puts conversations of all kinds to rules that are written
// here again, from Mistral's documentation and its open checks of requests.
func TestEncodeProperty(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1959))
	for i := range 3000 {
		chat := plugintest.Chat(r, "mistral-small-latest")
		body := encode(t, "", string(chat)).Body
		if problems := check(body); len(problems) > 0 {
			t.Fatalf("request %d: %v\nfrom %s\nto   %s", i, problems, chat, body)
		}
		if again := encode(t, "", string(body)).Body; check(again) != nil {
			t.Fatalf("request %d: %v when it is put through again: %s", i, check(again), again)
		}
	}
}

// TestRulesTakeRecordings holds the rules to what Mistral did accept.
func TestRulesTakeRecordings(t *testing.T) {
	cases, err := plugintest.ReadCorpus("mistral")
	if err != nil {
		t.Skip("no recordings of providers: CORPUS names their folder, ../shared/corpus unless it is set")
	}
	for _, c := range cases {
		if len(c.Request) == 0 {
			continue
		}
		problems := check(c.Request)
		if refused := c.Status == 400; refused != (len(problems) > 0) {
			t.Errorf("%s: status %d, and the rules find %v", c.Name, c.Status, problems)
		}
		if problems := check(encode(t, "", string(c.Request)).Body); len(problems) > 0 {
			t.Errorf("%s, encoded: %v", c.Name, problems)
		}
	}
}

func FuzzEncode(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 20 {
		f.Add(plugintest.Chat(r, "m"))
	}
	f.Add([]byte(`{"messages":[{"role":"assistant","tool_calls":[{}]},{"role":"tool"}],"tools":[{"function":{"parameters":{"type":["a","b"]}}}]}`))
	f.Fuzz(func(t *testing.T, chat []byte) {
		if !json.Valid(chat) || len(chat) == 0 || chat[0] != '{' {
			return
		}
		r, err := tryEncode("", string(chat))
		if err == nil && !json.Valid(r.Body) {
			t.Errorf("body is not JSON: %s", r.Body)
		}
	})
}

// checker gathers what is wrong with a request.
type checker []string

func (c *checker) wrong(format string, args ...any) { *c = append(*c, fmt.Sprintf(format, args...)) }

// known reports members that are not listed.
func (c *checker) known(where string, o map[string]any, names ...string) {
	for name := range o {
		if !slices.Contains(names, name) {
			c.wrong("%s has %s: extra inputs are not permitted", where, name)
		}
	}
}

var (
	idRule   = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)
	nameRule = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
)

func check(body []byte) checker {
	var c checker
	var o map[string]any
	if err := json.Unmarshal(body, &o); err != nil {
		return checker{err.Error()}
	}
	c.known("request", o, "model", "messages", "temperature", "top_p", "max_tokens", "stream", "stop", "random_seed",
		"response_format", "tools", "tool_choice", "presence_penalty", "frequency_penalty", "n", "prediction", "parallel_tool_calls",
		"reasoning_effort", "prompt_mode", "safe_prompt", "guardrails", "metadata", "prompt_cache_key")
	c.tools(o)
	messages, _ := o["messages"].([]any)
	if len(messages) == 0 {
		c.wrong("no messages")
	}
	c.messages(messages)
	return c
}

func (c *checker) tools(o map[string]any) {
	tools, there := o["tools"].([]any)
	if there && len(tools) == 0 {
		c.wrong("tools is empty")
	}
	if choice := o["tool_choice"]; choice != nil {
		named, _ := choice.(map[string]any)
		if !there && choice != "auto" && choice != "none" || named == nil && !slices.Contains([]any{"auto", "none", "any"}, choice) {
			c.wrong("tool_choice %v", choice)
		}
	}
	for _, tool := range tools {
		tool := tool.(map[string]any)
		c.known("tool", tool, "type", "function")
		f, _ := tool["function"].(map[string]any)
		c.known("function", f, "name", "description", "parameters", "strict")
		parameters, ok := f["parameters"].(map[string]any)
		if name, _ := f["name"].(string); !ok || !nameRule.MatchString(name) {
			c.wrong("function %q with parameters %v", name, f["parameters"])
		}
		delete(parameters, "default")
		c.types(parameters)
	}
}

// types reports lists of types. Nothing in the tests' schemas but a type and a
// default has a list under that name.
func (c *checker) types(v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			if _, list := inner.([]any); name == "type" && list {
				c.wrong("a list of types: %v", inner)
			}
			if name != "default" {
				c.types(inner)
			}
		}
	case []any:
		for _, inner := range v {
			c.types(inner)
		}
	}
}

// follows lists the roles that may follow a role.
var follows = map[string][]string{
	"":          {"system", "user", "assistant"},
	"system":    {"system", "user", "assistant"},
	"user":      {"system", "user", "assistant"},
	"assistant": {"assistant", "user", "tool"},
	"tool":      {"assistant", "tool"},
}

func (c *checker) messages(messages []any) {
	last := ""
	open := map[string]bool{} // calls to be answered
	seen := map[string]bool{}
	for i, m := range messages {
		m := m.(map[string]any)
		role, _ := m["role"].(string)
		if !slices.Contains(follows[last], role) {
			c.wrong("message %d: unexpected role %q after role %q", i, role, last)
		}
		if role != "tool" && len(open) > 0 {
			c.wrong("message %d: not the same number of function calls and responses", i)
		}
		last = role
		calls, _ := m["tool_calls"].([]any)
		switch role {
		case "system", "user":
			c.known(role, m, "role", "content")
		case "assistant":
			c.known(role, m, "role", "content", "tool_calls", "prefix")
			if content := m["content"]; (content == "" || content == nil) && len(calls) == 0 {
				c.wrong("message %d: neither content nor tool calls", i)
			}
			if prefix := m["prefix"] == true; prefix != (i == len(messages)-1) {
				c.wrong("message %d of %d: prefix %v", i, len(messages), prefix)
			}
		case "tool":
			c.known(role, m, "role", "content", "tool_call_id", "name")
			id, _ := m["tool_call_id"].(string)
			if !open[id] {
				c.wrong("message %d: answer to %q, which is not open", i, id)
			}
			delete(open, id)
		}
		c.content(i, role, m["content"])
		for _, call := range calls {
			call := call.(map[string]any)
			f, _ := call["function"].(map[string]any)
			c.known("call", call, "id", "type", "function")
			c.known("function of a call", f, "name", "arguments")
			id, _ := call["id"].(string)
			arguments, _ := f["arguments"].(string)
			if !idRule.MatchString(id) || seen[id] || !json.Valid([]byte(arguments)) {
				c.wrong("message %d: call %v", i, call)
			}
			open[id], seen[id] = true, true
		}
	}
	if len(open) > 0 {
		c.wrong("calls without answers at the end: %v", open)
	}
}

func (c *checker) content(i int, role string, content any) {
	parts, list := content.([]any)
	if _, text := content.(string); !text && !list || list && len(parts) == 0 || role == "system" && content == "" {
		c.wrong("message %d: content %v", i, content)
	}
	for _, p := range parts {
		p := p.(map[string]any)
		switch p["type"] {
		case "text":
			c.known("part", p, "type", "text")
		case "image_url":
			c.known("part", p, "type", "image_url")
		default:
			c.wrong("message %d: part %v", i, p)
		}
	}
}
