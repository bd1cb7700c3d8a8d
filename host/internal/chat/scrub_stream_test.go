package chat_test

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/chat/chattest"
)

// TestHostileKeyEcho: a provider that says the workspace's key, cut into events
// in whatever way, is not repeated; what only begins like it is, whole.
func TestHostileKeyEcho(t *testing.T) {
	for size := 1; size <= len(demoKey); size++ {
		for _, tt := range []struct{ before, after string }{
			{"You sent ", " to me"},
			{demoKey[:7] + " and ", ""},
			{demoKey[:len(demoKey)-1], "!" + demoKey[:3]},
		} {
			text := tt.before + demoKey + tt.after
			lines := []string{"model:m"}
			for i := 0; i < len(text); i += size {
				lines = append(lines, "text:"+text[i:min(i+size, len(text))])
			}
			f := newFixture(t, chattest.Script{Batches: [][]string{append(lines, "finish:stop")}})
			got := contentOf(f.ask(t, hello))
			if strings.Contains(got, demoKey) || !strings.HasPrefix(got, tt.before) || !strings.HasSuffix(got, "[redacted]"+tt.after) {
				t.Errorf("pieces of %d: %q of %q, want the key taken out and nothing else", size, got, text)
			}
		}
	}
}

// contentOf joins the contents of an answer's chunks.
func contentOf(tr *transcript) string {
	out := ""
	for _, c := range tr.chunks {
		for _, choice := range c.Choices {
			text, _ := choice.Delta["content"].(string)
			out += text
		}
	}
	return out
}
