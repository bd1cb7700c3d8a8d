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
