package e2e

import "testing"

// TestEndByClose: an answer is whole once its provider has given a reason to finish,
// though it closes the connection behind that; and broken without one.
func TestEndByClose(t *testing.T) {
	t.Parallel()
	q := openQuirks(t, "vllm", "ollama", "gemini")
	event := func(data string) string { return "data: " + data + "\n\n" }
	for _, tt := range []struct{ source, whole, broken string }{
		{"vLlm", event(piece(`{"content":"Alpha"}`)) + event(finish("stop")), event(piece(`{"content":"Alpha"}`))},
		{"ollama", `{"message":{"content":"Alpha"},"done":true,"done_reason":"stop"}` + "\n", `{"message":{"content":"Alpha"},"done":false}` + "\n"},
		{
			"gemini", event(`{"candidates":[{"content":{"parts":[{"text":"Alpha"}]},"finishReason":"STOP"}]}`),
			event(`{"candidates":[{"content":{"parts":[{"text":"Alpha"}]}}]}`),
		},
	} {
		body := tt.whole
		q.workspace("ends", tt.source, "", func(asked) told { return told{body: body, cut: true} })
		q.want(tt.source+" with a reason to finish", q.v1("ends", ""), 200, `"content":"Alpha"`, `"finish_reason":"stop"`)
		body = tt.broken
		q.want(tt.source+" without", q.v1("ends", ""), 502, "broke off in the middle")
	}
}
