package e2e

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/e2e/house"
)

// More connections than the host takes keep nobody from asking.
//
//parley:option http-max-connections
func TestHostileIdleConnections(t *testing.T) {
	h := house.Open(t, map[string]string{"http-max-connections": "16"})
	dial := func() net.Conn {
		c, err := net.Dial("tcp", strings.TrimPrefix(h.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		return c
	}
	first := dial()
	for range 50 {
		dial()
	}
	last := dial()
	if _, err := io.WriteString(last, "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(last), nil)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("health beside 51 idle connections = %v, %v, want 200", res, err)
	}
	if b, err := io.ReadAll(first); err != nil || len(b) > 0 {
		t.Errorf("read %q, %v of the longest idle one, want its end", b, err)
	}
}

// Answers and bodies are lent of one account, whose size the operator may say.
//
//parley:option max-request-memory
func TestHostileRequestMemory(t *testing.T) {
	h := house.Open(t, map[string]string{"max-request-memory": "1 MiB", "experimental-enable-metrics": "true"})
	large := strings.Repeat(" ", 600<<10) + `{"stopWords":["x"]}`
	if r := h.Call("PATCH", "/indexes/a/settings", large); r.Status != http.StatusServiceUnavailable || !strings.Contains(r.Body, "--max-request-memory") {
		t.Errorf("a body of 600 KiB where there is 1 MiB = %d %s, want 503 that names the option", r.Status, r.Body)
	}
	h.Must("PATCH", "/indexes/a/settings", `{"stopWords":["x"]}`)
	figures := h.Must("GET", "/metrics", "").Body
	for _, want := range []string{"parley_request_memory_limit_bytes 1.048576e+06", "parley_request_memory_refused_total 1", "parley_request_memory_bytes "} {
		if !strings.Contains(figures, want) {
			t.Errorf("metrics lack %q", want)
		}
	}
}
