package upstream

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/base/waittest"
)

// A listener answers each connection with what a test says, byte by byte as it
// likes: no HTTP library of ours tidies it up.
type listener struct {
	url         string
	connections atomic.Int32
}

// listen serves each request on a connection of its own, after its head and
// body were read. The connection is closed when serve returns.
func listen(t testing.TB, serve func(net.Conn, *http.Request)) *listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	s := &listener{url: "http://" + l.Addr().String()}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.connections.Add(1)
			go func() {
				defer c.Close()
				req, err := http.ReadRequest(bufio.NewReader(c))
				if err != nil {
					return
				}
				io.Copy(io.Discard, req.Body)
				serve(c, req)
			}()
		}
	}()
	return s
}

// say answers with the same bytes every time.
func say(t *testing.T, text string) *listener {
	return listen(t, func(c net.Conn, _ *http.Request) { io.WriteString(c, text) })
}

const (
	head    = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
	chunked = head + "Transfer-Encoding: chunked\r\n\r\n"
	toEnd   = head + "Connection: close\r\n\r\n"
)

func chunk(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }

// to is an outbound that may go to url, as the workspace's own.
func to(url string) *outbound.Request {
	return &outbound.Request{
		Encoded: &abi.EncodeResponse{URL: url + "/v1/chat/completions", Body: abi.RawJSON(`{"model":"m"}`)},
		Grants:  abi.Grants{HTTP: []string{abi.GrantBaseURL}, Secrets: []string{"apiKey"}},
		BaseURL: url + "/v1",
	}
}

// client returns a client, and checks at the test's end that it left no
// goroutine.
func client(t *testing.T, o Options) *Client {
	t.Helper()
	if o.Private.String() == "none" {
		o.Private = AnyPrivate()
	}
	c := New(o)
	t.Cleanup(func() {
		c.Close()
		// Goroutines end a little after what they serve.
		var left []string
		if !waittest.Until(func() bool { left = clients(); return len(left) == 0 }) {
			t.Errorf("goroutines are left:\n%s", strings.Join(left, "\n\n"))
		}
	})
	return c
}

// clients returns the stacks of the goroutines that serve clients.
func clients() []string {
	all := make([]byte, 1<<20)
	all = all[:runtime.Stack(all, true)]
	return slices.DeleteFunc(strings.Split(string(all), "\n\n"), func(s string) bool {
		return !strings.Contains(s, "net/http.(*Transport)") && !strings.Contains(s, "persistConn") && !strings.Contains(s, "upstream.(*")
	})
}

// get reads a response to its end and returns its events.
func get(t *testing.T, c *Client, out *outbound.Request) ([]event, error) {
	t.Helper()
	r, err := c.Do(t.Context(), out)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return drain(r)
}

func drain(r outbound.Response) ([]event, error) {
	var got []event
	for {
		events, err := r.Next()
		for _, e := range events {
			got = append(got, event{e.Type, string(e.Data)})
		}
		if err == io.EOF {
			return got, nil
		}
		if err != nil {
			return got, err
		}
	}
}

// wantError checks an error's kind, a part of its message and whether a retry
// is allowed, and that it names no address.
func wantError(t *testing.T, err error, kind outbound.ErrorKind, text string, retryable bool) {
	t.Helper()
	e, ok := errors.AsType[*outbound.Error](err)
	if !ok {
		t.Fatalf("error %v (%T), want an UpstreamError", err, err)
	}
	if e.Kind != kind || !strings.Contains(e.Message, text) || e.Retryable != retryable {
		t.Errorf("error %q of kind %s, retryable %v; want %q, kind %s, retryable %v", e.Message, e.Kind, e.Retryable, text, kind, retryable)
	}
}

// An event as a test writes it.
type event struct{ typ, data string }

func data(list ...string) []event {
	out := make([]event, len(list))
	for i, s := range list {
		out[i] = event{data: s}
	}
	return out
}
