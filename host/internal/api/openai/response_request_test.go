package openai

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/chat/chattest"
)

// nothing is kept.
type nothing struct{}

func (nothing) Item(string) (json.RawMessage, bool) { return nil, false }

func (nothing) State(string) string { return "" }

// Chats take text of tools alone: a picture that one gave comes in a message of the
// user's, behind the outputs of all calls of the turn.
func TestResponsePictureOfTool(t *testing.T) {
	r, err := ParseResponse([]byte(`{"model":"m","input":[{"role":"user","content":"a"},
		{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call","call_id":"c2","name":"f","arguments":"{}"},
		{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"1"},{"type":"input_image","image_url":"data:image/png;base64,AA=="}]},
		{"type":"function_call_output","call_id":"c2","output":[{"type":"input_image","image_url":"data:image/png;base64,AB=="}]},{"role":"user","content":"b"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	q, err := r.Ask(nil, nothing{})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"content":[{"text":"1","type":"text"}],"role":"tool","tool_call_id":"c1"},{"content":"What this gave follows.","role":"tool","tool_call_id":"c2"},` +
		`{"content":[{"image_url":{"url":"data:image/png;base64,AA=="},"type":"image_url"},{"image_url":{"url":"data:image/png;base64,AB=="},"type":"image_url"}],"role":"user"},{"content":"b","role":"user"}`
	if body := chattest.Completion(q); !strings.Contains(body, want) {
		t.Errorf("Ask() = %s, want %s in it", body, want)
	}
	if got := q.Messages[4].At; got != "input[4]" {
		t.Errorf("message 4 is at %q, want where the picture is", got)
	}
}
