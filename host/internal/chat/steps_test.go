package chat_test

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/chattest"
)

// polling is a fixture whose plugin may take steps.
func polling(t *testing.T, scripts ...chattest.Script) *fixture {
	f := newFixture(t, scripts...)
	f.source.Is.Features = []string{abi.FeatureAgain, abi.FeatureRequestID}
	return f
}

// TestSteps: a provider that creates, polls and fetches is one round, and encode is given
// what the step before left.
func TestSteps(t *testing.T) {
	f := polling(t,
		say("carry:job ", "carry:1", "again:1,cancel"), say("again:0"), say("carry:job 2", "again:0,cancel", "text:not any more"),
		say("text:Hello", "carry:kept", search(0, "c", alien), "finish:tool_calls", "usage:1,2"), say("text: again", "finish:stop", "usage:1,2"))
	f.deps.RequestOf = func(context.Context) string { return "r-1" }
	f.Service = chat.New(f.deps)
	tr := f.ask(t, hello)
	if got := tr.field("content"); got != "Hello again" || tr.outcome.Rounds != 2 || tr.outcome.Finish != "stop" || tr.outcome.Usage.Total != 6 {
		t.Errorf("content %q, outcome %+v; want Hello again of two rounds", got, tr.outcome)
	}
	text := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	want := []abi.EncodeRequest{
		{},
		{Step: 1, StepCarry: text("job 1")},
		{Step: 2, StepCarry: text("job 1")},
		{Step: 3, StepCarry: text("job 2")},
		{Round: 1, Carry: []string{text("kept")}},
	}
	asked := f.source.Requests()
	if len(asked) != len(want) {
		t.Fatalf("encode was asked %d times, want %d", len(asked), len(want))
	}
	for i, w := range want {
		got := asked[i]
		if got.Step != w.Step || got.StepCarry != w.StepCarry || got.Round != w.Round || strings.Join(got.Carry, " ") != strings.Join(w.Carry, " ") || got.Cancelled || got.RequestID != "r-1" {
			t.Errorf("encode %d was asked with step %d, stepCarry %q, round %d, carry %q, cancelled %v, request %q; want %+v of r-1", i, got.Step, got.StepCarry, got.Round, got.Carry, got.Cancelled, got.RequestID, w)
		}
	}
}

// TestStepsWithText: what a step says is shown before the next one.
func TestStepsWithText(t *testing.T) {
	f := polling(t, say("text:Hel", "again:0"), say("text:lo", "finish:stop"))
	if tr := f.ask(t, hello); tr.field("content") != "Hello" || len(f.upstream.Sent()) != 2 {
		t.Errorf("content %q of %d requests, want Hello of 2", tr.field("content"), len(f.upstream.Sent()))
	}
}

// TestStepsFailing: a failure in a later step has a status of its own, as one in the first.
// A job that the provider ended is not called off.
func TestStepsFailing(t *testing.T) {
	f := polling(t, say("again:0,cancel"), say(`error:{"kind":"invalid_request","message":"bad prompt"}`))
	if e := f.refuse(t, hello); e.Code.String() != "llm_provider_rejected_request" || !strings.Contains(e.Message, "bad prompt") {
		t.Errorf("refused with %v, want llm_provider_rejected_request", e)
	}
	if n := len(f.source.Requests()); n != 2 {
		t.Errorf("encode was asked %d times, want 2", n)
	}
	f = newFixture(t, say("again:0"))
	if e := f.refuse(t, hello); e.Code.String() != "llm_provider_error" {
		t.Errorf("again without the feature: %v, want a failed plugin", e)
	}
}

//parley:option chat-max-steps
func TestStepsEnd(t *testing.T) {
	for name, tt := range map[string]struct {
		own   abi.Steps
		host  int
		says  string
		steps int
	}{
		"by the manifest": {abi.Steps{Requests: 3}, 0, "`steps` of its manifest", 3},
		"by the host":     {abi.Steps{Requests: 3}, 2, "--chat-max-steps", 2},
	} {
		f := polling(t, say("again:0,cancel"))
		f.source.Is.Steps, f.deps.Limits.Steps = tt.own, tt.host
		f.Service = chat.New(f.deps)
		e := f.refuse(t, hello)
		if e.Code.String() != "llm_provider_timeout" || !strings.Contains(e.Message, tt.says) {
			t.Errorf("%s: %v, want llm_provider_timeout that names %s", name, e, tt.says)
		}
		asked := f.source.Requests()
		if last := asked[len(asked)-1]; len(asked) != tt.steps+2 || !last.Cancelled || asked[len(asked)-2].Step != tt.steps {
			t.Errorf("%s: %d calls of encode, the last %+v; want %d steps, and one that calls off", name, len(asked), last, tt.steps)
		}
		waittest.For(t, "the request that calls off", func() bool { return len(f.upstream.Sent()) == tt.steps+2 && f.upstream.Open() == 0 })
	}
}

// TestStepsCalledOff: where the client leaves while the provider works, it is told so.
func TestStepsCalledOff(t *testing.T) {
	f := polling(t, say("carry:job 1", "again:60000,cancel"))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		waittest.Until(func() bool { return len(f.upstream.Sent()) == 1 })
		cancel()
	}()
	_, err := f.Start(ctx, auth.Everyone(), "demo", []byte(hello))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Start: %v, want that it was canceled", err)
	}
	asked := f.source.Requests()
	if last := asked[len(asked)-1]; len(asked) != 2 || !last.Cancelled || last.Step != 1 || last.StepCarry != base64.StdEncoding.EncodeToString([]byte("job 1")) {
		t.Errorf("encode was asked %d times, last with %+v; want a request that calls off", len(asked), last)
	}
	waittest.For(t, "the request that calls off", func() bool { return len(f.upstream.Sent()) == 2 && f.upstream.Open() == 0 })
}
