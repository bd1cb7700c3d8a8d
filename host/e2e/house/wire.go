package house

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-search/parley/cmd/parley/bench"
)

// A Wire is a provider that answers each model (or path, where a request names
// no model) in its own way, byte by byte: net/http's server would not let it
// misbehave.
type Wire struct {
	t     *testing.T
	URL   string
	Conns atomic.Int64 // connections so far
	Under atomic.Int64 // requests under way
	open  sync.WaitGroup

	mu   sync.Mutex
	how  map[string]func(*Exchange)
	seen map[string]int        // requests, by model
	idle map[net.Conn]struct{} // connections that wait for a next request
}

// An Exchange is one request and the connection for its answer.
type Exchange struct {
	net.Conn
	Nth    int    // of this model, from 1
	Key    string // that came with it
	Body   string
	Form   bench.Form    // that the request's path asks for
	Keep   bool          // set by an answer that is whole: the connection takes a next request
	Closed chan struct{} // the host hung up
}

// NewWire answers until the test ends.
func NewWire(t *testing.T) *Wire {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &Wire{t: t, URL: "http://" + ln.Addr().String(), how: map[string]func(*Exchange){}, seen: map[string]int{}, idle: map[net.Conn]struct{}{}}
	w.open.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			w.Conns.Add(1)
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
		w.HangUp()
		w.open.Wait()
	})
	w.On("good", func(x *Exchange) { x.Say(Stream + Delta("fine") + Finish) })
	return w
}

// On sets how a model is answered.
func (w *Wire) On(model string, how func(*Exchange)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.how[model] = how
}

// Count is how often a model was asked.
func (w *Wire) Count(model string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen[model]
}

// HangUp closes the connections that wait for a next request.
func (w *Wire) HangUp() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.idle {
		c.Close()
	}
}

// waits notes whether c waits for a next request.
func (w *Wire) waits(c net.Conn, yes bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if delete(w.idle, c); yes {
		w.idle[c] = struct{}{}
	}
}

// serve answers one request of a connection, and reports whether it takes
// another.
func (w *Wire) serve(c net.Conn, in *bufio.Reader) (again bool) {
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
	x := &Exchange{Conn: c, Nth: w.seen[req.Model], Body: string(body), Form: form, Closed: make(chan struct{})}
	how := w.how[req.Model]
	w.mu.Unlock()
	x.Key = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if how == nil {
		w.t.Errorf("request for the unknown model %q", req.Model)
		return false
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, err := in.Peek(1); err != nil { // either side closed; else it is the next request
			close(x.Closed)
		}
	}()
	w.Under.Add(1)
	how(x)
	w.Under.Add(-1)
	if !x.Keep {
		c.Close()
	}
	w.waits(c, x.Keep)
	<-done
	w.waits(c, false)
	select {
	case <-x.Closed:
		return false
	default:
		return x.Keep
	}
}

// Say writes text; what a host makes of it that hangs up is not said here.
func (x *Exchange) Say(text string) { _, _ = io.WriteString(x, text) }

// Wait says nothing until the host hangs up.
func (x *Exchange) Wait() { <-x.Closed }

// Flow says n words, and more of them, a pause apart, until the host hangs up.
func (x *Exchange) Flow(n int, pause time.Duration) {
	x.Say(Stream + x.Words(0, n))
	for i := n; ; i++ {
		select {
		case <-x.Closed:
			return
		case <-time.After(pause):
			x.Say(x.Word(i))
		}
	}
}

// Words are the events from the beginning of an answer, or from its word with
// number first on, to before the word with number end.
func (x *Exchange) Words(first, end int) string {
	var b strings.Builder
	if first == 0 {
		b.WriteString(x.Form.Begin)
	}
	for i := first; i < end; i++ {
		b.WriteString(x.Word(i))
	}
	return b.String()
}

// Word is the event of one word.
func (x *Exchange) Word(i int) string {
	return strings.ReplaceAll(x.Form.Word, "%q", strconv.Quote(bench.Word(i)))
}

// The parts of answers.
const (
	// Head begins an answer; its other headers follow.
	Head = "HTTP/1.1 200 OK\r\nConnection: close\r\n"
	// Stream begins a stream of events.
	Stream = Head + "Content-Type: text/event-stream\r\n\r\n"
	// Chunks begins a stream of events in chunks of the transfer coding.
	Chunks = Head + "Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	// Finish is the last events of an answer, and the end of the stream.
	Finish = Finished + "data: [DONE]\n\n"
	// Finished is Finish without the event [DONE], so that decode is called once more at the end.
	Finished = "data: {\"id\":\"p1\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n" +
		"data: {\"id\":\"p1\",\"model\":\"m\",\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2,\"total_tokens\":3}}\n\n"
)

// Delta is an event of text.
func Delta(text string) string {
	return fmt.Sprintf("data: {\"id\":\"p1\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%s\"},\"finish_reason\":null}]}\n\n", text)
}

// Chunk is a chunk of the transfer coding.
func Chunk(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }

// Answered is an answer with a status, a header and a body.
func Answered(status int, header, body string) string {
	return fmt.Sprintf("HTTP/1.1 %d %s\r\nConnection: close\r\n%sContent-Length: %d\r\n\r\n%s", status, http.StatusText(status), header, len(body), body)
}
