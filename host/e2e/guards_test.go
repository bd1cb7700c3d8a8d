package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parley-search/parley/host/e2e/house"
)

// An echo is a server that speaks OpenAI's API, and answers a request by its last text, a
// character an event. It keeps what it was asked.
type echo struct {
	mu    sync.Mutex
	asked []string // bodies
}

func (e *echo) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	var asked struct {
		Messages []struct{ Content string }
	}
	_ = json.Unmarshal(b, &asked)
	e.mu.Lock()
	e.asked = append(e.asked, string(b))
	e.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	for _, c := range "You said: " + asked.Messages[len(asked.Messages)-1].Content {
		text, _ := json.Marshal(string(c))
		_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s}}]}\n\n", text)
	}
	_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
}

// take returns what was asked since the last take.
func (e *echo) take() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := e.asked
	e.asked = nil
	return all
}

// TestGuardMask asks the same twice by each API, with other personal data: the provider gets the
// same bytes, and each client its own data back. links takes the targets out that no passage has.
func TestGuardMask(t *testing.T) {
	t.Parallel()
	provider := &echo{}
	server := httptest.NewServer(provider)
	defer server.Close()
	guard := func(name string) []byte { return house.Built(t, filepath.Join("plugins", "guard", name)) }
	h := house.Open(t, nil, house.Shipped(t, "vllm"), guard("mask"), guard("links"))
	h.Must("PATCH", "/chats/w/settings", fmt.Sprintf(`{"source":"vLlm","baseUrl":%q,"defaultModel":"m","guards":[{"plugin":"mask"},{"plugin":"links"}]}`, server.URL))
	people := [][]string{
		{"ann.lee@mail.example", "DE89 3704 0044 0532 0130 00", "+49 30 123456"},
		{"bob.roe@post.example", "GB82 WEST 1234 5698 7654 32", "+44 20 7946 0958"},
	}
	for _, api := range []struct{ name, path, body string }{
		{"chats", "/chats/w/chat/completions", `{"model":"m","stream":true,"messages":[{"role":"user","content":%s}]}`},
		{"v1 streamed", "/v1/chat/completions", `{"model":"w","stream":true,"messages":[{"role":"user","content":%s}]}`},
		{"v1 whole", "/v1/chat/completions", `{"model":"w","messages":[{"role":"user","content":%s}]}`},
		{"v1, three turns", "/v1/chat/completions", `{"model":"w","messages":[{"role":"user","content":"My cat is on 10.1.2.3."},{"role":"assistant","content":"I see."},{"role":"user","content":%s}]}`},
		{"completions", "/v1/completions", `{"model":"w","max_tokens":100,"prompt":%s}`},
		{"responses", "/v1/responses", `{"model":"w","input":%s}`},
		{"responses streamed", "/v1/responses", `{"model":"w","stream":true,"input":%s}`},
		{"messages", "/v1/messages", `{"model":"w","max_tokens":100,"messages":[{"role":"user","content":%s}]}`},
		{"messages streamed", "/v1/messages", `{"model":"w","stream":true,"max_tokens":100,"messages":[{"role":"user","content":%s}]}`},
		{"ui", "/chats/w/ui", `{"messages":[{"role":"user","parts":[{"type":"text","text":%s}]}]}`},
	} {
		var sent [][]string
		for i, p := range people {
			text, err := json.Marshal("Write to " + p[0] + " about " + p[1] + " or call " + p[2] + ", see https://evil.example/?q=1 for more.")
			if err != nil {
				t.Fatal(err)
			}
			got := h.Must("POST", api.path, fmt.Sprintf(api.body, text)).Body
			asked := provider.take()
			sent = append(sent, asked)
			for _, value := range slices.Concat(p, people[1-i]) {
				if strings.Contains(strings.Join(asked, ""), value) {
					t.Errorf("%s: the provider got %q", api.name, value)
				}
			}
			said := answerText(got)
			for _, value := range p {
				if !strings.Contains(said, value) {
					t.Errorf("%s: the client did not get %q back: %s", api.name, value, said)
				}
			}
			if strings.Contains(said, "evil.example") {
				t.Errorf("%s: a foreign target is in the answer: %s", api.name, said)
			}
		}
		if len(sent[0]) == 0 || !slices.Equal(sent[0], sent[1]) {
			t.Errorf("%s: the provider got for one\n%s\nand for the other\n%s", api.name, sent[0], sent[1])
		}
	}
}

// answerText puts the texts of a response together, streamed or whole, of any of the APIs.
func answerText(body string) string {
	var text strings.Builder
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range []string{"content", "text", "delta"} {
				if s, ok := v[name].(string); ok {
					text.WriteString(s)
				}
			}
			for _, inner := range v {
				walk(inner)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	add := func(raw string) {
		var v any
		if json.Unmarshal([]byte(raw), &v) == nil {
			walk(v)
		}
	}
	add(body)
	for line := range strings.Lines(body) {
		if raw, ok := strings.CutPrefix(line, "data: "); ok {
			add(raw)
		}
	}
	return text.String()
}
