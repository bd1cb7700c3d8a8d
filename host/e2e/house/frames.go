package house

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
)

// Ask asks workspace in the way that OpenAI's clients do.
func (h *House) Ask(workspace, model string) (Reply, map[string]any) {
	h.T.Helper()
	body := fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"hi"}],"stream_options":{"include_usage":true}}`, model)
	r := h.Call("POST", "/chats/"+workspace+"/chat/completions", body)
	if r.Status != http.StatusOK {
		return r, nil
	}
	var f Frames
	f.WriteString(r.Body)
	return r, f.Aggregate(h.T)
}

// Frames keep what a client would read.
type Frames struct{ bytes.Buffer }

// WriteFrames keeps frames.
func (f *Frames) WriteFrames(b []byte, _ bool) error { _, err := f.Write(b); return err }

// Aggregate adds the chunks up as OpenAI's clients do.
func (f *Frames) Aggregate(t testing.TB) map[string]any {
	t.Helper()
	text, reasoning, refusal := "", "", ""
	calls := []any{}
	byIndex := map[float64]map[string]any{}
	got := map[string]any{}
	done := false
	for block := range strings.SplitSeq(f.String(), "\n\n") {
		data, ok := strings.CutPrefix(block, "data: ")
		if !ok {
			continue
		}
		if done = data == "[DONE]"; done {
			continue
		}
		var chunk map[string]any
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			t.Fatalf("chunk %q: %v", data, err)
		}
		if chunk["error"] != nil {
			got["error"] = chunk["error"]
			continue
		}
		if chunk["usage"] != nil {
			got["usage"] = Counts(chunk["usage"])
		}
		for _, c := range chunk["choices"].([]any) {
			choice := c.(map[string]any)
			if r := choice["finish_reason"]; r != nil {
				got["finish_reason"] = r
			}
			delta := choice["delta"].(map[string]any)
			text += Text(delta["content"])
			reasoning += Text(delta["reasoning_content"])
			refusal += Text(delta["refusal"])
			list, _ := delta["tool_calls"].([]any)
			for _, item := range list {
				call := item.(map[string]any)
				function := call["function"].(map[string]any)
				entry := byIndex[call["index"].(float64)]
				if entry == nil {
					entry = map[string]any{"name": "", "arguments": ""}
					byIndex[call["index"].(float64)] = entry
					calls = append(calls, entry)
				}
				entry["name"] = entry["name"].(string) + Text(function["name"])
				entry["arguments"] = entry["arguments"].(string) + Text(function["arguments"])
			}
		}
	}
	if !done {
		t.Errorf("the stream does not end with [DONE]: %.300q", f.String())
	}
	for _, c := range calls { // cases have arguments as values where they are JSON
		call, value := c.(map[string]any), any(nil)
		if json.Unmarshal([]byte(call["arguments"].(string)), &value) == nil {
			call["arguments"] = value
		}
	}
	maps.Copy(got, map[string]any{"text": text, "reasoning": reasoning, "refusal": refusal, "tool_calls": calls})
	return got
}

// Counts keeps the three numbers of a usage that cases have.
func Counts(usage any) any {
	u, ok := usage.(map[string]any)
	if !ok {
		return nil
	}
	return map[string]any{"prompt_tokens": u["prompt_tokens"], "completion_tokens": u["completion_tokens"], "total_tokens": u["total_tokens"]}
}

// Text is v where it is one; else it is empty.
func Text(v any) string {
	s, _ := v.(string)
	return s
}
