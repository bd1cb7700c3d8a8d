package httpapi_test

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/chat/chattest"
)

// What a provider says around its deltas comes to the client of every route:
// streamed with the chunks, and in a whole answer joined.
func TestProviderFieldsPass(t *testing.T) {
	t.Parallel()
	answer := script(
		`outer:{"chunk":{"service_tier":"flex","system_fingerprint":"fp","citations":["https://a.example"]}}`+"\n"+`outer:{"choice":{"logprobs":{"content":[{"token":"a"}]}}}`+"\ntext:a",
		`outer:{"choice":{"logprobs":{"content":[{"token":"b"}]},"content_filter_results":{"hate":{"filtered":false}}}}`+"\ntext:b",
		"usage:1,2\nfinish:stop",
	)
	both := `"logprobs":{"content":[{"token":"a"},{"token":"b"}]}`
	for _, tt := range []struct {
		path, body string
		want       []string
	}{
		{completions, hello, []string{
			`"content":"a"},"logprobs":{"content":[{"token":"a"}]},"finish_reason":null`, `"content":"b"},"logprobs":{"content":[{"token":"b"}]},"content_filter_results":{"hate":{"filtered":false}},`,
			`"service_tier":"flex","system_fingerprint":"fp","citations":["https://a.example"],"choices":`,
		}},
		{"/v1/chat/completions", `{"model":"demo/m","logprobs":true,"messages":[{"role":"user","content":"x"}]}`, []string{
			both, `"service_tier":"flex"`, `"system_fingerprint":"fp"`, `"citations":["https://a.example"]`, `"content_filter_results":{"hate":{"filtered":false}}`, `"content":"ab"`,
		}},
		{"/v1/chat/completions", `{"model":"demo/m","stream":true,"messages":[{"role":"user","content":"x"}]}`, []string{`"content":"a"},"logprobs":{"content":[{"token":"a"}]}`, `"service_tier":"flex"`}},
		{responsesV1, `{"model":"demo/m","input":"x","include":["message.output_text.logprobs"]}`, []string{`"logprobs":[{"token":"a"},{"token":"b"}]`, `"service_tier":"flex"`}},
	} {
		r := newRig(t, wish{upstream: &chattest.Upstream{Scripts: []chattest.Script{answer}}})
		a := r.do("POST", tt.path, tt.body)
		for _, want := range tt.want {
			if a.status != 200 || !strings.Contains(a.body, want) {
				t.Errorf("%s = %d %s\nwant %s in it", tt.path, a.status, a.body, want)
			}
		}
	}
}
