package chat

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/parley-search/parley/host/internal/chat/workspace"
)

// readRequest parses and checks a request.
func readRequest(body []byte) (*request, error) {
	q, err := ParseRequest(body)
	if err != nil {
		return nil, err
	}
	return q.check()
}

// What is kept of a request is not a part of its body.
func TestRequestLetsBodyGo(t *testing.T) {
	body := []byte(`{"model":"m","messages":[{"role":"user","content":"hi"}],"stop":["a"],"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"auto"}`)
	r, err := readRequest(body)
	if err != nil {
		t.Fatal(err)
	}
	c := newConversation(r, &workspace.PromptTexts{}, nil, 0)
	want := string(c.roundBody(0, false))
	clear(body)
	if got := string(c.roundBody(0, false)); got != want {
		t.Errorf("the conversation became %s with the body, want %s", got, want)
	}
	if !r.tools.names["f"] || r.model != "m" {
		t.Errorf("functions became %v and the model %q with the body", r.tools.names, r.model)
	}
}

// BenchmarkRequest is a request read and made a round's body: a question, and
// 10,000 messages.
func BenchmarkRequest(b *testing.B) {
	for _, messages := range []int{1, 10_000} {
		var body bytes.Buffer
		body.WriteString(`{"model":"m","stream":true,"messages":[`)
		for i := range messages {
			if i > 0 {
				body.WriteByte(',')
			}
			fmt.Fprintf(&body, `{"role":"user","content":"message %d"}`, i)
		}
		body.WriteString(`]}`)
		b.Run(fmt.Sprint(messages), func(b *testing.B) {
			b.SetBytes(int64(body.Len()))
			b.ReportAllocs()
			for b.Loop() {
				r, err := readRequest(body.Bytes())
				if err != nil {
					b.Fatal(err)
				}
				c := newConversation(r, &workspace.PromptTexts{System: new("Be brief.")}, nil, 0)
				if len(c.roundBody(0, false)) < body.Len() {
					b.Fatal("the body is shorter than what came")
				}
			}
		})
	}
}
