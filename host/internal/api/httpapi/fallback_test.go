package httpapi_test

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/chat/chattest"
)

// TestFallbackShown has another workspace answer: a header and one line of the log
// say which, at each door.
func TestFallbackShown(t *testing.T) {
	failing := chattest.Script{Status: 500, Body: "no"}
	hi := chattest.Script{Batches: [][]string{{"text:Hi", "finish:stop"}}}
	r := newRig(t, wish{upstream: &chattest.Upstream{Scripts: []chattest.Script{failing, hi, failing, hi, failing, hi, hi}}})
	r.do("PATCH", "/chats/spare/settings", `{"source":"test","apiKey":"`+demoKey+`"}`)
	if a := r.do("PATCH", "/chats/demo/settings", `{"fallback":["spare"]}`); a.status != 200 || !strings.Contains(a.body, `"fallback":["spare"]`) {
		t.Fatalf("PATCH = %d %s", a.status, a.body)
	}
	for _, tt := range [][2]string{{completions, hello}, {"/v1/chat/completions", helloV1}, {"/v1/responses", `{"model":"demo/m","input":"a"}`}} {
		a := r.do("POST", tt[0], tt[1])
		if a.status != 200 || a.header.Get("X-Parley-Workspace") != "spare" || !strings.Contains(a.body, "Hi") {
			t.Errorf("%s = %d %v %s, want an answer of spare", tt[0], a.status, a.header, a.body)
		}
	}
	if a := r.do("POST", completions, hello); a.header.Get("X-Parley-Workspace") != "demo" {
		t.Errorf("an answer of its own: %v", a.header)
	}
	if n := strings.Count(r.log.String(), `"instead_of":["demo: llm_provider_error"],"workspace":"spare"`); n != 3 {
		t.Errorf("the log has %d lines of it, want one an answer:\n%s", n, r.log)
	}
}
