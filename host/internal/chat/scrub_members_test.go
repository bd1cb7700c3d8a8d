package chat_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/chat/chattest"
)

// TestHostileKeyEchoBesideText: a key that a provider says anywhere but in a text,
// cut over events, is not repeated.
func TestHostileKeyEchoBesideText(t *testing.T) {
	each := func(size int, line func(piece string) string) []string {
		lines := []string{"model:m"}
		for i := 0; i < len(demoKey); i += size {
			lines = append(lines, line(demoKey[i:min(i+size, len(demoKey))]))
		}
		return lines
	}
	object := func(format string) func(string) string {
		return func(piece string) string { return fmt.Sprintf(format, piece) }
	}
	for name, line := range map[string]func(string) string{
		"tokens": object(`outer:{"choice":{"logprobs":{"content":[{"token":%q,"top_logprobs":[{"token":"a"}]}]}}}`),
		"two tokens": func(piece string) string {
			return fmt.Sprintf(`outer:{"choice":{"logprobs":{"content":[{"token":%q},{"token":%q}]}}}`, piece[:1], piece[1:])
		},
		"details of reasoning":          object(`extra:{"reasoning_details":[{"type":"text","text":%q,"index":0}]}`),
		"arguments of the host's tools": object(`args:0:%s`),
	} {
		for _, size := range []int{1, 3, 10} {
			lines := each(size, line)
			if strings.HasPrefix(lines[1], "args:") {
				lines = append([]string{"model:m", "tool:0:1:searchInIndex", `args:0:{"indexUid":"books","q":"`}, append(lines[1:], `args:0:"}`)...)
			}
			f := newFixture(t, chattest.Script{Batches: [][]string{append(lines, "text:said", "finish:stop")}}, chattest.Script{Batches: [][]string{{"text:end", "finish:stop"}}})
			tr := f.ask(t, `{"model":"m","logprobs":true,"messages":[{"role":"user","content":"Hello"}],"tools":[
				{"type":"function","function":{"name":"_meiliSearchProgress"}},{"type":"function","function":{"name":"_meiliAppendConversationMessage"}}]}`)
			if got := joined(t, tr); strings.Contains(got, demoKey[:notShown]) {
				t.Errorf("%s in pieces of %d: the client is told %q", name, size, got)
			}
		}
	}
}

// notShown is how much of a key never shows: fewer bytes of it may be anything.
const notShown = 6

// TestHostileKeyEchoInNames: a key that stands in a name is taken out, whatever way it was
// escaped in the provider's event.
func TestHostileKeyEchoInNames(t *testing.T) {
	f := newFixture(t, chattest.Script{Batches: [][]string{{
		"model:" + demoKey, "text:a", "tool:0:" + demoKey + ":mine", "tool:1:" + demoKey + ":" + demoKey, "finish:" + demoKey,
	}}})
	tr := f.ask(t, `{"model":"m","messages":[{"role":"user","content":"Hello"}],"tools":[{"type":"function","function":{"name":"mine"}},
		{"type":"function","function":{"name":"_meiliSearchProgress"}}]}`)
	if got := joined(t, tr); strings.Contains(got, demoKey) || strings.Count(got, "[redacted]") < 3 {
		t.Errorf("the client is told %q, want the key taken out of names", got)
	}
}

// joined is what an answer's frames say, each string behind those before it at its path, and all of
// them as they stand.
func joined(t *testing.T, tr *transcript) string {
	t.Helper()
	texts := map[string]string{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, member := range v {
				walk(path+"."+name, member)
			}
		case []any:
			for _, item := range v {
				walk(path, item)
			}
		case string:
			texts[path] += v
		}
	}
	for line := range strings.Lines(tr.raw.String()) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: {")
		if !ok {
			continue
		}
		var v any
		if err := json.Unmarshal([]byte("{"+data), &v); err != nil {
			t.Fatal(err)
		}
		walk("", v)
	}
	return fmt.Sprint(texts)
}
