package httpapi_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/base/waittest"
)

func TestShutdownLetsStreamsFinish(t *testing.T) {
	p := newProvider()
	r := newRig(t, wish{upstream: p})
	p.events <- "text:one"
	k := r.ask(t, hello)
	k.frame()
	done := make(chan error, 1)
	go func() { done <- r.server.Shutdown(context.Background()) }()
	for {
		c, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
		if err != nil {
			break // it does not listen any more
		}
		_ = c.Close()
	}
	req, err := http.NewRequest("POST", "http://localhost"+completionsV1, strings.NewReader(helloV1))
	check(t, err)
	req.Header.Set("Authorization", "Bearer "+master)
	req.Header.Set("Content-Type", "application/json")
	late, err := httpapi.Ask(r.server, req)
	check(t, err)
	if late.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("an answer asked for while others end = %d, want 503", late.StatusCode)
	}
	p.events <- "text:two"
	p.events <- "finish:stop"
	close(p.events)
	if rest := k.rest(); !strings.Contains(rest, "two") || !strings.HasSuffix(rest, "data: [DONE]\n\n") {
		t.Errorf("rest of the stream = %q, want it whole", rest)
	}
	if err := waitFor(t, done, "end of Shutdown"); err != nil {
		t.Errorf("Shutdown = %v, want nil", err)
	}
}

//parley:option shutdown-grace
func TestShutdownEndsStreams(t *testing.T) {
	p := newProvider()
	r := newRig(t, wish{upstream: p})
	p.events <- "text:one"
	k := r.ask(t, hello)
	k.frame()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := r.server.Shutdown(ctx); err != nil {
		t.Errorf("Shutdown = %v, want nil", err)
	}
	if rest := k.rest(); !strings.Contains(rest, `"type":"error","error":{"type":"system","code":"shutting_down","message":"The host is shutting down`) || !strings.HasSuffix(rest, "data: [DONE]\n\n") {
		t.Errorf("rest of the stream = %q, want an error frame and [DONE]", rest)
	}
	waitFor(t, p.ended, "end of the provider's request")
}

// What has not begun to answer is told why, with a status of its own.
func TestShutdownBeforeTheFirstEvent(t *testing.T) {
	p := newProvider()
	r := newRig(t, wish{upstream: p})
	k := r.send(t, hello)
	waitFor(t, p.asked, "request at the provider")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.server.Shutdown(ctx); err != nil {
		t.Errorf("Shutdown = %v, want nil", err)
	}
	res, err := http.ReadResponse(k.in, nil)
	check(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	check(t, err)
	a := answer{res.StatusCode, res.Header, string(body)}
	if a.status != http.StatusServiceUnavailable || !strings.Contains(a.body, "ask again in a while") {
		t.Errorf("answer = %d %s, want 503 that says what to do", a.status, a.body)
	}
	checkError(t, a, "shutting_down")
	waitFor(t, p.ended, "end of the provider's request")
}

// A client that neither reads nor leaves does not keep a shutdown from ending.
func TestShutdownClosesConnections(t *testing.T) {
	t.Parallel()
	p := newProvider()
	r := newRig(t, wish{upstream: p})
	_ = r.send(t, hello)
	waitFor(t, p.asked, "request at the provider")
	half, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	check(t, err)
	defer half.Close()
	_, err = io.WriteString(half, "POST /keys HTTP/1.1\r\nHost: x\r\n")
	check(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := r.server.Shutdown(ctx); err != nil {
		t.Errorf("Shutdown = %v, want nil", err)
	}
}

// Who still has a connection is told that the host goes.
func TestNotReadyAtShutdown(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{})
	r.play(t, []scenario{{name: "before", method: "GET", path: "/ready", status: 200}})
	check(t, r.server.Shutdown(t.Context()))
	for path, status := range map[string]int{"/ready": http.StatusServiceUnavailable, "/health": http.StatusOK} {
		req, err := http.NewRequest("GET", "http://localhost"+path, nil)
		check(t, err)
		res, err := httpapi.Ask(r.server, req)
		check(t, err)
		body, err := io.ReadAll(res.Body)
		check(t, errors.Join(err, res.Body.Close()))
		if res.StatusCode != status {
			t.Errorf("GET %s at shutdown = %d %s, want %d", path, res.StatusCode, body, status)
		}
	}
}

// A client that goes on asking on a connection does not hold up a shutdown, and what is asked too
// late is told why.
func TestShutdownEndsBusyConnections(t *testing.T) {
	t.Parallel()
	p := newProvider()
	r := newRig(t, wish{upstream: p})
	c := r.call(t)
	c.say(question("1.1", "") + healthy)
	waitFor(t, p.asked, "request at the provider")
	grace, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- r.server.Shutdown(grace) }()
	waittest.For(t, "the end of listening", func() bool {
		c, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	})
	p.events <- "text:Hello"
	p.events <- "finish:stop"
	close(p.events)
	c.whole("Hello")
	if !c.whole("available").Close {
		t.Error("the last answer does not say that the connection closes")
	}
	c.over()
	if err := waitFor(t, done, "end of Shutdown"); err != nil || grace.Err() != nil {
		t.Errorf("Shutdown = %v, %v, want it to end before its grace", err, grace.Err())
	}
	req, err := http.NewRequest("GET", "http://localhost/indexes/films/search?q=x", nil)
	check(t, err)
	req.Header.Set("Authorization", "Bearer "+master)
	late, err := httpapi.Ask(r.server, req)
	check(t, err)
	if late.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a search once the host has shut down = %d, want 503", late.StatusCode)
	}
}
