package httpapi_test

import (
	"strings"
	"testing"
)

// TestGuardsOfAllDoors asks a workspace of rules in every way that there is: none
// of them lets by what the rules forbid.
func TestGuardsOfAllDoors(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{})
	if a := r.do("PATCH", "/chats/demo/settings", `{"defaultModel":"m","clientMessages":"noSystem","clientTools":false,"maxInputBytes":300}`); a.status != 200 {
		t.Fatalf("PATCH = %d %s", a.status, a.body)
	}
	const tools = `"tools":[{"type":"function","function":{"name":"f"}}]`
	long := strings.Repeat("x", 400)
	v1 := func(name, path, body, param, says string) {
		t.Run(name, func(t *testing.T) {
			a := r.do("POST", path, body)
			checkErrorV1(t, a, 400, "invalid_request_error", "invalid_value", param)
			if !strings.Contains(a.body, says) {
				t.Errorf("error = %s, want %q", a.body, says)
			}
		})
	}
	v1("completions, system", "/v1/chat/completions", `{"model":"demo","messages":[{"role":"system","content":"a"},{"role":"user","content":"b"}]}`, "messages[0].role", "is not taken")
	v1("completions, tools", "/v1/chat/completions", `{"model":"demo","messages":[{"role":"user","content":"b"}],`+tools+`}`, "tools", "`clientTools`")
	v1("completions, long", "/v1/chat/completions", `{"model":"demo","messages":[{"role":"user","content":"`+long+`"}]}`, "messages", "takes 300")
	v1("responses, instructions", "/v1/responses", `{"model":"demo","instructions":"a","input":"b"}`, "instructions", "`instructions` is not taken")
	v1("responses, developer", "/v1/responses", `{"model":"demo","input":[{"role":"user","content":"b"},{"role":"developer","content":"a"}]}`, "input[1].role", "`input[1].role`")
	v1("responses, tools", "/v1/responses", `{"model":"demo","input":"b","tools":[{"type":"function","name":"f","parameters":{}}]}`, "tools", "`clientTools`")
	v1("responses, long", "/v1/responses", `{"model":"demo","input":"`+long+`"}`, "messages", "takes 300")
	if a := r.do("POST", completions, `{"messages":[{"role":"user","content":"b"}],`+tools+`}`); a.status != 400 || !strings.Contains(a.body, `"param":"tools"`) {
		t.Errorf("/chats with tools = %d %s", a.status, a.body)
	}
	if a := r.do("POST", completions, `{"messages":[{"role":"developer","content":"b"}]}`); a.status != 400 || !strings.Contains(a.body, `"param":"messages[0].role"`) {
		t.Errorf("/chats with a developer's message = %d %s", a.status, a.body)
	}
	ask := func(question string) string {
		return r.do("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{"workspace":"demo","question":"`+question+`"}}}`).body
	}
	if got := ask(long); !strings.Contains(got, "takes 300") || !strings.Contains(got, `"isError":true`) {
		t.Errorf("ask with a long question = %s", got)
	}
	if got := ask("b"); !strings.Contains(got, "Hello") {
		t.Errorf("ask = %s", got)
	}
}

// TestGuardsInTheLog has a request lose to a cap: the client is not told, and the
// log says it once.
func TestGuardsInTheLog(t *testing.T) {
	r := newRig(t, wish{})
	if a := r.do("PATCH", "/chats/demo/settings", `{"maxCompletionTokens":20}`); a.status != 200 {
		t.Fatalf("PATCH = %d %s", a.status, a.body)
	}
	a := r.do("POST", completions, strings.TrimSuffix(hello, "}")+`,"max_tokens":100000}`)
	if a.status != 200 || strings.Contains(a.body, "capped") {
		t.Fatalf("answer = %d %s", a.status, a.body)
	}
	r.client.CloseIdleConnections()
	if n := strings.Count(r.log.String(), "max_tokens 100000, capped at 20"); n != 1 {
		t.Errorf("the log names the cap %d times, want once:\n%s", n, r.log)
	}
}
