package chat_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/api/openai"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/chat/chattest"
)

func refusal(status int, body string, head ...string) chattest.Script {
	return chattest.Script{Status: status, Body: body, Head: chattest.Head(head...)}
}

func broken(kind outbound.ErrorKind, retryable bool) *outbound.Error {
	return &outbound.Error{Kind: kind, Message: "the words of upstream", Retryable: retryable}
}

func TestProviderFailures(t *testing.T) {
	tests := []struct {
		name   string
		script chattest.Script
		code   apierr.Code
		status int
		want   string
	}{
		{"400", refusal(400, "bad temperature"), chaterr.LLMProviderRejectedRequest, 400, "bad temperature"},
		{"404", refusal(404, "no model"), chaterr.LLMProviderRejectedRequest, 400, "status 404: no model"},
		{"422", refusal(422, ""), chaterr.LLMProviderRejectedRequest, 400, "it gave no reason"},
		{"401", refusal(401, "bad key"), chaterr.LLMProviderUnauthorized, 502, "apiKey"},
		{"403", refusal(403, "x"), chaterr.LLMProviderUnauthorized, 502, "status 403"},
		{"400 that means auth", refusal(400, "x", "x-kind", "auth"), chaterr.LLMProviderUnauthorized, 502, "status 400"},
		{"429", refusal(429, "slow", "x-kind", "overloaded"), chaterr.LLMProviderRateLimited, 429, "slow"},
		{"402 that means quota", refusal(402, "pay", "x-kind", "quota"), chaterr.LLMProviderRateLimited, 429, "pay"},
		{"500", refusal(500, "<html>oops</html>"), chaterr.LLMProviderError, 502, "<html>"},
		{"503", refusal(503, "loading", "x-kind", "overloaded"), chaterr.LLMProviderError, 502, "loading"},
		{"408 that means timeout", refusal(408, "late", "x-kind", "timeout"), chaterr.LLMProviderTimeout, 504, "late"},
		{"context length", refusal(413, "long", "x-kind", "context_length"), chaterr.LLMProviderRejectedRequest, 400, "long"},
		{"409 that means nothing in particular", refusal(409, "conflict", "x-kind", "invalid_request"), chaterr.LLMProviderError, 502, "conflict"},
		{"410 that means nothing in particular", refusal(410, "gone", "x-kind", "not_found"), chaterr.LLMProviderError, 502, "gone"},
		{"422 that means the request", refusal(422, "bad", "x-kind", "invalid_request"), chaterr.LLMProviderRejectedRequest, 400, "bad"},
		{"invalid request as first event", say("model:m\n" + `error:{"kind":"invalid_request","message":"bad top_p"}`), chaterr.LLMProviderRejectedRequest, 400, "bad top_p"},
		{"418", refusal(418, "teapot"), chaterr.LLMProviderError, 502, "teapot"},
		{"204", chattest.Script{Status: 204}, chaterr.LLMProviderError, 502, "empty"},
		{"refused", chattest.Script{Err: broken(outbound.Refused, false)}, chaterr.LLMProviderError, 502, "the words of upstream"},
		{"timeout", chattest.Script{Err: broken(outbound.Timeout, false)}, chaterr.LLMProviderTimeout, 504, "the words of upstream"},
		{"timeout of the first event", chattest.Script{End: broken(outbound.Timeout, false)}, chaterr.LLMProviderTimeout, 504, "upstream"},
		{"broken before the first event", chattest.Script{End: broken(outbound.Broken, false)}, chaterr.LLMProviderError, 502, "upstream"},
		{"empty", say(), chaterr.LLMProviderError, 502, "empty"},
		{"error as first event", say("model:m\n" + `error:{"kind":"context_length","message":"too long","provider_code":"cle"}`), chaterr.LLMProviderRejectedRequest, 400, "too long (cle)"},
		{"error with advice", say("model:m\n" + `error:{"kind":"not_found","message":"no m.","advice":"Fetch m: key-canary."}`), chaterr.LLMProviderRejectedRequest, 400, "no m. Fetch m: key-canary."},
		{"error record that is none", say(`error:{`), chaterr.LLMProviderError, 502, "cannot be used"},
		{"plugin fault in decode", say("fault:"), chaterr.LLMProviderError, 502, "failed (trap)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, tt.script)
			e := f.refuse(t, hello)
			if e.Code != tt.code || e.Code.Status() != tt.status || !strings.Contains(e.Message, tt.want) {
				t.Errorf("Start: %v with status %d, want %s with %d and %q", e, e.Code.Status(), tt.code, tt.status, tt.want)
			}
			if n := len(f.upstream.Sent()); n != 1 {
				t.Errorf("%d requests were sent, want 1", n)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	soon := time.Now().Add(90 * time.Second).UTC().Format(http.TimeFormat)
	for _, tt := range []struct {
		head   []string
		lo, hi time.Duration
	}{
		{nil, 0, 0},
		{[]string{"Retry-After", "7"}, 7 * time.Second, 7 * time.Second},
		{[]string{"Retry-After", "0.5"}, 500 * time.Millisecond, 500 * time.Millisecond},
		{[]string{"Retry-After", "9", "Retry-After-Ms", "1500"}, 1500 * time.Millisecond, 1500 * time.Millisecond},
		{[]string{"Retry-After", soon}, 60 * time.Second, 90 * time.Second},
		{[]string{"Retry-After", "Mon, 02 Jan 2006 15:04:05 GMT"}, 0, 0},
		// By the provider's clock, where this machine's is a year behind or ahead.
		{[]string{"Retry-After", "Sat, 21 Nov 2037 10:00:30 GMT", "Date", "Sat, 21 Nov 2037 10:00:00 GMT"}, 30 * time.Second, 30 * time.Second},
		{[]string{"Retry-After", "Mon, 21 Nov 2005 10:00:30 GMT", "Date", "Mon, 21 Nov 2005 10:00:00 GMT"}, 30 * time.Second, 30 * time.Second},
		{[]string{"Retry-After", "soon"}, 0, 0},
		{[]string{"Retry-After", "-3"}, 0, 0},
	} {
		f := newFixture(t, refusal(429, "slow down", tt.head...))
		if got := f.refuse(t, hello).RetryAfter; got < tt.lo || got > tt.hi {
			t.Errorf("RetryAfter of %q = %s, want %s to %s", tt.head, got, tt.lo, tt.hi)
		}
	}
}

// TestRetries once, and only where nothing came of the first attempt.
func TestRetries(t *testing.T) {
	good := say("text:x", "finish:stop")
	tests := []struct {
		name  string
		first chattest.Script
		again bool
	}{
		{"no connection", chattest.Script{Err: broken(outbound.Connect, true)}, true},
		{"broken before the head", chattest.Script{Err: broken(outbound.Broken, false)}, true},
		{"503 without a body", refusal(503, " \n"), true},
		{"503 with a body", refusal(503, "busy"), false},
		{"500 without a body", refusal(500, ""), false},
		{"429 without a body", refusal(429, ""), false},
		{"certificate", chattest.Script{Err: broken(outbound.Connect, false)}, false},
		{"timeout", chattest.Script{Err: broken(outbound.Timeout, false)}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, tt.first, good)
			if !tt.again {
				f.refuse(t, hello)
				if n := len(f.upstream.Sent()); n != 1 {
					t.Errorf("%d requests were sent, want 1", n)
				}
				return
			}
			tr := f.ask(t, hello)
			if r := f.source.Requests(); len(r) != 2 || r[1].Attempt != 1 || r[1].Round != 0 || tr.outcome.Retries != 1 || tr.outcome.Rounds != 1 {
				t.Errorf("%d attempts, outcome %+v", len(r), tr.outcome)
			}
			f = newFixture(t, tt.first)
			f.refuse(t, hello)
			if n := len(f.upstream.Sent()); n != 2 {
				t.Errorf("%d requests were sent of a provider that stays down, want 2", n)
			}
		})
	}
}

// TestFailuresAfterTheFirstEvent come as a frame.
func TestFailuresAfterTheFirstEvent(t *testing.T) {
	cut := say("text:half a")
	tests := []struct {
		name   string
		second chattest.Script // of the same response
		code   string
	}{
		{"cut", chattest.Script{}, "llm_provider_error"},
		{"broken", chattest.Script{End: broken(outbound.Broken, false)}, "llm_provider_error"},
		{"timeout", chattest.Script{End: broken(outbound.Timeout, false)}, "llm_provider_timeout"},
		{"error", say(`text: thing`, `error:{"kind":"rate_limit","message":"slow"}`), "llm_provider_rate_limited"},
		{"error that is auth", say(`error:{"kind":"auth","message":"key"}`), "llm_provider_unauthorized"},
		{"fault", say("fault:"), "llm_provider_error"},
		{"malformed record", say("raw:xyz"), "llm_provider_error"},
		{"call with a gap", say("tool:1:a:b"), "llm_provider_error"},
		{"arguments before their call", say("args:0:{}"), "llm_provider_error"},
		{"extra that is none", say("extra:[1]"), "llm_provider_error"},
		{"extra that is broken", say("extra:{]}"), "llm_provider_error"},
		{"done without finish", say("[DONE]"), "llm_provider_error"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.second
			s.Batches = append(cut.Batches[:1:1], s.Batches...)
			tr := newFixture(t, s).ask(t, hello)
			if tr.failureCode() != tt.code || !strings.HasPrefix(tr.field("content"), "half a") || tr.outcome.Finish != "" || tr.outcome.Err == nil {
				t.Errorf("failure %q, content %q, outcome %+v; want %s", tr.failureCode(), tr.field("content"), tr.outcome, tt.code)
			}
		})
	}
}

// TestBreakAfterFinish: what was said is whole.
func TestBreakAfterFinish(t *testing.T) {
	s := say("text:x", "finish:stop")
	s.End = broken(outbound.Broken, false)
	if tr := newFixture(t, s).ask(t, hello); tr.finish() != "stop" {
		t.Errorf("finish = %q", tr.finish())
	}
	s = say("text:x", "finish:stop", "[DONE]")
	s.Hang = true // [DONE], and the provider leaves the connection open
	if tr := newFixture(t, s).ask(t, hello); tr.finish() != "stop" {
		t.Errorf("finish = %q", tr.finish())
	}
}

// An openAtEnd notes how many responses are open when the client has all of the answer.
type openAtEnd struct {
	*transcript
	f    *fixture
	open int
}

func (o *openAtEnd) WriteFrames(b []byte, last bool) error {
	if last {
		o.open = o.f.upstream.Open()
	}
	return o.transcript.WriteFrames(b, last)
}

// TestEndBeforeDrain: a client has the end of its answer before the host waits for that of
// the provider's response.
func TestEndBeforeDrain(t *testing.T) {
	s := say("text:x", "finish:stop", "[DONE]")
	s.Hang = true
	f := newFixture(t, s)
	a, err := f.Start(t.Context(), auth.Everyone(), "demo", []byte(hello))
	if err != nil {
		t.Fatal(err)
	}
	o := &openAtEnd{transcript: &transcript{t: t}, f: f}
	if err := a.WriteTo(openai.NewChunks(o, false)); err != nil || !o.done || o.open != 1 || f.upstream.Open() != 0 {
		t.Errorf("%v, done %v, %d responses open at the end, %d behind it; want 1 and 0", err, o.done, o.open, f.upstream.Open())
	}
}

// TestDoneIsLast: [DONE] ends the response, whatever follows it, and however that ends.
func TestDoneIsLast(t *testing.T) {
	s := say("text:x", "finish:stop", "[DONE]")
	s.Batches = append(s.Batches, []string{"text:late", `error:{"kind":"upstream","message":"late"}`})
	s.End = broken(outbound.Broken, false)
	tr := newFixture(t, s).ask(t, hello)
	if tr.finish() != "stop" || tr.field("content") != "x" || tr.outcome.Err != nil {
		t.Errorf("content %q, finish %q, outcome %+v; want what came before [DONE]", tr.field("content"), tr.finish(), tr.outcome)
	}
}

// TestFailureInLaterRound is a frame too, whatever its status.
func TestFailureInLaterRound(t *testing.T) {
	first := say("text:x", search(0, "a", alien), "finish:tool_calls")
	if tr := newFixture(t, first, refusal(429, "slow")).ask(t, hello); tr.failureCode() != "llm_provider_rate_limited" {
		t.Errorf("failure = %q", tr.failureCode())
	}
	tr := newFixture(t, first, chattest.Script{Err: broken(outbound.Connect, true)}, say("finish:stop")).ask(t, hello)
	if tr.finish() != "stop" || tr.outcome.Retries != 1 {
		t.Errorf("finish %q after %d retries; want the one of its round", tr.finish(), tr.outcome.Retries)
	}
}
