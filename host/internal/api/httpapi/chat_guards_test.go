package httpapi_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/plugin/guard/guardtest"
)

// TestGuardTrialEnds: what guards do for a trial ends when its client leaves.
func TestGuardTrialEnds(t *testing.T) {
	t.Parallel()
	slow := guardtest.NewMask("slow")
	slow.Hangs = make(chan struct{})
	r := newRig(t, wish{guards: guardtest.Plugins{"slow": slow}, limits: httpapi.Limits{Watch: 10 * time.Millisecond}})
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	req, err := http.NewRequestWithContext(ctx, "POST", r.url+"/chats/demo/guards/test", strings.NewReader(`{"stage":"question","text":"x","guards":[{"plugin":"slow"}]}`))
	check(t, err)
	req.Header.Set("Authorization", "Bearer "+master)
	req.Header.Set("Content-Type", "application/json")
	go func() {
		<-slow.Hangs // it was called
		leave()
	}()
	if res, err := r.client.Do(req); err == nil {
		res.Body.Close()
		t.Fatalf("the trial was answered: %d", res.StatusCode)
	}
	waitFor(t, slow.Hangs, "end of the guard's call")
}

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
