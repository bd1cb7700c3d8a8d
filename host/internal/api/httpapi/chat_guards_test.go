package httpapi_test

import (
	"strings"
	"testing"
)

// TestGuardTrial shows what a workspace's guards make of a text.
func TestGuardTrial(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{})
	for _, tt := range []struct {
		uid, body string
		status    int
		want      string
	}{
		{"demo", `{"stage":"question","text":"I am a@b.example"}`, 200, `{"text":"I am a@b.example","calls":[],"notes":[],"blocked":null}`},
		{"demo", `{"stage":"question","text":"I am a@b.example","guards":[{"plugin":"mask"}]}`, 200, `{"text":"I am <E1>","calls":[{"guard":"mask","action":"edit","edits":1}],"notes":[{"guard":"mask","label":"address"}],"blocked":null}`},
		{"demo", `{"stage":"answer","text":"a forbidden word","guards":[{"plugin":"mask"}]}`, 200, `"blocked":{"guard":"mask","how":"refusal","message":"We do not talk about this."}`},
		{"demo", `{"stage":"passages","text":"a forbidden word","guards":[{"plugin":"mask"}]}`, 200, `"blocked":{"guard":"mask","how":"leftOut","message":""}`},
		{"demo", `{"stage":"arguments","text":"{\"a\": 1}","guards":[{"plugin":"mask"}]}`, 200, `"text":"{\"a\": 1}"`},
		{"demo", `{"stage":"doors","text":"x"}`, 400, "`stage` must be one of"},
		{"demo", `{"stage":"answer"}`, 400, "`text`"},
		{"demo", `{"stage":"answer","text":"x","words":1}`, 400, "Unknown field"},
		{"demo", `{"stage":"answer","text":"x","guards":[{"plugin":"none"}]}`, 400, "no guard of this name is loaded"},
		{"nobody", `{"stage":"answer","text":"x"}`, 404, "chat_not_found"},
	} {
		got := r.do("POST", "/chats/"+tt.uid+"/guards/test", tt.body)
		if got.status != tt.status || !strings.Contains(got.body, tt.want) {
			t.Errorf("%s: %d %s, want %d %s", tt.body, got.status, got.body, tt.status, tt.want)
		}
	}
}
