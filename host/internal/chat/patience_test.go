package chat_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/chat/chattest"
)

// A provider's limit in a later round is waited out once, where the client has no
// text yet and the provider says how long.
func TestLimitInLaterRound(t *testing.T) {
	limit := func(after string) chattest.Script {
		return chattest.Script{Status: 429, Head: chattest.Head("x-kind", "rate_limit", "Retry-After-Ms", after), Body: "slow down"}
	}
	look := say(search(0, "a", alien), "finish:tool_calls")
	tests := []struct {
		name    string
		scripts []chattest.Script
		retries int
		says    string // of the failure; empty: there is none
	}{
		{"waited out", []chattest.Script{look, limit("1"), say("text:Alien", "finish:stop")}, 1, ""},
		{"once", []chattest.Script{look, limit("1"), limit("1"), say("text:Alien", "finish:stop")}, 1, "slow down"},
		{"too long", []chattest.Script{look, limit("11000"), say("text:Alien", "finish:stop")}, 0, "slow down. Ask again in 11 seconds."},
		{"not said how long", []chattest.Script{look, limit(""), say("text:Alien", "finish:stop")}, 0, "slow down"},
		{"behind text", []chattest.Script{say("text:Let me see.", search(0, "a", alien), "finish:tool_calls"), limit("1"), say("text:Alien", "finish:stop")}, 0, "slow down"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tr := newFixture(t, tt.scripts...).ask(t, hello)
			if tr.outcome.Retries != tt.retries || (tr.outcome.Err == nil) != (tt.says == "") || tr.outcome.Err != nil && !strings.Contains(tr.outcome.Err.Message, tt.says) {
				t.Errorf("retries %d, failure %v; want %d and %q", tr.outcome.Retries, tr.outcome.Err, tt.retries, tt.says)
			}
		})
	}
}

// A workspace says how long its provider has for the head of its response, and the
// error of one that took longer names the setting.
func TestFirstByteSeconds(t *testing.T) {
	late := chattest.Script{Err: &outbound.Error{Kind: outbound.Timeout, Over: outbound.LimitFirstByte, Message: "the provider did not answer within 1m0s"}}
	f := newFixture(t, say("text:Hi", "finish:stop"), late)
	f.patch(t, "demo", `{"firstByteSeconds":300}`)
	f.ask(t, hello)
	if got := f.upstream.Sent()[0].FirstByte; got != 300*time.Second {
		t.Errorf("the provider has %v, want 300s", got)
	}
	if s, _ := f.patch(t, "demo", `{"firstByteSeconds":null}`); s.FirstByteSeconds != nil {
		t.Errorf("firstByteSeconds is %v after null", *s.FirstByteSeconds)
	}
	err := f.refuse(t, hello)
	if err.Code != chaterr.LLMProviderTimeout || !strings.Contains(err.Message, "`firstByteSeconds`") || !strings.Contains(err.Message, "--provider-first-byte-timeout") {
		t.Errorf("error %v, want one that names the setting and the option", err)
	}
	if got := f.upstream.Sent()[1].FirstByte; got != 0 {
		t.Errorf("the provider has %v, want the host's time", got)
	}
}

// The error for a limit of time names what sets that limit, and nothing that does not.
func TestTimeoutRemedy(t *testing.T) {
	everything := []string{
		"--provider-first-byte-timeout", "`firstByteSeconds`", "timeouts.firstByteSeconds", "--provider-silence-timeout", "timeouts.silenceSeconds",
		"--provider-timeout-max", "--provider-answer-timeout",
	}
	for _, tt := range []struct {
		over outbound.TimeLimit
		want []string
	}{
		{outbound.LimitFirstByte, []string{"--provider-first-byte-timeout", "`firstByteSeconds`", "timeouts.firstByteSeconds", "--provider-timeout-max"}},
		{outbound.LimitSilence, []string{"--provider-silence-timeout", "timeouts.silenceSeconds", "--provider-timeout-max"}},
		{outbound.LimitWhole, []string{"--provider-answer-timeout"}},
		{0, nil}, // a token did not come, or the answer's own time is over
	} {
		f := newFixture(t, chattest.Script{Err: &outbound.Error{Kind: outbound.Timeout, Over: tt.over, Message: "late"}})
		err := f.refuse(t, hello)
		for _, name := range everything {
			if got := strings.Contains(err.Message, name); err.Code != chaterr.LLMProviderTimeout || got != slices.Contains(tt.want, name) {
				t.Errorf("limit %d: %s names %s: %t", tt.over, err.Message, name, got)
			}
		}
	}
}
