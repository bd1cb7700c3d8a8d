package main

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/plugintest"
)

// TestEncodeProperty puts conversations of all kinds to what the strictest of
// the chat templates take: instructions in one message and that one first, texts of
// a user in a row as one, all else as it was.
func TestEncodeProperty(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 23))
	for i := range 3000 {
		chat := plugintest.Chat(r, "m")
		got := encoded(t, chat)
		var before map[string]any
		if err := json.Unmarshal(chat, &before); err != nil {
			t.Fatal(err)
		}
		instructions, others := split(t, before)
		if len(instructions) > 0 {
			others = append([]any{map[string]any{"role": "system", "content": strings.Join(instructions, "\n\n")}}, others...)
		}
		if others = inTurns(others); !reflect.DeepEqual(got["messages"], any(others)) {
			t.Fatalf("request %d: messages %v, want %v\nfrom %s", i, got["messages"], others, chat)
		}
		_, tools := before["tools"]
		for _, name := range []string{"tools", "tool_choice", "parallel_tool_calls"} {
			if _, there := got[name]; there && !tools {
				t.Fatalf("request %d: %s without tools\nfrom %s", i, name, chat)
			}
		}
		want := map[string]any{"messages": nil, "stream": true, "stream_options": nil}
		for name, v := range before {
			if _, ours := want[name]; ours || !tools && (name == "tool_choice" || name == "parallel_tool_calls") {
				continue
			}
			if !reflect.DeepEqual(got[name], v) {
				t.Fatalf("request %d: %s became %v, want %v", i, name, got[name], v)
			}
		}
		given, said := before["stream_options"]
		options, _ := got["stream_options"].(map[string]any)
		if without := said && given == nil; got["stream"] != true || without != (options == nil) || !without && options["include_usage"] != true {
			t.Fatalf("request %d: stream %v with %v, want it with usage unless it was null", i, got["stream"], got["stream_options"])
		}
	}
}

// inTurns joins messages of one role in a row, where that can be.
func inTurns(messages []any) (joined []any) {
	for _, v := range messages {
		m := v.(map[string]any)
		if n := len(joined); n > 0 {
			last := joined[n-1].(map[string]any)
			calls := last["tool_calls"] != nil || m["tool_calls"] != nil
			if role := m["role"]; role == last["role"] && (role == "user" || role == "assistant") && !calls {
				if content := joinedContent(last["content"], m["content"]); content != nil {
					both := maps.Clone(last)
					both["content"] = content
					joined[n-1] = both
					continue
				}
			}
		}
		joined = append(joined, m)
	}
	return joined
}

func joinedContent(a, b any) any {
	text, isText := a.(string)
	if more, ok := b.(string); ok && isText {
		return text + "\n\n" + more
	}
	var parts []any
	for _, v := range []any{a, b} {
		switch v := v.(type) {
		case string:
			parts = append(parts, map[string]any{"type": "text", "text": v})
		case []any:
			parts = append(parts, v...)
		default:
			return nil
		}
	}
	return parts
}

func encoded(t *testing.T, chat []byte) (body map[string]any) {
	t.Helper()
	r, err := plugintest.New(&vLLM{}).Encode(abi.EncodeRequest{Settings: abi.Settings{BaseURL: "http://localhost:8000"}, Chat: chat})
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		t.Fatalf("body %s: %v", r.Body, err)
	}
	return body
}

// split returns the texts of all instructions that say something, and the other
// messages.
func split(t *testing.T, body map[string]any) (instructions []string, others []any) {
	t.Helper()
	for _, m := range body["messages"].([]any) {
		fields := m.(map[string]any)
		if role := fields["role"]; role != "system" && role != "developer" {
			others = append(others, m)
			continue
		}
		text, ok := fields["content"].(string)
		if !ok {
			t.Fatalf("instructions %v, want a text", fields["content"])
		}
		if text != "" {
			instructions = append(instructions, text)
		}
	}
	return instructions, others
}
