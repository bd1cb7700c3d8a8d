package httpapi_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/access/auth/authtest"
	"github.com/parley-search/parley/host/internal/api/httpapi"
)

// A raw request on a connection of its own, answered or cut off.
func (r *rig) raw(t *testing.T, request string) (status int, body string, in *bufio.Reader, conn net.Conn) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	check(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	check(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	written := make(chan struct{})
	go func() {
		defer close(written)
		_, _ = io.WriteString(conn, request) // the answer may come, and the connection end, before all is sent
	}()
	in = bufio.NewReader(conn)
	res, err := http.ReadResponse(in, nil)
	check(t, err)
	b, err := io.ReadAll(res.Body)
	check(t, err)
	<-written
	return res.StatusCode, string(b), in, conn
}

// The heads of the requests below. A body may follow the second.
const (
	rawGet  = "GET /health HTTP/1.1\r\nHost: localhost\r\n"
	rawPost = "POST /keys HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer " + master + "\r\n"
	chunked = "Transfer-Encoding: chunked\r\n\r\n"
)

// TestRawRequests sends what cannot be read, or can be read in more ways than
// one, as a proxy in front of the host may. It is refused, and the connection
// closed: nothing that follows is taken for another request.
func TestRawRequests(t *testing.T) {
	// Whoever sends all there is has time to send it, and to read the answer.
	r := newRig(t, wish{limits: httpapi.Limits{Body: 100 << 10, Linger: time.Minute}})
	tests := []struct {
		name, request string
		status        int
		code          string
	}{
		{"no HTTP", "hello\r\n\r\n", 400, "bad_request"},
		{"HTTP 0.9", "GET /health\r\n\r\n", 400, "bad_request"},
		{"HTTP 1.9", "GET /health HTTP/1.9\r\nHost: localhost\r\n\r\n", 400, "bad_request"},
		{"HTTP 2, preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, "bad_request"},
		{"HTTP 2, request", "GET /health HTTP/2.0\r\nHost: localhost\r\n\r\n", 400, "bad_request"},
		{"two spaces", "GET  /health HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "bad_request"},
		{"space in the path", "GET /hea lth HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "bad_request"},
		{"NUL in the path", "GET /hea\x00lth HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "bad_request"},
		{"huge headers", rawGet + "X: " + strings.Repeat("x", 64<<10) + "\r\n\r\n", 431, "headers_too_large"},

		{"no host", "GET /health HTTP/1.1\r\nX: y\r\n\r\n", 400, "bad_request"},
		{"two hosts", rawGet + "Host: a\r\n\r\n", 400, "bad_request"},
		{"user in the host", "GET /health HTTP/1.1\r\nHost: a@localhost\r\n\r\n", 400, "bad_request"},
		{"path in the host", "GET /health HTTP/1.1\r\nHost: localhost/a\r\n\r\n", 400, "bad_request"},
		{"another host in the URL", "GET http://evil.example/health HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "bad_request"},

		{"CR in a value", rawGet + "X: a\rb\r\n\r\n", 400, "bad_request"},
		{"NUL in a value", rawGet + "X: a\x00b\r\n\r\n", 400, "bad_request"},
		{"escape in a value", rawGet + "X: a\x1bb\r\n\r\n", 400, "bad_request"},
		{"NUL in a name", rawGet + "X\x00Y: a\r\n\r\n", 400, "bad_request"},
		{"space in a name", rawGet + "X Y: a\r\n\r\n", 400, "bad_request"},
		{"space behind a name", rawPost + "Content-Length : 2\r\n\r\n{}", 400, "bad_request"},
		{"no name", rawGet + ": a\r\n\r\n", 400, "bad_request"},
		{"no colon", rawGet + "X\r\n\r\n", 400, "bad_request"},
		{"line behind a line", rawGet + "X: a\r\n b\r\n\r\n", 400, "bad_request"},
		{"length in a second line", rawPost + "Content-Length:\r\n 2\r\n\r\n{}", 400, "bad_request"},
		{"line that LF ends", rawGet + "X: a\nY: b\r\n\r\n", 400, "bad_request"},
		{"request line that LF ends", "GET /health HTTP/1.1\nHost: localhost\r\n\r\n", 400, "bad_request"},
		{"request line that CR ends", "GET /health HTTP/1.1\rHost: localhost\r\n\r\n", 400, "bad_request"},
		{"empty line before it", "\r\n" + rawGet + "\r\n", 400, "bad_request"},
		{"LF before it", "\n" + rawGet + "\r\n", 400, "bad_request"},
		{"tab in the request line", "GET\t/health HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "bad_request"},
		{"head that LF ends", "GET /health HTTP/1.1\r\nHost: localhost\n\n\r\n\r\n", 400, "bad_request"},

		{"differing lengths", rawPost + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ", 400, "bad_request"},
		{"equal lengths", rawPost + "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", 400, "bad_request"},
		{"list of lengths", rawPost + "Content-Length: 2, 3\r\n\r\n{} ", 400, "bad_request"},
		{"length with a plus", rawPost + "Content-Length: +2\r\n\r\n{}", 400, "bad_request"},
		{"negative length", rawPost + "Content-Length: -2\r\n\r\n{}", 400, "bad_request"},
		{"hexadecimal length", rawPost + "Content-Length: 0x2\r\n\r\n{}", 400, "bad_request"},
		{"empty length", rawPost + "Content-Length:\r\n\r\n", 400, "bad_request"},
		{"length beyond numbers", rawPost + "Content-Length: 18446744073709551618\r\n\r\n{}", 400, "bad_request"},
		{"length and chunks", rawPost + "Content-Length: 2\r\n" + chunked + "2\r\n{}\r\n0\r\n\r\n", 400, "bad_request"},
		{"chunks and length", rawPost + "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 400, "bad_request"},

		{"encoding identity", rawPost + "Transfer-Encoding: identity\r\n\r\n", 400, "bad_request"},
		{"encoding identity and length", rawPost + "Transfer-Encoding: identity\r\nContent-Length: 2\r\n\r\n{}", 400, "bad_request"},
		{"unknown encoding", rawPost + "Transfer-Encoding: gzip\r\n\r\n", 400, "bad_request"},
		{"unknown encoding and chunks", rawPost + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 400, "bad_request"},
		{"chunked twice", rawPost + "Transfer-Encoding: chunked\r\n" + chunked + "0\r\n\r\n", 400, "bad_request"},
		{"chunked behind a control character", rawPost + "Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n", 400, "bad_request"},
		{"empty encoding", rawPost + "Transfer-Encoding:\r\n\r\n", 400, "bad_request"},
		{"chunks of HTTP 1.0", strings.Replace(rawPost, "/1.1", "/1.0", 1) + chunked + "0\r\n\r\n", 400, "bad_request"},

		{"LF in a chunk extension", rawPost + chunked + "2;a\nb\r\n{}\r\n0\r\n\r\n", 400, "bad_request"},
		{"LF behind a chunk extension", rawPost + chunked + "2;a\n{}\r\n0\r\n\r\n", 400, "bad_request"},
		{"CR in a chunk extension", rawPost + chunked + "2;a\rb\r\n{}\r\n0\r\n\r\n", 400, "bad_request"},
		{"LF in the last chunk's extension", rawPost + chunked + "2\r\n{}\r\n0;a\n\r\n\r\n", 400, "bad_request"},
		{"LF behind a chunk's size", rawPost + chunked + "2\n{}\r\n0\r\n\r\n", 400, "bad_request"},
		{"LF behind a chunk", rawPost + chunked + "2\r\n{}\n0\r\n\r\n", 400, "bad_request"},
		{"chunk longer than its size", rawPost + chunked + "2\r\n{}xx0\r\n\r\n", 400, "bad_request"},
		{"chunk size with 0x", rawPost + chunked + "0x2\r\n{}\r\n0\r\n\r\n", 400, "bad_request"},
		{"chunk size with a sign", rawPost + chunked + "-2\r\n{}\r\n0\r\n\r\n", 400, "bad_request"},
		{"chunk size beyond numbers", rawPost + chunked + "10000000000000002\r\n{}\r\n0\r\n\r\n", 400, "bad_request"},
		{"chunk size of no number", rawPost + chunked + "zz\r\n", 400, "bad_request"},
		{"space behind a chunk's size", rawPost + chunked + "2 \r\n{}\r\n0\r\n\r\n", 400, "bad_request"},
		{"long chunk extensions", rawPost + chunked + "2;" + strings.Repeat("a", 5000) + "\r\n{}\r\n0\r\n\r\n", 400, "bad_request"},
		{"NUL in a chunk extension", rawPost + chunked + "2;a\x00b\r\n{}\r\n0\r\n\r\n", 400, "bad_request"},
		{"escape in the last chunk's extension", rawPost + chunked + "2\r\n{}\r\n0;\x1b\r\n\r\n", 400, "bad_request"},
		{"LF in the trailers", rawPost + chunked + "2\r\n{}\r\n0\r\nX: y\nZ: a\r\n\r\n", 400, "bad_request"},
		{"trailers that LF ends", rawPost + chunked + "2\r\n{}\r\n0\r\nX: y\r\n\n", 400, "bad_request"},
		{"LF in place of trailers", rawPost + chunked + "2\r\n{}\r\n0\r\n\n", 400, "bad_request"},
		{"CR in a trailer", rawPost + chunked + "2\r\n{}\r\n0\r\nX: y\rz\r\n\r\n", 400, "bad_request"},
		{"NUL in a trailer", rawPost + chunked + "2\r\n{}\r\n0\r\nX: y\x00\r\n\r\n", 400, "bad_request"},
		{"space in a trailer's name", rawPost + chunked + "2\r\n{}\r\n0\r\nX Y: y\r\n\r\n", 400, "bad_request"},
		{"trailer that goes on in a second line", rawPost + chunked + "2\r\n{}\r\n0\r\nX: y\r\n z\r\n\r\n", 400, "bad_request"},
		{"length in a trailer", rawPost + chunked + "2\r\n{}\r\n0\r\nContent-Length: 5\r\n\r\n", 400, "bad_request"},

		{"too large by its head", rawPost + "Content-Length: 99999999\r\n\r\n" + strings.Repeat(" ", 20000), 413, "payload_too_large"},
		{"too large in chunks", rawPost + chunked + strings.Repeat("4000\r\n"+strings.Repeat(" ", 0x4000)+"\r\n", 8), 413, "payload_too_large"},
		{"unread body", "POST /keys HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\n" + strings.Repeat("x", 60000), 401, "missing_authorization_header"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, body, in, _ := r.raw(t, tt.request+rawGet+"\r\n")
			if status != tt.status || !strings.Contains(body, `"code":"`+tt.code+`"`) {
				t.Errorf("answer = %d %s, want %d %s", status, body, tt.status, tt.code)
			}
			// What is left of the request must not be taken for another one.
			if b, err := io.ReadAll(in); len(b) > 0 || err != nil {
				t.Errorf("after the answer came %q, %v, want the end", b, err)
			}
		})
	}
}

// TestRawTimeouts begins requests and never ends them.
func TestRawTimeouts(t *testing.T) {
	for name, request := range map[string]string{
		"head":       rawGet,
		"body":       rawPost + "Content-Length: 100\r\n\r\n{",
		"large body": rawPost + "Content-Length: 50000\r\n\r\n" + strings.Repeat(" ", 20000),
		"chunk":      rawPost + chunked + "5\r\n{",
		"next chunk": rawPost + chunked + "1\r\n{\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, httpapi.Limits{Read: 10 * time.Second}, func(conn net.Conn) {
				began := time.Now()
				go func() { _, _ = io.WriteString(conn, request) }()
				res, err := http.ReadResponse(bufio.NewReader(conn), nil)
				check(t, err)
				body, err := io.ReadAll(res.Body)
				check(t, err)
				if res.StatusCode != http.StatusRequestTimeout || !strings.Contains(string(body), `"code":"request_timeout"`) {
					t.Errorf("answer = %d %s, want 408", res.StatusCode, body)
				}
				if took := time.Since(began); took != 10*time.Second {
					t.Errorf("it came after %v, want 10s", took)
				}
				if n, err := conn.Read(make([]byte, 1)); err != io.EOF {
					t.Errorf("after the answer came %d bytes, %v, want the end", n, err)
				}
			})
		})
	}
}

// pipes is a listener for one connection in memory.
type pipes struct {
	conns chan net.Conn
	once  sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	if c, ok := <-p.conns; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.conns) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7700} }

// inBubble calls f with a connection to a server of few parts, at a clock of
// its own that moves when nothing else does.
func inBubble(t *testing.T, limits httpapi.Limits, f func(conn net.Conn)) {
	t.Helper()
	// The clock of fasthttp's header Date runs for ever from the first answer on:
	// not in the bubble.
	keys, err := auth.Open(t.Context(), &authtest.Memory{}, auth.Options{MasterKey: master})
	check(t, err)
	req, err := http.NewRequest(http.MethodGet, "http://localhost/health", nil)
	check(t, err)
	_, err = httpapi.Ask(httpapi.New(httpapi.Deps{Auth: keys}), req)
	check(t, err)
	synctest.Test(t, func(t *testing.T) {
		s := httpapi.New(httpapi.Deps{Auth: keys, Limits: limits})
		ln := &pipes{conns: make(chan net.Conn, 1)}
		served := make(chan error, 1)
		go func() { served <- s.Listen(ln) }()
		here, there := net.Pipe()
		ln.conns <- there
		f(here)
		check(t, here.Close())
		check(t, s.Shutdown(t.Context()))
		check(t, <-served)
		time.Sleep(time.Minute) // of the bubble: fasthttp's pool of goroutines ends when it next looks
	})
}

// A body that comes in chunks, and one that is read whole, keep the connection.
func TestRawConnectionIsKept(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{})
	body := `{"prompts":{"system":"` + strings.Repeat("x", 40000) + `"}}`
	head := "PATCH /chats/demo/settings HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer " + master + "\r\n"
	chunked := head + "Transfer-Encoding: chunked\r\n\r\n"
	for part := range slices.Chunk([]byte(body), 1000) {
		chunked += fmt.Sprintf("%x\r\n%s\r\n", len(part), part)
	}
	for name, request := range map[string]string{
		"whole":   head + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body),
		"chunked": chunked + "0\r\n\r\n",
		"small":   "POST /keys HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}",
	} {
		t.Run(name, func(t *testing.T) {
			status, got, in, conn := r.raw(t, request)
			if want := map[string]int{"small": 401}[name]; status != max(want, 200) {
				t.Fatalf("status = %d %s", status, got)
			}
			_, err := io.WriteString(conn, "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
			check(t, err)
			res, err := http.ReadResponse(in, nil)
			check(t, err)
			if b, _ := io.ReadAll(res.Body); res.StatusCode != 200 || !strings.Contains(string(b), "available") {
				t.Errorf("second answer = %d %s", res.StatusCode, b)
			}
		})
	}
}
