package chat_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/access/limit/limittest"
	"github.com/parley-search/parley/host/internal/api/openai"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/chattest"
)

// limited gives f a limiter, and its workspace a budget of a million tokens.
func (f *fixture) limited(t *testing.T) {
	t.Helper()
	f.deps.Limiter = limit.New(limit.Options{Storage: &limittest.Memory{}})
	f.Service = chat.New(f.deps)
	f.patch(t, "demo", `{"limits":{"parallel":1,"tokens":{"amount":1000000,"period":"total"}}}`)
}

// spent is what the workspace has spent, and asked for.
func (f *fixture) spent(t *testing.T) (tokens int64, counts limit.Counts) {
	t.Helper()
	p := limit.Party{Subject: limit.Workspace("demo"), Limits: f.workspace(t, "demo").Limits}
	var pass limit.Pass
	state, err := f.deps.Limiter.Admit(&pass, limit.Party{}, p, 0)
	if err != nil {
		t.Fatalf("an answer that ended still counts: %v", err)
	}
	pass.TakeBack()
	usage, err := f.deps.Limiter.Usage([]limit.Party{p})
	if err != nil {
		t.Fatal(err)
	}
	return state.Tokens.Limit - state.Tokens.Remaining, usage[0].Current.Counts
}

// TestSpent is what answers of all kinds cost.
func TestSpent(t *testing.T) {
	reserved := int64(len(hello)+3)/4 + 1000
	search := chattest.Script{Batches: [][]string{{"tool:0:c1:searchInIndex", `args:0:{"indexUid":"books","q":"a"}`, "finish:tool_calls", "usage:100,10"}}}
	for _, tt := range []struct {
		name         string
		scripts      []chattest.Script
		body         string
		tokens, more int64 // spent: at least, and at most so many more
		counts       int64 // requests
	}{
		{"counted", []chattest.Script{{Batches: [][]string{{"text:Hi", "finish:stop", "usage:7,5"}}}}, hello, 12, 0, 1},
		{"counted above what was reserved", []chattest.Script{{Batches: [][]string{{"text:Hi", "finish:stop", "usage:70000,5000"}}}}, hello, 75000, 0, 1},
		{"not counted", []chattest.Script{{Batches: [][]string{{"text:Hi", "finish:stop"}}}}, hello, reserved, 0, 1},
		{"not counted, short by request", []chattest.Script{{Batches: [][]string{{"text:Hi", "finish:stop"}}}}, asked(`"max_tokens":2`), 30, 2000, 1},
		{"not counted, and long", []chattest.Script{{Batches: [][]string{{"text:" + strings.Repeat("a", 40000), "finish:stop"}}}}, hello, 10000, 2000, 1},
		{"refused by the provider", []chattest.Script{{Status: http.StatusBadRequest, Body: "no"}}, hello, 0, 0, 1},
		{"two rounds", []chattest.Script{search, {Batches: [][]string{{"text:Hi", "finish:stop", "usage:200,20"}}}}, hello, 330, 0, 2},
		{"a second round that breaks", []chattest.Script{search, {Status: http.StatusInternalServerError}}, hello, 110, 0, 2},
		{"broken off", []chattest.Script{{Batches: [][]string{{"text:Hi"}}}}, hello, reserved, 0, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, tt.scripts...)
			f.limited(t)
			if a, err := f.Start(t.Context(), auth.Everyone(), "demo", []byte(tt.body)); err == nil {
				_ = a.WriteTo(openai.NewChunks(&transcript{t: t}, false))
			}
			tokens, counts := f.spent(t)
			if tokens < tt.tokens || tokens > tt.tokens+tt.more || counts.Requests != tt.counts {
				t.Errorf("spent %d tokens, %+v; want %d to %d, and %d requests", tokens, counts, tt.tokens, tt.tokens+tt.more, tt.counts)
			}
		})
	}
}

// TestSpentByLeaving has clients leave: before anything, in the middle, and without
// reading at all. What they were told is paid for, and nothing is left under way.
func TestSpentByLeaving(t *testing.T) {
	long := chattest.Script{Batches: [][]string{{"text:" + strings.Repeat("a", 40000)}}, Hang: true}
	f := newFixture(t, long, long)
	f.limited(t)
	a, err := f.Start(t.Context(), auth.Everyone(), "demo", []byte(hello))
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
	a.Close()
	first, _ := f.spent(t)
	if first < 10000 {
		t.Errorf("spent %d tokens by an answer that nobody read, want what the provider said of it", first)
	}
	ctx, leave := context.WithCancel(t.Context())
	if a, err = f.Start(ctx, auth.Everyone(), "demo", []byte(hello)); err != nil {
		t.Fatal(err)
	}
	leave()
	_ = a.WriteTo(openai.NewChunks(&transcript{t: t}, false))
	if tokens, _ := f.spent(t); tokens < 2*first {
		t.Errorf("spent %d tokens by two answers, want %d", tokens, 2*first)
	}
}

// TestNothingSpent refuses requests before a provider is asked: nobody pays.
func TestNothingSpent(t *testing.T) {
	f := newFixture(t)
	f.limited(t)
	f.patch(t, "demo", `{"apiKey":null}`)
	if e := f.refuse(t, hello); e.Code != chaterr.MissingChatAPIKey {
		t.Errorf("error %v", e)
	}
	if tokens, counts := f.spent(t); tokens != 0 || counts != (limit.Counts{}) {
		t.Errorf("spent %d tokens, %+v", tokens, counts)
	}
}
