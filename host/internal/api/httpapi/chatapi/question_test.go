package chatapi_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/api/httpapi/chatapi"
	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/api/openai/responses"
	"github.com/parley-search/parley/host/internal/chat/chattest"
)

// Each parser makes the same question of what its clients send, and says what they call
// its parts.
func TestParsers(t *testing.T) {
	for _, tt := range []struct {
		name  string
		parse chatapi.Parser
		body  string
		at    string // of the last message and of the tool; empty: as a chat completion has them
		tool  string
	}{
		{"chats", chatapi.ParseChat, `{"model":"m","messages":[{"role":"user","content":"q"}],"tools":[{"type":"function","function":{"name":"f"}}]}`, "", ""},
		{"ui", chatapi.ParseUI, `{"messages":[{"role":"user","parts":[{"type":"text","text":"q"}]}],"tools":[{"type":"function","function":{"name":"f"}}]}`, "messages[0]", ""},
		{"v1", chatapi.ParseV1, `{"model":"w","messages":[{"role":"user","content":"q"}],"tools":[{"type":"function","function":{"name":"f"}}]}`, "", ""},
		{"text", chatapi.ParseText, `{"model":"w","prompt":"q"}`, "", ""},
		{"message", chatapi.ParseMessage, `{"model":"w","max_tokens":9,"messages":[{"role":"user","content":"q"}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}`, "messages[0]", "tools[0].name"},
		{"response", chatapi.ParseResponse, `{"model":"w","input":[{"role":"user","content":"q"}],"tools":[{"type":"namespace","name":"n","tools":[{"type":"function","name":"f"}]}]}`, "input[0]", "tools[0].tools[0].name"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var q *chatapi.Question
			app := fiber.New()
			app.Post("/:uid", func(c *fiber.Ctx) (err error) {
				s := &chatapi.Server{Deps: chatapi.Deps{Responses: responses.New(responses.Options{})}}
				q, err = tt.parse(s, &request.Call{Ctx: c, Caller: auth.Everyone()}, []byte(tt.body))
				return err
			})
			if _, err := app.Test(httptest.NewRequest("POST", "/w", nil)); err != nil || q == nil {
				t.Fatalf("parsed %v, %v; want a question", q, err)
			}
			asked := chattest.Completion(q.Chat)
			if n := len(q.Chat.Messages); n != 1 || q.Chat.Messages[0].At != tt.at || !strings.Contains(asked, `"content":"q"`) {
				t.Errorf("asked %s with messages %v; want one that says q, at %q", asked, q.Chat.Messages, tt.at)
			}
			for _, tool := range q.Chat.Tools {
				if tool.At != tt.tool || !strings.Contains(string(tool.JSON), `"type":"function"`) {
					t.Errorf("tool %s at %q; want a function at %q", tool.JSON, tool.At, tt.tool)
				}
			}
			if want := 1; tt.name != "text" && len(q.Chat.Tools) != want {
				t.Errorf("%d tools, want %d", len(q.Chat.Tools), want)
			}
			if _, whole := q.Sink(nil).(chatapi.Whole); !whole && tt.name != "chats" && tt.name != "ui" {
				t.Error("the sink of no stream makes no whole answer")
			}
			if q.Chat.Size() < len(`{"messages":[{"role":"user","content":"q"}]}`) {
				t.Errorf("Size() = %d for %s", q.Chat.Size(), asked)
			}
		})
	}
}
