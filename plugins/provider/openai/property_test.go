package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/plugintest"
)

var models = []string{"gpt-3.5-turbo", "gpt-4o", "gpt-4.1-mini", "o1-mini", "o1", "o3", "gpt-5", "gpt-5-chat-latest", "gpt-5.4", "gpt-5.6", "ft:gpt-4o-2024-08-06:acme::abc"}

// TestEncodeProperty puts conversations of all kinds to rules that are written
// here again, from OpenAI's reference and the refusals that were recorded.
func TestEncodeProperty(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 15))
	for i := range 3000 {
		model := models[r.IntN(len(models))]
		chat := plugintest.Chat(r, model)
		s := abi.Settings{APIKey: abi.PlaceholderAPIKey}
		if r.IntN(4) == 0 {
			s.BaseURL = "https://gateway.example/v1/"
		}
		h, body := encode(t, s, string(chat))
		if problems := check(body); len(problems) > 0 {
			t.Fatalf("request %d: %v\nfrom %s\nto   %s", i, problems, chat, h.Body)
		}
		var before map[string]any
		if err := json.Unmarshal(chat, &before); err != nil {
			t.Fatal(err)
		}
		given, said := before["stream_options"]
		options, _ := body["stream_options"].(map[string]any)
		if without := said && given == nil; body["stream"] != true || without != (options == nil) || !without && options["include_usage"] != true {
			t.Fatalf("request %d: stream %v with %v, want it with usage unless it was null", i, body["stream"], body["stream_options"])
		}
		if got, want := saidIn(body), saidIn(before); got != want {
			t.Fatalf("request %d: the messages became %s, want %s", i, got, want)
		}
		if options == nil {
			continue // put through again it would have them
		}
		again, _ := encode(t, s, string(h.Body))
		if string(again.Body) != string(h.Body) {
			t.Fatalf("request %d: put through again it became %s, want %s", i, again.Body, h.Body)
		}
	}
}

// TestRulesTakeRecordings holds the rules to what OpenAI did accept: they find
// nothing in a request that had an answer.
func TestRulesTakeRecordings(t *testing.T) {
	cases, err := plugintest.ReadCorpus("openAi")
	if err != nil {
		t.Skip("no recordings of providers: CORPUS names their folder, ../shared/corpus unless it is set")
	}
	checked := 0
	for _, c := range cases {
		var body map[string]any
		if c.Status != 200 || json.Unmarshal(c.Request, &body) != nil || body["messages"] == nil {
			continue
		}
		checked++
		if problems := check(body); len(problems) > 0 {
			t.Errorf("%s: %v in a request that was taken", c.Name, problems)
		}
		if _, encoded := encode(t, abi.Settings{}, string(c.Request)); len(check(encoded)) > 0 {
			t.Errorf("%s: %v in it once encoded", c.Name, check(encoded))
		}
	}
	if checked == 0 {
		t.Error("no recorded request was checked")
	}
}

// The rules are no rubber stamp: each finds what it is about.
func TestRulesFind(t *testing.T) {
	message := `"messages":[{"role":"user","content":"u"}]`
	for want, body := range map[string]string{
		"strict":             `{"model":"gpt-4o",` + message + `,"tools":[{"type":"function","function":{"name":"f","strict":true,"parameters":{"type":"object","properties":{"a":{},"b":{}},"required":["a"],"additionalProperties":false}}}]}`,
		"max_tokens":         `{"model":"o3",` + message + `,"max_tokens":5}`,
		"role":               `{"model":"o1-mini","messages":[{"role":"system","content":"s"}]}`,
		"reasoning_effort":   `{"model":"gpt-5.6",` + message + `,"tools":[{"type":"function","function":{"name":"f"}}]}`,
		"without tools":      `{"model":"gpt-4o",` + message + `,"parallel_tool_calls":true}`,
		"tools is empty":     `{"model":"gpt-4o",` + message + `,"tools":[]}`,
		"answers no call":    `{"model":"gpt-4o","messages":[{"role":"tool","tool_call_id":"a","content":"x"}]}`,
		"is left unanswered": `{"model":"gpt-4o","messages":[{"role":"assistant","tool_calls":[{"id":"a"}]},{"role":"user","content":"u"}]}`,
	} {
		var v map[string]any
		if err := json.Unmarshal([]byte(body), &v); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(check(v), "; "); !strings.Contains(got, want) {
			t.Errorf("%s: the rules find %q, want %q", body, got, want)
		}
	}
}

// check returns what OpenAI would refuse body for.
func check(body map[string]any) (problems []string) {
	rule := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Sprintf(format, args...))
		}
	}
	model, _ := body["model"].(string)
	old := strings.Contains(model, "gpt-3") || strings.Contains(model, "gpt-4")
	early := strings.HasPrefix(model, "o1-mini") || strings.HasPrefix(model, "o1-preview")
	reasons := strings.HasPrefix(model, "o") || strings.HasPrefix(model, "gpt-5") && !strings.Contains(model, "-chat")
	_, limit := body["max_tokens"]
	rule(!reasons || !limit, "max_tokens for %s, which reasons", model)

	tools, there := body["tools"].([]any)
	rule(!there || len(tools) > 0, "tools is empty")
	_, choice := body["tool_choice"]
	_, parallel := body["parallel_tool_calls"]
	rule(there || !choice && !parallel, "tool_choice or parallel_tool_calls without tools")
	late := strings.HasPrefix(model, "gpt-5.4") || strings.HasPrefix(model, "gpt-5.6")
	rule(!there || !late || body["reasoning_effort"] == "none", "tools for %s with reasoning_effort %v", model, body["reasoning_effort"])
	for _, tool := range tools {
		f, _ := tool.(map[string]any)["function"].(map[string]any)
		if f["strict"] != true {
			continue
		}
		schema, _ := f["parameters"].(map[string]any)
		required, _ := schema["required"].([]any)
		properties, _ := schema["properties"].(map[string]any)
		rule(len(required) == len(properties) && schema["additionalProperties"] == false,
			"%v is strict with %d of %d arguments required", f["name"], len(required), len(properties))
	}

	roles := []string{"system", "developer", "user", "assistant", "tool", "function"}
	if early {
		roles = roles[2:]
	} else if old {
		roles = slices.Delete(roles, 1, 2)
	}
	var waiting []string // calls without an answer
	for i, m := range body["messages"].([]any) {
		m := m.(map[string]any)
		role, _ := m["role"].(string)
		rule(slices.Contains(roles, role), "message %d has the role %s, for %s", i, role, model)
		if role == "tool" {
			id, _ := m["tool_call_id"].(string)
			at := slices.Index(waiting, id)
			rule(at >= 0, "message %d answers no call: %s", i, id)
			waiting = slices.DeleteFunc(waiting, func(w string) bool { return w == id })
			continue
		}
		rule(len(waiting) == 0, "call %v is left unanswered before message %d", waiting, i)
		waiting = nil
		calls, _ := m["tool_calls"].([]any)
		for _, c := range calls {
			id, _ := c.(map[string]any)["id"].(string)
			waiting = append(waiting, id)
		}
	}
	return problems
}

// said writes the messages with one name for all roles of instructions.
func saidIn(body map[string]any) string {
	messages := body["messages"].([]any)
	for _, m := range messages {
		m := m.(map[string]any)
		if role := m["role"]; role == "developer" || role == "system" {
			m["role"] = "user"
		}
	}
	b, err := json.Marshal(messages)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
