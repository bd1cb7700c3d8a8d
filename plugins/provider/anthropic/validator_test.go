package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// The rules of this file are written from the API's documentation and its
// recorded refusals, apart from the code that they check.

var (
	wordPattern = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	namePattern = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
)

// versions says of which version the models are that tests ask for, by hand.
var versions = map[string]int{
	"claude-3-opus-20240229": 300, "claude-3-haiku-20240307": 300, "claude-3-5-sonnet-20240620": 305, "claude-3-5-haiku-20241022": 305,
	"claude-3-7-sonnet-20250219": 307, "claude-sonnet-4-20250514": 400, "claude-opus-4-1-20250805": 401, "claude-haiku-4-5": 405,
	"claude-sonnet-4-5": 405, "claude-sonnet-4-6": 406, "claude-opus-4-7": 407, "claude-opus-4-8": 408, "claude-opus-5": 500, "claude-sonnet-5-5": 505,
}

var topLevel = []string{
	"model", "max_tokens", "system", "messages", "tools", "tool_choice", "thinking", "output_config", "stop_sequences",
	"temperature", "top_p", "top_k", "stream", "metadata", "service_tier", "cache_control", "inference_geo",
}

type dict = map[string]any

// A checker gathers what the API would refuse in a body.
type checker struct {
	problems []string
	body     dict
	version  int // 0: not known
}

func (c *checker) bad(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// validate returns why the API would refuse a body.
func validate(b []byte) []string {
	c := &checker{}
	if err := json.Unmarshal(b, &c.body); err != nil {
		return []string{err.Error()}
	}
	for key := range c.body {
		if !slices.Contains(topLevel, key) {
			c.bad("%s: Extra inputs are not permitted", key)
		}
	}
	model, _ := c.body["model"].(string)
	if model == "" {
		c.bad("model: Field required")
	}
	c.version = versions[model]
	if n, ok := c.body["max_tokens"].(float64); !ok || n < 1 || n != float64(int(n)) {
		c.bad("max_tokens = %v", c.body["max_tokens"])
	}
	if system, ok := c.body["system"].([]any); ok {
		c.texts("system", system)
	}
	for _, s := range array(c.body["stop_sequences"]) {
		if text, ok := s.(string); !ok || strings.TrimSpace(text) == "" {
			c.bad("stop_sequences: %q", s)
		}
	}
	calls := c.messages(array(c.body["messages"]))
	c.tools(calls)
	c.thinking()
	c.sampling()
	return c.problems
}

func array(v any) []any { a, _ := v.([]any); return a }
func object(v any) dict { o, _ := v.(dict); return o }
func text(v any) string { s, _ := v.(string); return s }

func (c *checker) texts(where string, blocks []any) {
	for _, b := range blocks {
		if b := object(b); b["type"] != "text" || strings.TrimSpace(text(b["text"])) == "" {
			c.bad("%s: text content blocks must be non-empty: %v", where, b)
		}
	}
}

// messages checks the conversation and returns how many calls it has.
func (c *checker) messages(messages []any) (calls int) {
	if len(messages) == 0 {
		c.bad("messages: at least one message is required")
	}
	seen := map[string]bool{}
	var open []string // calls that the message must answer
	for i, m := range messages {
		m := object(m)
		role, want := m["role"], [...]string{"user", "assistant"}[i%2]
		if role != want {
			c.bad("messages.%d: role %v, want %s: roles must alternate, user first", i, role, want)
		}
		if i == len(messages)-1 && role != "user" {
			c.bad("the conversation must end with a user message")
		}
		blocks := array(m["content"])
		if s, ok := m["content"].(string); ok {
			blocks = []any{dict{"type": "text", "text": s}}
		}
		if len(blocks) == 0 {
			c.bad("messages.%d: content is empty", i)
		}
		open = c.blocks(i, text(role), blocks, open, seen)
		calls += len(open)
	}
	return calls
}

func (c *checker) blocks(i int, role string, blocks []any, open []string, seen map[string]bool) (next []string) {
	other := false
	for _, b := range blocks {
		b := object(b)
		switch kind := role + " " + text(b["type"]); kind {
		case "user text", "assistant text":
			other = true
			c.texts(fmt.Sprintf("messages.%d", i), []any{b})
		case "user image", "user document":
		case "user tool_result":
			id := text(b["tool_use_id"])
			at := slices.Index(open, id)
			if at < 0 || other {
				c.bad("messages.%d: tool_result of %q is of no call before it, or not first", i, id)
				continue
			}
			open = slices.Delete(slices.Clone(open), at, at+1)
			if s, ok := b["content"].(string); ok && s == "" {
				c.bad("messages.%d: empty tool_result", i)
			}
		case "assistant thinking":
			if text(b["signature"]) == "" {
				c.bad("messages.%d: thinking.signature: Field required", i)
			}
		case "assistant redacted_thinking":
			if text(b["data"]) == "" {
				c.bad("messages.%d: redacted_thinking.data: Field required", i)
			}
		case "assistant tool_use":
			id := text(b["id"])
			if !wordPattern.MatchString(id) || seen[id] {
				c.bad("messages.%d: tool_use id %q is not unique or no word", i, id)
			}
			if seen[id] = true; !namePattern.MatchString(text(b["name"])) || b["input"] == nil || object(b["input"]) == nil {
				c.bad("messages.%d: tool_use %v", i, b)
			}
			next = append(next, id)
		default:
			c.bad("messages.%d: block %q", i, kind)
		}
	}
	if len(open) > 0 {
		c.bad("messages.%d: tool_use ids without tool_result: %v", i, open)
	}
	return next
}

func (c *checker) tools(calls int) {
	tools := array(c.body["tools"])
	for i, t := range tools {
		t := object(t)
		if _, own := t["type"]; own {
			continue
		}
		if !namePattern.MatchString(text(t["name"])) || object(t["input_schema"])["type"] != "object" {
			c.bad("tools.%d: %v", i, t)
		}
		for key := range t {
			if !slices.Contains([]string{"name", "description", "input_schema", "strict", "cache_control"}, key) {
				c.bad("tools.%d.%s: Extra inputs are not permitted", i, key)
			}
		}
	}
	if calls > 0 && len(tools) == 0 {
		c.bad("requests which include tool_use or tool_result blocks must define tools")
	}
	choice, there := c.body["tool_choice"]
	if !there {
		return
	}
	o := object(choice)
	if len(tools) == 0 || !slices.Contains([]string{"auto", "any", "tool", "none"}, text(o["type"])) ||
		(o["type"] == "tool") != (text(o["name"]) != "") || o["type"] == "none" && o["disable_parallel_tool_use"] != nil {
		c.bad("tool_choice: %v with %d tools", choice, len(tools))
	}
}

// forced reports whether the request forces a call.
func (c *checker) forced() bool {
	typ := object(c.body["tool_choice"])["type"]
	return typ == "any" || typ == "tool"
}

func (c *checker) thinking() {
	effort := text(object(c.body["output_config"])["effort"])
	if effort != "" && (!slices.Contains([]string{"low", "medium", "high", "xhigh", "max"}, effort) ||
		c.version > 0 && c.version < 405 || effort == "xhigh" && c.version > 0 && c.version < 407) {
		c.bad("output_config.effort %q with version %d", effort, c.version)
	}
	t := object(c.body["thinking"])
	typ := text(t["type"])
	switch {
	case t == nil || typ == "disabled":
		return
	case c.forced():
		c.bad("thinking may not be enabled when tool_choice forces tool use")
	}
	switch typ {
	case "adaptive":
		if c.version > 0 && c.version < 406 {
			c.bad("adaptive thinking with version %d", c.version)
		}
	case "enabled":
		budget, _ := t["budget_tokens"].(float64)
		if limit, _ := c.body["max_tokens"].(float64); budget < 1024 || budget >= limit {
			c.bad("budget_tokens %v with max_tokens %v", budget, limit)
		}
		if c.version >= 407 || c.version > 0 && c.version < 307 {
			c.bad("thinking by budget with version %d", c.version)
		}
		c.thoughtBeforeCalls()
	default:
		c.bad("thinking.type %q", typ)
	}
}

// thoughtBeforeCalls checks that the turn under way begins with thinking where
// it has calls.
func (c *checker) thoughtBeforeCalls() {
	messages := array(c.body["messages"])
	if len(messages) < 2 {
		return
	}
	last, before := array(object(messages[len(messages)-1])["content"]), array(object(messages[len(messages)-2])["content"])
	if len(last) == 0 || len(before) == 0 || object(last[0])["type"] != "tool_result" {
		return
	}
	if first := text(object(before[0])["type"]); first != "thinking" && first != "redacted_thinking" {
		c.bad("expected thinking or redacted_thinking, but found %s", first)
	}
}

func (c *checker) sampling() {
	temperature, hot := c.body["temperature"].(float64)
	_, nucleus := c.body["top_p"]
	_, most := c.body["top_k"]
	if hot && (temperature < 0 || temperature > 1) {
		c.bad("temperature: range: 0..1")
	}
	if hot && nucleus && c.version >= 401 {
		c.bad("temperature and top_p cannot both be specified for this model")
	}
	thinks := slices.Contains([]any{"enabled", "adaptive"}, object(c.body["thinking"])["type"])
	if (hot && temperature != 1 || most) && (thinks || c.version >= 407) {
		c.bad("temperature or top_k with thinking, or with version %d", c.version)
	}
}
