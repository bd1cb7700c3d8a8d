package e2e

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/parley-search/parley/cmd/parley/bench"
)

// A wire is a provider that answers each model (or path, where a request names
// no model) in its own way, byte by byte: net/http's server would not let it
// misbehave.
type wire struct {
	t     *testing.T
	url   string
	conns atomic.Int64 // connections so far
	under atomic.Int64 // requests under way
	open  sync.WaitGroup

	mu   sync.Mutex
	how  map[string]func(*exchange)
	seen map[string]int        // requests, by model
	idle map[net.Conn]struct{} // connections that wait for a next request
}

// An exchange is one request and the connection for its answer.
type exchange struct {
	net.Conn
	nth    int    // of this model, from 1
	key    string // that came with it
	body   string
	form   bench.Form    // that the request's path asks for
	keep   bool          // set by an answer that is whole: the connection takes a next request
	closed chan struct{} // the host hung up
}

// newWire answers until the test ends.
func newWire(t *testing.T) *wire {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{t: t, url: "http://" + ln.Addr().String(), how: map[string]func(*exchange){}, seen: map[string]int{}, idle: map[net.Conn]struct{}{}}
	w.open.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			w.conns.Add(1)
			w.open.Go(func() {
				defer c.Close()
				in := bufio.NewReader(c)
				for w.serve(c, in) {
				}
			})
		}
	})
	t.Cleanup(func() {
		ln.Close()
		w.hangUp()
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

// hangUp closes the connections that wait for a next request.
func (w *wire) hangUp() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.idle {
		c.Close()
	}
}

// waits notes whether c waits for a next request.
func (w *wire) waits(c net.Conn, yes bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if delete(w.idle, c); yes {
		w.idle[c] = struct{}{}
	}
}

// serve answers one request of a connection, and reports whether it takes
// another.
func (w *wire) serve(c net.Conn, in *bufio.Reader) (again bool) {
	r, err := http.ReadRequest(in)
	if err != nil {
		return false // the host connected and thought better of it
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return false
	}
	var req struct{ Model string }
	if err := json.Unmarshal(body, &req); err != nil {
		w.t.Errorf("request body %.200q: %v", body, err)
		return false
	}
	form, model, _ := bench.FormOf(r.URL.Path)
	// The last is of a guest that says the same to all.
	req.Model = cmp.Or(req.Model, model, strings.TrimRight(r.URL.Path, "/"))
	w.mu.Lock()
	w.seen[req.Model]++
	x := &exchange{Conn: c, nth: w.seen[req.Model], body: string(body), form: form, closed: make(chan struct{})}
	how := w.how[req.Model]
	w.mu.Unlock()
	x.key = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if how == nil {
		w.t.Errorf("request for the unknown model %q", req.Model)
		return false
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, err := in.Peek(1); err != nil { // either side closed; else it is the next request
			close(x.closed)
		}
	}()
	w.under.Add(1)
	how(x)
	w.under.Add(-1)
	if !x.keep {
		c.Close()
	}
	w.waits(c, x.keep)
	<-done
	w.waits(c, false)
	select {
	case <-x.closed:
		return false
	default:
		return x.keep
	}
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
