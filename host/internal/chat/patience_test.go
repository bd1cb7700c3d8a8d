package chat_test

import (
	"strings"
	"testing"

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
