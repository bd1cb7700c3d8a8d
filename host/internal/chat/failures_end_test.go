package chat_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/api/openai"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/chattest"
	"github.com/parley-search/parley/host/internal/chat/workspace"
	"github.com/parley-search/parley/host/internal/plugin/provider"
)

func TestPluginErrors(t *testing.T) {
	for _, tt := range []struct {
		err  error
		code apierr.Code
		want string
	}{
		{&provider.CallError{Kind: provider.Declared, Code: abi.CodeRefused, Message: "no images"}, chaterr.LLMProviderRejectedRequest, "says: no images"},
		{&provider.CallError{Kind: provider.TooLarge, Message: "the conversation is too large"}, chaterr.LLMProviderRejectedRequest, "send fewer"},
		{&provider.CallError{Kind: provider.Unavailable, Message: "it rests", RetryAfter: time.Minute}, chaterr.ChatProviderUnavailable, "it rests"},
		{&provider.CallError{Kind: provider.Fault, Message: "it trapped", Err: errors.New("stack")}, chaterr.LLMProviderError, "it trapped"},
		{errors.New("a secret path"), chaterr.LLMProviderError, "cannot be used"},
	} {
		f := newFixture(t, say("finish:stop"))
		f.source.EncodeErr = tt.err
		e := f.refuse(t, hello)
		if e.Code != tt.code || !strings.Contains(e.Message, tt.want) || strings.Contains(e.Message, "secret path") || !errors.Is(e, tt.err) {
			t.Errorf("encode fails with %v: %v, want %s with %q", tt.err, e, tt.code, tt.want)
		}
		f = newFixture(t, refusal(401, "x"))
		f.source.ErrorErr = tt.err
		if e := f.refuse(t, hello); e.Code != chaterr.LLMProviderUnauthorized || !errors.Is(e, tt.err) {
			t.Errorf("error fails with %v: %v, want what the status says", tt.err, e)
		}
	}
}

// TestDeclaredForTheLog: of what a plugin declares, the client is told only what
// is meant for it; the rest is the failure's cause.
func TestDeclaredForTheLog(t *testing.T) {
	for code, shown := range map[uint32]bool{abi.CodeMalformed: false, abi.CodeRefused: true, abi.CodeFailed: false, 0: false, 77: false} {
		f := newFixture(t, say("finish:stop"))
		f.source.EncodeErr = &provider.CallError{Kind: provider.Declared, Code: code, Message: "the inner words, with " + demoKey}
		e := f.refuse(t, hello)
		if strings.Contains(e.Message, "inner words") != shown {
			t.Errorf("code %d: the client is told %q; its words are to be shown: %v", code, e.Message, shown)
		}
		failure, ok := errors.AsType[*chat.Failure](e.Err)
		if !ok || failure.Plugin != "test" || failure.PluginVersion != "1.0.0" || failure.Source == "" {
			t.Fatalf("code %d: failure %+v, want it to name source, plugin and version", code, failure)
		}
		logged := fmt.Sprint(failure.Logged())
		if strings.Contains(logged, "inner words") == shown || strings.Contains(logged, demoKey) || strings.HasPrefix(failure.Kind, "plugin_refused") != shown {
			t.Errorf("code %d: kind %s, logged %s; the words are for the log: %v", code, failure.Kind, logged, !shown)
		}
	}
}

// TestErrorForTheLog: an error of kind plugin is the plugin's own; its words are for the
// log, wherever it comes.
func TestErrorForTheLog(t *testing.T) {
	for name, script := range map[string]chattest.Script{
		"in a response":        say(`error:{"kind":"plugin","message":"the inner words"}`),
		"of a failed response": refusal(500, "the inner words", "x-kind", "plugin"),
	} {
		f := newFixture(t, script)
		e := f.refuse(t, hello)
		failure, ok := errors.AsType[*chat.Failure](e.Err)
		if e.Code != chaterr.LLMProviderError || strings.Contains(e.Message, "inner words") || !strings.Contains(e.Message, "the host's log") || !ok {
			t.Fatalf("%s: %v, want %s that points at the log", name, e, chaterr.LLMProviderError)
		}
		if logged := fmt.Sprint(failure.Logged()); !strings.Contains(logged, "the inner words") || !strings.HasPrefix(failure.Kind, "plugin_") {
			t.Errorf("%s: kind %s, logged %q, want a plugin's failure with its words", name, failure.Kind, logged)
		}
	}
}

// TestForgottenFinish: a stream that a plugin neither finishes nor ends by an error is a
// failure of the plugin.
func TestForgottenFinish(t *testing.T) {
	tr := newFixture(t, say("text:half")).ask(t, hello)
	if want := "the plugin test 1.0.0 wrote neither finish nor error"; !strings.Contains(tr.raw.String(), want) {
		t.Errorf("the client got %s, want %q in it", tr.raw.String(), want)
	}
}

// TestFailureKinds are as fine as plugins and requests tell them, and of no
// others.
func TestFailureKinds(t *testing.T) {
	for want, script := range map[string]chattest.Script{
		"overloaded":         refusal(503, "x", "x-kind", "overloaded"),
		"not_found":          refusal(404, "x", "x-kind", "not_found"),
		"rate_limit":         refusal(429, "x", "x-kind", "rate_limit"),
		"context_length":     say(`error:{"kind":"context_length","message":"too long"}`),
		"upstream":           say(`error:{"kind":"made up","message":"x"}`),
		"network_timeout":    {Err: broken(outbound.Timeout, false)},
		"network_refused":    {Err: broken(outbound.Refused, false)},
		"network_connection": {Err: broken(outbound.Connect, false)},
		"plugin_fault":       say("fault:"),
		"other":              say(),
	} {
		f := newFixture(t, script)
		e := f.refuse(t, hello)
		failure, ok := errors.AsType[*chat.Failure](e.Err)
		if want == "network_connection" {
			want = "network_" + string(outbound.Connect)
		}
		if !ok || failure.Kind != want {
			t.Errorf("%v: failure %+v, want the kind %s", e, failure, want)
		}
	}
}

// TestProviderMessage is bounded, in UTF-8, and without the key in any form.
func TestProviderMessage(t *testing.T) {
	long := strings.Repeat("é", 5000)
	for _, tt := range []struct{ name, body string }{
		{"key", "Incorrect API key provided: " + demoKey + "."},
		{"key in base64", "c2stMDEyMzQ1Njc4OS1zZWNyZXQ="},
		{"cut key", "You sent " + demoKey[:12]},
		{"long", long},
		{"not UTF-8", "caf\xe9"},
	} {
		f := newFixture(t, refusal(400, tt.body))
		e := f.refuse(t, hello)
		if strings.Contains(e.Message, demoKey[:12]) || strings.Contains(e.Message, "c2stMDEy") || len(e.Message) > 2200 || strings.ToValidUTF8(e.Message, "") != e.Message {
			t.Errorf("%s: message %q", tt.name, e.Message)
		}
		if seen := fmt.Sprint(f.source.Errors()); strings.Contains(seen, demoKey) {
			t.Errorf("%s: the plugin sees the key: %.300s", tt.name, seen)
		}
	}
	s := say("text:x", `error:{"kind":"auth","message":"bad key `+demoKey+`"}`)
	if tr := newFixture(t, s).ask(t, hello); strings.Contains(tr.raw.String(), demoKey) {
		t.Errorf("the key is in the stream: %s", tr.raw.String())
	}
}

func TestUnreadableKey(t *testing.T) {
	f := newFixture(t, say("finish:stop"))
	err := f.workspaces.UpdateWorkspace(t.Context(), "demo", func(w *workspace.Workspace) (*workspace.Workspace, error) {
		w.APIKey, w.KeyUnreadable = secret.Text{}, true
		return w, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if e := f.refuse(t, hello); e.Code != chaterr.MissingChatAPIKey || !strings.Contains(e.Message, "another master key") {
		t.Errorf("Start: %v", e)
	}
	if s, err := f.Workspace(t.Context(), "demo"); err != nil || *s.APIKey != "XXX..." {
		t.Errorf("apiKey of GET = %v, %v", s.APIKey, err)
	}
	f.patch(t, "demo", `{"apiKey":"XXX...","orgId":"o"}`)
	if !f.workspace(t, "demo").KeyUnreadable {
		t.Error("a PATCH with the key obfuscated took it away")
	}
	f.patch(t, "demo", `{"apiKey":"sk-new"}`)
	f.ask(t, hello)
}

func TestAnswerTimeout(t *testing.T) {
	f := newFixture(t, chattest.Script{Hang: true})
	f.deps.Limits.Answer = time.Millisecond
	f.Service = chat.New(f.deps)
	if e := f.refuse(t, hello); e.Code != chaterr.LLMProviderTimeout {
		t.Errorf("Start: %v", e)
	}
	s := say("text:x")
	s.Hang = true
	// A limit that is long enough for the first event is found by trying: it
	// depends on the machine.
	for limit := 20 * time.Millisecond; ; limit *= 2 {
		f = newFixture(t, s)
		f.deps.Limits.Answer = limit
		f.Service = chat.New(f.deps)
		a, err := f.Start(t.Context(), auth.Everyone(), "demo", []byte(hello))
		if apierr.Is(err, chaterr.LLMProviderTimeout) && limit < 10*time.Second {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		tr := &transcript{t: t}
		if err := a.WriteTo(openai.NewChunks(tr, false)); err != nil || tr.failureCode() != "llm_provider_timeout" || !tr.done {
			t.Errorf("WriteTo: %v, failure %q", err, tr.failureCode())
		}
		return
	}
}

// TestCancel ends the answer wherever it is, without a frame nobody reads.
func TestCancel(t *testing.T) {
	hang := say("text:x")
	hang.Hang = true
	searching := []chattest.Script{say("text:x", search(0, "a", `{"indexUid":"movies","q":"hang"}`), "finish:tool_calls"), say("finish:stop")}
	for name, scripts := range map[string][]chattest.Script{"provider": {hang}, "search": searching} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, scripts...)
			ctx, cancel := context.WithCancel(t.Context())
			f.searcher.Began = func(context.Context, string) { cancel() }
			a, err := f.Start(ctx, auth.Everyone(), "demo", []byte(hello))
			if err != nil {
				t.Fatal(err)
			}
			w := &leaver{}
			if name == "provider" {
				w.after = cancel
			}
			if err := a.WriteTo(openai.NewChunks(w, false)); !errors.Is(err, context.Canceled) {
				t.Errorf("WriteTo: %v, want %v", err, context.Canceled)
			}
			if o := a.Outcome(); !o.Cancelled || o.Err != nil {
				t.Errorf("outcome = %+v", o)
			}
			if n := f.upstream.Open(); n != 0 {
				t.Errorf("%d responses of the provider were left open", n)
			}
			if name == "search" && len(f.upstream.Sent()) != 1 {
				t.Error("the next round was begun after the client had left")
			}
		})
	}
	f := newFixture(t, chattest.Script{Hang: true})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, cancel)
	if _, err := f.Start(ctx, auth.Everyone(), "demo", []byte(hello)); !errors.Is(err, context.Canceled) {
		t.Errorf("Start: %v, want %v", err, context.Canceled)
	}
}

// A leaver is a client that reads one write, and then has what happens next
// happen.
type leaver struct {
	after  func()
	err    error
	writes int
}

func (l *leaver) WriteFrames(frames []byte, _ bool) error {
	if len(frames) > 0 {
		l.writes++
		if l.err != nil {
			return l.err
		}
	}
	if l.after != nil {
		l.after()
	}
	return nil
}

func TestWriteFails(t *testing.T) {
	f := newFixture(t, say("text:x", "text:y", "finish:stop"))
	a, err := f.Start(t.Context(), auth.Everyone(), "demo", []byte(hello))
	if err != nil {
		t.Fatal(err)
	}
	gone := errors.New("broken pipe")
	w := &leaver{err: gone}
	if err := a.WriteTo(openai.NewChunks(w, false)); !errors.Is(err, gone) || w.writes != 1 {
		t.Errorf("WriteTo: %v after %d writes, want the writer's error after 1", err, w.writes)
	}
	if o := a.Outcome(); !o.Cancelled || f.upstream.Open() != 0 {
		t.Errorf("outcome %+v, %d responses open", o, f.upstream.Open())
	}
}

// TestUnwrittenAnswer is closed without having been written.
func TestUnwrittenAnswer(t *testing.T) {
	s := say("text:x")
	s.Hang = true
	f := newFixture(t, s)
	a, err := f.Start(t.Context(), auth.Everyone(), "demo", []byte(hello))
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
	a.Close()
	if n := f.upstream.Open(); n != 0 {
		t.Errorf("%d responses are open", n)
	}
	if err := a.WriteTo(openai.NewChunks(&transcript{}, false)); !errors.Is(err, context.Canceled) {
		t.Errorf("WriteTo of a closed answer: %v, want %v", err, context.Canceled)
	}
}

// TestAnswersHammer runs answers of all kinds side by side, and finds no
// goroutine and no response left.
func TestAnswersHammer(t *testing.T) {
	before := runtime.NumGoroutine()
	f := newFixture(t)
	f.source.Reply = nil
	bodies := []string{hello, withTools("mine", "searchSources"), `{"model":"m"}`}
	f.upstream.Scripts = nil
	for range 50 {
		f.upstream.Scripts = append(f.upstream.Scripts,
			say("text:x", search(0, "a", alien)+"\n"+search(1, "b", alien), "finish:tool_calls"), say("text:x", "finish:stop", "[DONE]"), say("text:x"), refusal(500, "x"), chattest.Script{Err: broken(outbound.Connect, true)})
	}
	var begun, ended atomic.Int64
	done := make(chan struct{})
	const workers = 8
	for w := range workers {
		go func() {
			defer func() { done <- struct{}{} }()
			for i := range 30 {
				ctx, cancel := context.WithCancel(t.Context())
				a, err := f.Start(ctx, auth.Everyone(), "demo", []byte(bodies[(i+w)%len(bodies)]))
				if err == nil {
					begun.Add(1)
					after := func() {}
					if i%5 == 0 {
						after = cancel
					}
					if a.WriteTo(openai.NewChunks(&leaver{after: after}, false)) == nil {
						ended.Add(1)
					}
				}
				cancel()
			}
		}()
	}
	for range workers {
		<-done
	}
	eventually(t, "goroutines and responses are gone", func() bool {
		return runtime.NumGoroutine() <= before && f.upstream.Open() == 0
	})
	if begun.Load() == 0 || ended.Load() == 0 {
		t.Errorf("%d answers began and %d were written to their end, want some", begun.Load(), ended.Load())
	}
}

// eventually waits for something that another goroutine is about to do.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	if !waittest.Until(ok) {
		t.Errorf("not in a minute: %s", what)
	}
}
