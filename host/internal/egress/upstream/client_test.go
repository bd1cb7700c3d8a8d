package upstream

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/base/outbound"
)

var _ outbound.Sender = (*Client)(nil)

// stream answers every request with three events.
func stream(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, s := range []string{"a", "b", "[DONE]"} {
		fmt.Fprintf(w, "data: %s\n\n", s)
		w.(http.Flusher).Flush()
	}
}

func TestDo(t *testing.T) {
	var got *http.Request
	var body []byte
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		stream(w, r)
	}))
	defer s.Close()
	c := client(t, Options{})
	out := to(s.URL)
	out.Encoded.Headers = map[string]string{"Authorization": "Bearer ${apiKey}", "Accept": "text/event-stream"}
	out.Secrets = map[string]string{"apiKey": apiKey}
	r, err := c.Do(t.Context(), out)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Status() != 200 || r.Header() != nil {
		t.Errorf("status %d, header %v; want 200, and no header held while it streams", r.Status(), r.Header())
	}
	events, err := drain(r)
	if err != nil || !slices.Equal(events, data("a", "b", "[DONE]")) {
		t.Errorf("events %q, error %v", events, err)
	}
	if got.Method != "POST" || got.URL.Path != "/v1/chat/completions" || string(body) != `{"model":"m"}` {
		t.Errorf("the provider was asked %s %s %s", got.Method, got.URL, body)
	}
	if v := got.Header.Get("Authorization"); v != "Bearer "+apiKey {
		t.Errorf("the provider was given Authorization %q", v)
	}
	if got.Header["Accept-Encoding"] != nil || got.ContentLength != 13 || got.Header.Get("Content-Type") != "application/json" {
		t.Errorf("the provider was given the headers %v, %d bytes", got.Header, got.ContentLength)
	}
}

// TestPools checks that connections are reused, and that one to a private
// address is not lent to a request that may not go there.
func TestPools(t *testing.T) {
	var connections atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(stream))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	c := client(t, Options{})
	for range 5 {
		if _, err := get(t, c, to(s.URL)); err != nil {
			t.Fatal(err)
		}
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections for five requests, want 1", n)
	}
	out := to(s.URL)
	out.BaseURL, out.Grants.HTTP = "", []string{s.URL}
	_, err := get(t, c, out)
	wantError(t, err, outbound.Refused, "private address", false)
	if n := connections.Load(); n != 1 {
		t.Errorf("the refused request made a connection")
	}
}

// TestStaleConnection checks that a connection which the provider closed while
// it waited may be retried, and a fresh one on which it did so may not.
func TestStaleConnection(t *testing.T) {
	l := listen(t, func(c net.Conn, _ *http.Request) {
		io.WriteString(c, chunked+chunk("data: a\n\n")+"0\r\n\r\n")
		http.ReadRequest(bufio.NewReader(c)) // and hang up on the second
	})
	c := client(t, Options{})
	if _, err := get(t, c, to(l.url)); err != nil {
		t.Fatal(err)
	}
	_, err := get(t, c, to(l.url))
	wantError(t, err, outbound.Connect, "was not reached", true)
	if n := l.connections.Load(); n != 1 {
		t.Errorf("%d connections, want 1 that is used twice", n)
	}
}

// TestNoProxy checks that the environment's proxy is not asked.
func TestNoProxy(t *testing.T) {
	c := New(Options{})
	if c.public.Proxy != nil || c.private.Proxy != nil {
		t.Error("a transport asks for a proxy")
	}
}

func TestRedirect(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		l := say(t, fmt.Sprintf("HTTP/1.1 %d Moved\r\nLocation: http://169.254.169.254/latest/meta-data\r\nContent-Length: 0\r\n\r\n", status))
		c := client(t, Options{})
		_, err := get(t, c, to(l.url))
		wantError(t, err, outbound.Refused, fmt.Sprintf("answered %d, a redirect", status), false)
		if n := l.connections.Load(); n != 1 {
			t.Errorf("%d: %d connections, want 1", status, n)
		}
		if strings.Contains(err.Error(), "169.254") {
			t.Errorf("error %v repeats the provider's address", err)
		}
	}
}

// TestGzip checks that a compressed stream comes event by event.
func TestGzip(t *testing.T) {
	next := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "application/json")
		w.(http.Flusher).Flush()
		z := gzip.NewWriter(w)
		for _, part := range []string{"[{\"a\":1}\n", ",{\"b\":2}", "]"} {
			io.WriteString(z, part)
			z.Flush()
			w.(http.Flusher).Flush()
			<-next
		}
		z.Close()
	}))
	defer s.Close()
	c := client(t, Options{})
	r, err := c.Do(t.Context(), to(s.URL))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, want := range []string{`{"a":1}`, `{"b":2}`} {
		events, err := r.Next()
		if err != nil || len(events) != 1 || string(events[0].Data) != want {
			t.Fatalf("Next = %q, %v; want %s", events, err, want)
		}
		next <- struct{}{}
	}
	next <- struct{}{}
	if events, err := r.Next(); err != io.EOF {
		t.Errorf("Next at the end = %q, %v; want EOF", events, err)
	}
}

// TestHammerDo runs many streams at once over one client.
func TestHammerDo(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(stream))
	defer s.Close()
	c := client(t, Options{})
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 20 {
				if got, err := get(t, c, to(s.URL)); err != nil || len(got) != 3 {
					t.Errorf("%d events, error %v; want 3, none", len(got), err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestLimits checks that the limits are those that the contract names.
//
//parley:option provider-answer-timeout
func TestLimits(t *testing.T) {
	got := Limits{Silence: time.Second}.withDefaults()
	want := Limits{
		Connect: 10 * time.Second, FirstByte: 60 * time.Second, Silence: time.Second, Whole: 10 * time.Minute, Most: 10 * time.Minute,
		MaxEvent: 16 << 20, MaxResponse: 256 << 20, MaxHead: 64 << 10, MaxRequest: 64 << 20,
	}
	if got != want {
		t.Errorf("withDefaults = %+v, want %+v", got, want)
	}
}
