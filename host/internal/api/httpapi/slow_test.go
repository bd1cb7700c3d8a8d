package httpapi_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/api/httpapi"
)

// TestSlowClients sends heads and bodies byte by byte, for ever: that something
// keeps coming does not hold a connection open.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{limits: httpapi.Limits{Read: time.Second}})
	head := "POST " + completions + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer " + master + "\r\n"
	for name, tt := range map[string]struct{ begin, drip string }{
		"request line":    {"", "GET /"},
		"headers":         {"GET /health HTTP/1.1\r\nHost: x\r\n", "X: y\r\n"},
		"body":            {head + "Content-Length: 1000000\r\n\r\n", " "},
		"body in chunks":  {head + "Transfer-Encoding: chunked\r\n\r\n", "1\r\n \r\n"},
		"body, one chunk": {head + "Transfer-Encoding: chunked\r\n\r\nfffff\r\n", " "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
			check(t, err)
			defer conn.Close()
			check(t, conn.SetDeadline(time.Now().Add(time.Minute)))
			_, err = io.WriteString(conn, tt.begin)
			check(t, err)
			hung := make(chan struct{})
			go func() {
				defer close(hung)
				for i := 0; ; i++ {
					if _, err := io.WriteString(conn, tt.drip[i%len(tt.drip):i%len(tt.drip)+1]); err != nil {
						return
					}
					time.Sleep(time.Millisecond)
				}
			}()
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatalf("no answer before the end of the connection: %v", err)
			}
			body, _ := io.ReadAll(res.Body) // may be reset: bytes are under way
			if res.StatusCode != http.StatusRequestTimeout {
				t.Errorf("answer = %d %s, want 408", res.StatusCode, body)
			}
			conn.Close()
			<-hung
		})
	}
}

// TestIdleConnection wants a connection on which nothing is asked to be closed.
func TestIdleConnection(t *testing.T) {
	t.Parallel()
	const short = 50 * time.Millisecond // for what must not come; what comes has its time
	for name, tt := range map[string]struct {
		limits  httpapi.Limits
		request string
	}{
		"new":  {httpapi.Limits{Read: short}, ""},
		"used": {httpapi.Limits{Idle: short}, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, wish{limits: tt.limits})
			conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
			check(t, err)
			defer conn.Close()
			check(t, conn.SetDeadline(time.Now().Add(time.Minute)))
			in := bufio.NewReader(conn)
			if tt.request != "" {
				_, err = io.WriteString(conn, tt.request)
				check(t, err)
				res, err := http.ReadResponse(in, nil)
				check(t, err)
				_, err = io.Copy(io.Discard, res.Body)
				check(t, err)
			}
			if b, err := io.ReadAll(in); err != nil {
				t.Errorf("read %q, %v, want the host to hang up", b, err)
			}
		})
	}
}
