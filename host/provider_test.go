package host

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// A wire is a provider that answers each model (or path, where a request names
// no model) in its own way, byte by byte: net/http's server would not let it
// misbehave.
type wire struct {
	t    *testing.T
	url  string
	mu   sync.Mutex
	how  map[string]func(*exchange)
	seen map[string]int // requests, by model
	open sync.WaitGroup
}

// An exchange is one request and the connection for its answer.
type exchange struct {
	net.Conn
	nth    int    // of this model, from 1
	key    string // that came with it
	body   string
	closed chan struct{} // the host hung up
}

// newWire answers until the test ends.
func newWire(t *testing.T) *wire {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{t: t, url: "http://" + ln.Addr().String(), how: map[string]func(*exchange){}, seen: map[string]int{}}
	w.open.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			w.open.Go(func() { w.serve(c) })
		}
	})
	t.Cleanup(func() {
		ln.Close()
		w.open.Wait()
	})
	w.on("good", func(x *exchange) { x.say(stream + delta("fine") + finish) })
	return w
}

// on sets how a model is answered.
func (w *wire) on(model string, how func(*exchange)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.how[model] = how
}

func (w *wire) count(model string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen[model]
}

// serve answers the one request of a connection.
func (w *wire) serve(c net.Conn) {
	defer c.Close()
	r, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return // the host connected and thought better of it
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var req struct{ Model string }
	if err := json.Unmarshal(body, &req); err != nil {
		w.t.Errorf("request body %.200q: %v", body, err)
		return
	}
	if req.Model == "" { // of a guest that says the same to all
		req.Model = strings.TrimRight(r.URL.Path, "/")
	}
	w.mu.Lock()
	w.seen[req.Model]++
	x := &exchange{c, w.seen[req.Model], strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), string(body), make(chan struct{})}
	how := w.how[req.Model]
	w.mu.Unlock()
	if how == nil {
		w.t.Errorf("request for the unknown model %q", req.Model)
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(x.closed)
		_, _ = io.Copy(io.Discard, c) // ends when either side closes
	}()
	how(x)
	c.Close()
	<-done
}

// say writes text; what a host makes of it that hangs up is not said here.
func (x *exchange) say(text string) { _, _ = io.WriteString(x, text) }

// wait says nothing until the host hangs up.
func (x *exchange) wait() { <-x.closed }

// The parts of answers.
const (
	head   = "HTTP/1.1 200 OK\r\nConnection: close\r\n"
	stream = head + "Content-Type: text/event-stream\r\n\r\n"
	chunks = head + "Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	finish = "data: {\"id\":\"p1\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n" +
		"data: {\"id\":\"p1\",\"model\":\"m\",\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2,\"total_tokens\":3}}\n\n" +
		"data: [DONE]\n\n"
)

// delta is an event of text.
func delta(text string) string {
	return fmt.Sprintf("data: {\"id\":\"p1\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%s\"},\"finish_reason\":null}]}\n\n", text)
}

// chunk is a chunk of the transfer coding.
func chunk(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }

// answered is an answer with a status, a header and a body.
func answered(status int, header, body string) string {
	return fmt.Sprintf("HTTP/1.1 %d %s\r\nConnection: close\r\n%sContent-Length: %d\r\n\r\n%s", status, http.StatusText(status), header, len(body), body)
}
