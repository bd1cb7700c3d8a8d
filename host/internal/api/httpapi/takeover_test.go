package httpapi_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/api/httpapi/transport"
	"github.com/parley-search/parley/host/internal/base/waittest"
)

// question is a request for an answer, as it stands on the wire.
func question(proto, header string) string {
	return fmt.Sprintf("POST %s HTTP/%s\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s", completions, proto, master, header, len(hello), hello)
}

// A caller is a client that reads one response after the other off one
// connection.
type caller struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

func (r *rig) call(t *testing.T) *caller {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	check(t, err)
	return newCaller(t, conn)
}

func newCaller(t *testing.T, conn net.Conn) *caller {
	t.Helper()
	t.Cleanup(func() { _ = conn.Close() })
	check(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	return &caller{t, conn, bufio.NewReader(conn)}
}

func (c *caller) say(requests string) {
	c.t.Helper()
	_, err := io.WriteString(c.conn, requests)
	check(c.t, err)
}

// whole reads a response, which must be a whole answer or that of GET /health.
func (c *caller) whole(want string) *http.Response {
	c.t.Helper()
	res, err := http.ReadResponse(c.in, nil)
	check(c.t, err)
	body, err := io.ReadAll(res.Body)
	check(c.t, err)
	if res.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
		c.t.Fatalf("answer = %d %q, want one with %s", res.StatusCode, body, want)
	}
	if want == "Hello" && !strings.HasSuffix(string(body), "data: [DONE]\n\n") {
		c.t.Fatalf("answer = %q, want it to its end", body)
	}
	return res
}

// over wants the end of the connection and nothing before it.
func (c *caller) over() {
	c.t.Helper()
	if b, err := io.ReadAll(c.in); err != nil || len(b) > 0 {
		c.t.Errorf("read %q, %v, want the host to hang up", b, err)
	}
}

const healthy = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n"

// A connection serves on behind an answer that took it over, also what came
// before the answer had ended, and before it had begun.
func TestConnectionAfterAnswer(t *testing.T) {
	t.Parallel()
	t.Run("one by one", func(t *testing.T) {
		c := newRig(t, wish{}).call(t)
		for range 2 {
			c.say(question("1.1", ""))
			res := c.whole("Hello")
			if res.Header.Get("Connection") != "" || len(res.TransferEncoding) != 1 || res.Header.Get("X-Request-Id") == "" || res.Header.Get("Date") == "" {
				t.Errorf("head = %v %v, want a chunked body, an id, a date and a connection that stays", res.Header, res.TransferEncoding)
			}
			c.say(healthy)
			c.whole("available")
		}
	})
	t.Run("at once", func(t *testing.T) {
		c := newRig(t, wish{}).call(t)
		c.say(healthy + question("1.1", "") + question("1.1", "") + healthy + healthy)
		for _, want := range []string{"available", "Hello", "Hello", "available", "available"} {
			c.whole(want)
		}
	})
	t.Run("its body behind its head", func(t *testing.T) {
		r := newRig(t, wish{})
		c, asked := r.call(t), question("1.1", "")
		begun := len(asked) - len(hello)/2
		c.say(healthy + asked[:begun])
		waittest.For(t, "the log has the first request", func() bool { return strings.Contains(r.log.String(), "/health") })
		c.say(asked[begun:] + healthy)
		for _, want := range []string{"available", "Hello", "available"} {
			c.whole(want)
		}
	})
	t.Run("over TLS", func(t *testing.T) {
		a := newAuthority(t, "ours")
		a.issue("server", 2, soon())
		r, client := secure(t, a, transport.TLSFiles{}, nil)
		conn, err := tls.Dial("tcp", strings.TrimPrefix(r.url, "https://"), client)
		check(t, err)
		c := newCaller(t, conn)
		c.say(question("1.1", "") + healthy)
		c.whole("Hello")
		c.whole("available")
		c.say(question("1.1", ""))
		c.whole("Hello")
	})
	t.Run("in the middle", func(t *testing.T) {
		p := newProvider()
		c := newRig(t, wish{upstream: p}).call(t)
		p.events <- "text:Hello"
		c.say(question("1.1", ""))
		waitFor(t, p.asked, "request at the provider")
		c.say(healthy)
		p.events <- "finish:stop"
		close(p.events)
		c.whole("Hello")
		c.whole("available")
	})
	t.Run("after 100 Continue", func(t *testing.T) {
		c := newRig(t, wish{}).call(t)
		head, body, _ := strings.Cut(question("1.1", "Expect: 100-continue\r\n"), "\r\n\r\n")
		c.say(head + "\r\n\r\n")
		line, err := c.in.ReadString('\n')
		check(t, err)
		if !strings.Contains(line, "100 Continue") {
			t.Fatalf("first line = %q, want 100 Continue", line)
		}
		_, err = c.in.ReadString('\n')
		check(t, err)
		c.say(body + healthy)
		c.whole("Hello")
		c.whole("available")
	})
}

// A client that asks before it sends its body is told at once that its key or the body's
// length is refused.
func TestExpectRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{limits: httpapi.Limits{Body: 1000}})
	for name, tt := range map[string]struct{ head, status, code string }{
		"no key":   {"POST /indexes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n", "401", "missing_authorization_header"},
		"bad key":  {"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer wrong\r\nContent-Length: 900\r\n", "40", "api_key"},
		"too long": {"POST /indexes HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + master + "\r\nContent-Length: 1001\r\n", "413", "payload_too_large"},
	} {
		t.Run(name, func(t *testing.T) {
			c := r.call(t)
			c.say(tt.head + "Expect: 100-continue\r\n\r\n")
			line, err := c.in.ReadString('\n')
			check(t, err)
			if !strings.HasPrefix(line, "HTTP/1.1 "+tt.status) {
				t.Errorf("first line %q, want status %s", line, tt.status)
			}
			rest, _ := io.ReadAll(c.in)
			if !strings.Contains(string(rest), tt.code) {
				t.Errorf("answer %q, want %s in it", rest, tt.code)
			}
		})
	}
}

// A connection ends behind an answer where its client wants it so, or speaks a
// version in which that is the rule.
func TestConnectionEndsAfterAnswer(t *testing.T) {
	t.Parallel()
	for name, request := range map[string]string{
		"close":    question("1.1", "Connection: close\r\n"),
		"1.0":      question("1.0", ""),
		"1.0 kept": question("1.0", "Connection: keep-alive\r\n"), // its body has no other end
	} {
		t.Run(name, func(t *testing.T) {
			c := newRig(t, wish{}).call(t)
			c.say(request)
			c.whole("Hello")
			c.over()
		})
	}
	t.Run("idle", func(t *testing.T) {
		c := newRig(t, wish{limits: httpapi.Limits{Idle: 50 * time.Millisecond}}).call(t)
		c.say(question("1.1", ""))
		c.whole("Hello")
		c.over()
	})
}

// A shutdown waits for no connection on which nothing is asked any more.
func TestShutdownEndsRestingConnections(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{})
	c := r.call(t)
	c.say(question("1.1", ""))
	c.whole("Hello")
	grace, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	check(t, r.server.Shutdown(grace))
	if grace.Err() != nil {
		t.Error("the shutdown took all of its grace")
	}
	c.over()
}
