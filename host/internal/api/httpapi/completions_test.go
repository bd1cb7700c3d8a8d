package httpapi_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/chat/chattest"
	"github.com/parley-search/parley/host/internal/plugin/provider"
)

const completions = "/chats/demo/chat/completions"

// Each chunk is with the client before the provider says more.
func TestStreamIsNotBuffered(t *testing.T) {
	p := newProvider()
	r := newRig(t, wish{upstream: p})
	p.events <- "text:one"
	k := r.ask(t, hello)
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "X-Accel-Buffering": "no", "Access-Control-Allow-Origin": "*",
	} {
		if got := k.res.Header.Get(name); got != want {
			t.Errorf("header %s = %q, want %q", name, got, want)
		}
	}
	if k.res.StatusCode != http.StatusOK || k.res.Header.Get("X-Request-Id") == "" {
		t.Errorf("answer = %d %v, want 200 with a request id", k.res.StatusCode, k.res.Header)
	}
	for _, word := range []string{"one", "two", "three"} {
		f := k.frame()
		for !strings.Contains(f, `"content":"`+word) {
			if !strings.HasPrefix(f, "data: {") || !strings.Contains(f, `"role"`) {
				t.Fatalf("frame %q, want %q or the role", f, word)
			}
			f = k.frame()
		}
		next := map[string]string{"one": "text:two", "two": "text:three", "three": "finish:stop"}[word]
		p.events <- next
	}
	close(p.events)
	rest := k.rest()
	if !strings.Contains(rest, `"finish_reason":"stop"`) || !strings.HasSuffix(rest, "\n\ndata: [DONE]\n\n") {
		t.Errorf("end of the stream = %q, want a finish and [DONE]", rest)
	}
	for block := range strings.SplitSeq(strings.TrimSuffix(rest, "\n\n"), "\n\n") {
		if !strings.HasPrefix(block, "data: ") || strings.Contains(block, "\n") {
			t.Errorf("block %q, want one line of data", block)
		}
	}
}

// The connection of a finished stream serves the next request.
func TestStreamKeepsConnection(t *testing.T) {
	r := newRig(t, wish{})
	for i := range 3 {
		a := r.do("POST", completions, hello)
		if a.status != 200 || !strings.HasSuffix(a.body, "data: [DONE]\n\n") {
			t.Fatalf("completion %d = %d %q", i, a.status, a.body)
		}
	}
	if n := strings.Count(r.log.String(), `"message":"request"`); n != 3 {
		t.Errorf("%d lines of log, want one an answer:\n%s", n, r.log)
	}
}

func TestStreamKeepAlive(t *testing.T) {
	t.Parallel()
	p := newProvider()
	r := newRig(t, wish{upstream: p, limits: httpapi.Limits{KeepAlive: 20 * time.Millisecond, Watch: 5 * time.Millisecond}})
	p.events <- "text:one"
	k := r.ask(t, hello)
	comments := 0
	for comments < 3 {
		if f := k.frame(); f == ":\n" {
			comments++
		} else if !strings.HasPrefix(f, "data: ") {
			t.Fatalf("frame %q, want data or a comment", f)
		}
	}
	p.events <- "finish:stop"
	close(p.events)
	if rest := k.rest(); !strings.HasSuffix(rest, "data: [DONE]\n\n") {
		t.Errorf("end of the stream = %q, want [DONE]", rest)
	}
}

// No comment is sent while there is something to say.
func TestStreamNoNeedlessComment(t *testing.T) {
	r := newRig(t, wish{limits: httpapi.Limits{KeepAlive: time.Hour, Watch: time.Millisecond}})
	if a := r.do("POST", completions, hello); strings.Contains(a.body, ":\n\n") {
		t.Errorf("stream %q, want no comment", a.body)
	}
}

func TestClientLeavesWhileSilent(t *testing.T) {
	p := newProvider()
	r := newRig(t, wish{upstream: p, limits: httpapi.Limits{Watch: 10 * time.Millisecond}})
	p.events <- "text:one"
	k := r.ask(t, hello)
	k.frame()
	check(t, k.conn.Close())
	if err := waitFor(t, p.ended, "end of the provider's request"); err == nil || !strings.Contains(err.Error(), "client left") {
		t.Errorf("the provider's request ended for %v, want that the client left", err)
	}
}

func TestClientLeavesBeforeTheFirstEvent(t *testing.T) {
	t.Parallel()
	p := newProvider()
	r := newRig(t, wish{upstream: p, limits: httpapi.Limits{Watch: 10 * time.Millisecond}})
	k := r.send(t, hello)
	waitFor(t, p.asked, "request at the provider")
	check(t, k.conn.Close())
	waitFor(t, p.ended, "end of the provider's request")
}

// With the watch switched off it is the write that notices.
func TestClientLeavesMidStream(t *testing.T) {
	p := newProvider()
	r := newRig(t, wish{upstream: p, limits: httpapi.Limits{Watch: time.Hour, KeepAlive: time.Hour}})
	p.events <- "text:one"
	k := r.ask(t, hello)
	k.frame()
	check(t, k.conn.Close())
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case p.events <- "text:more":
				time.Sleep(time.Millisecond)
			case <-stop:
				return
			}
		}
	})
	ended := waittest.Until(func() bool { return strings.Contains(r.log.String(), `"cancelled":true`) })
	close(stop)
	wg.Wait()
	if !ended {
		t.Errorf("the stream goes on without a client; log:\n%s", r.log)
	}
}

// A client that reads nothing ends its answer, and holds up no other.
func TestClientStalls(t *testing.T) {
	t.Parallel()
	p := newProvider()
	r := newRig(t, wish{upstream: p, limits: httpapi.Limits{Write: 50 * time.Millisecond}})
	big := "text:" + strings.Repeat("x", 1<<20)
	p.events <- big
	k := r.send(t, hello)
	deadline := time.Now().Add(time.Minute)
	for !strings.Contains(r.log.String(), `"cancelled":true`) && time.Now().Before(deadline) {
		select {
		case p.events <- big:
		default:
			if a := r.do("GET", "/version", ""); a.status != 200 {
				t.Fatalf("another client meanwhile: %d %s", a.status, a.body)
			}
		}
	}
	if !strings.Contains(r.log.String(), `"cancelled":true`) {
		t.Fatal("the stream of a client that does not read goes on")
	}
	// What was on the way arrives; then the connection ends in the middle.
	b, _ := io.ReadAll(k.in) // an error is as good an end
	if !bytes.HasPrefix(b, []byte("HTTP/1.1 200 ")) || bytes.Contains(b, []byte("[DONE]")) {
		t.Errorf("the client read %.100q … %q, want the beginning of a stream and no end", b, b[max(0, len(b)-100):])
	}
}

// What fails after the first event is said in the stream.
func TestStreamFails(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{upstream: &chattest.Upstream{Scripts: []chattest.Script{{
		Batches: [][]string{{"text:Hel"}}, End: &outbound.Error{Kind: outbound.Broken, Message: "the provider hung up"},
	}}}})
	a := r.do("POST", completions, hello)
	if a.status != 200 || !strings.Contains(a.body, `"type":"error","error":{`) || !strings.HasSuffix(a.body, "\"link\":\""+apierr.Docs+"llm_provider_error\"}\n\ndata: [DONE]\n\n") {
		t.Errorf("completion = %d %q, want an error frame with its link, and [DONE]", a.status, a.body)
	}
	if !strings.Contains(r.log.String(), `"code":"llm_provider_error"`) {
		t.Errorf("log %s, want the code", r.log)
	}
}

// panicky answers once and then panics, where no handler is there to recover.
type panicky struct{ *talker }

func (p panicky) Do(ctx context.Context, _ *outbound.Request) (outbound.Response, error) {
	return panickyReply{&reply{ctx: ctx, talker: p.talker}}, nil
}

type panickyReply struct{ *reply }

func (r panickyReply) Next() ([]abi.Event, error) {
	if len(r.events) == 0 {
		panic("secret words")
	}
	return r.reply.Next()
}

func TestStreamPanics(t *testing.T) {
	p := newProvider()
	p.events <- "text:one"
	r := newRig(t, wish{upstream: panicky{p}})
	a := r.do("POST", completions, hello)
	if !strings.Contains(a.body, "one") || !strings.Contains(a.body, `"code":"internal"`) || !strings.HasSuffix(a.body, "data: [DONE]\n\n") || strings.Contains(a.body, "secret") {
		t.Errorf("stream = %q, want what was said, an error frame and [DONE]", a.body)
	}
	if log := r.log.String(); strings.Contains(log, "secret") || !strings.Contains(log, "handler panicked") {
		t.Errorf("log = %s, want the panic without its text", log)
	}
}

func TestHammerStreams(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{limits: httpapi.Limits{KeepAlive: time.Millisecond, Watch: time.Millisecond}})
	want := withoutChance(r.do("POST", completions, hello).body)
	if strings.Count(want, "data: ") < 3 {
		t.Fatalf("stream = %q, want several frames", want)
	}
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for j := range 20 {
				ctx, cancel := context.WithCancel(t.Context())
				req, err := http.NewRequestWithContext(ctx, "POST", r.url+completions, strings.NewReader(hello))
				if err != nil {
					t.Error(err)
				}
				req.Header.Set("Authorization", "Bearer "+master)
				req.Header.Set("Content-Type", "application/json")
				res, err := r.client.Do(req)
				if err != nil {
					t.Errorf("completion: %v", err)
					cancel()
					continue
				}
				if (i+j)%3 == 0 {
					cancel() // leave in the middle
				} else if b, err := io.ReadAll(res.Body); err != nil || withoutChance(string(b)) != want {
					t.Errorf("stream = %q, %v, want %q", withoutChance(string(b)), err, want)
				}
				_ = res.Body.Close()
				cancel()
			}
		})
	}
	wg.Wait()
}

// withoutChance takes out of a stream what no two of them share: ids, times and
// the comments that keep a connection alive.
func withoutChance(stream string) string {
	return regexp.MustCompile(`"id":"[^"]*",?|"created":[0-9]+,?|(?m)^:\n\n`).ReplaceAllString(stream, "")
}

// A loading deployment has a plugin that is still to be loaded.
type loading struct {
	provider.Sources
	asked, left chan struct{}
}

func (l loading) Acquire(ctx context.Context, _ provider.Wish, _ provider.Client) (provider.Source, func(), bool) {
	l.asked <- struct{}{}
	<-ctx.Done()
	l.left <- struct{}{}
	return nil, func() {}, false
}

// A client that leaves while its plugin is being loaded is not waited for.
func TestClientLeavesWhilePluginIsLoaded(t *testing.T) {
	l := loading{asked: make(chan struct{}, 1), left: make(chan struct{}, 1)}
	r := newRig(t, wish{limits: httpapi.Limits{Watch: 10 * time.Millisecond}, sources: func(s provider.Sources) provider.Sources {
		l.Sources = s
		return l
	}})
	k := r.send(t, hello)
	waitFor(t, l.asked, "request for the plugin")
	check(t, k.conn.Close())
	waitFor(t, l.left, "end of the wait for the plugin")
	waittest.For(t, "the log has that the client left", func() bool { return strings.Contains(r.log.String(), `"status":499`) })
}
