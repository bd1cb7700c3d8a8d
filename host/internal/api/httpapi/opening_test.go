package httpapi_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/base/outbound"
)

// A stream whose provider says nothing for a while begins without it, also on a
// connection that is used again.
func TestStreamOpensInSilence(t *testing.T) {
	both := []*talker{newProvider(), newProvider()}
	upstream := turns(both)
	r := newRig(t, wish{upstream: &upstream, limits: httpapi.Limits{Opening: time.Millisecond}})
	k := r.send(t, hello)
	raw := k.in
	for i, p := range both {
		if i > 0 {
			_, err := io.WriteString(k.conn, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
			check(t, err)
			res, err := http.ReadResponse(raw, nil)
			check(t, err)
			_, err = io.Copy(io.Discard, res.Body)
			check(t, err)
			k.write(completions, hello)
		}
		res, err := http.ReadResponse(raw, nil) // while the provider is silent
		check(t, err)
		if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
			t.Fatalf("answer = %d %q, want a stream", res.StatusCode, res.Header)
		}
		k.in = bufio.NewReader(res.Body)
		if f := k.frame(); f != ":\n" {
			t.Fatalf("first frame %q, want a comment", f)
		}
		p.events <- "text:one"
		p.events <- "finish:stop"
		close(p.events)
		if rest := k.rest(); !strings.Contains(rest, `"content":"one"`) || !strings.HasSuffix(rest, "data: [DONE]\n\n") {
			t.Errorf("stream = %q, want the answer to its end", rest)
		}
	}
}

// turns are providers that each answer one request, in turn.
type turns []*talker

// Do implements [outbound.Sender].
func (t *turns) Do(ctx context.Context, r *outbound.Request) (outbound.Response, error) {
	p := (*t)[0]
	*t = (*t)[1:]
	return p.Do(ctx, r)
}

// A failure that comes after that has no status, and ends the stream by what each
// route writes for one.
func TestStreamOpensAndFails(t *testing.T) {
	for path, want := range map[string]string{
		completions:            `"code":"llm_provider_rate_limited"`,
		"/v1/chat/completions": `"code":"rate_limit_exceeded"`,
		"/v1/responses":        "event: response.failed",
	} {
		p := newProvider()
		r := newRig(t, wish{upstream: p, limits: httpapi.Limits{Opening: time.Millisecond}})
		body := strings.Replace(hello, `"model":"m"`, `"model":"demo/m","stream":true,"input":"words"`, 1)
		if path == completions {
			body = hello
		}
		k := r.sendTo(t, path, body)
		var err error
		k.res, err = http.ReadResponse(k.in, nil)
		check(t, err)
		k.in = bufio.NewReader(k.res.Body)
		if f := k.frame(); k.res.StatusCode != http.StatusOK || f != ":\n" {
			t.Fatalf("%s = %d %q, want a stream with a comment", path, k.res.StatusCode, f)
		}
		p.events <- `error:{"kind":"rate_limit","message":"slower"}`
		close(p.events)
		rest := k.rest()
		if !strings.Contains(rest, want) || !strings.Contains(rest, "slower") || path != "/v1/responses" && !strings.HasSuffix(rest, "data: [DONE]\n\n") {
			t.Errorf("%s ends in %q, want %s", path, rest, want)
		}
		if log := r.log.String(); !strings.Contains(log, `"code":"llm_provider_rate_limited"`) {
			t.Errorf("%s: the failure is not logged:\n%s", path, log)
		}
	}
}

// Who leaves a stream that has nothing but its comment ends the provider's request.
func TestClientLeavesOpenedStream(t *testing.T) {
	p := newProvider()
	r := newRig(t, wish{upstream: p, limits: httpapi.Limits{Opening: time.Millisecond, Watch: 10 * time.Millisecond}})
	k := r.ask(t, hello)
	k.frame()
	check(t, k.conn.Close())
	if err := waitFor(t, p.ended, "end of the provider's request"); err == nil || !strings.Contains(err.Error(), "client left") {
		t.Errorf("the provider's request ended with %v, want that the client left", err)
	}
}
