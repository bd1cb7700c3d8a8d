package upstream

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestNextWaitsForNothing: what has come is handed out, also where the next chunk has
// begun with less than its size, and much of it at once. The provider goes on once
// its reader has what is whole.
func TestNextWaitsForNothing(t *testing.T) {
	const events = 40
	part := chunk(delta)
	whole := strings.Repeat(part, events)
	seen := make(chan struct{})
	cut := 0
	s := listen(t, func(c net.Conn, _ *http.Request) {
		io.WriteString(c, head+"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n"+whole[:cut])
		<-seen
		io.WriteString(c, whole[cut:]+"0\r\n\r\n")
	})
	c := client(t, Options{Limits: Limits{Silence: 5 * time.Second}})
	defer c.Close()
	batches := 0
	for due := range events {
		for _, more := range []int{0, 1, 3} { // of the size's line, which has five
			cut = due*len(part) + more
			r, err := c.Do(t.Context(), to(s.url))
			if err != nil {
				t.Fatal(err)
			}
			n, told := 0, false
			for err == nil {
				if n >= due && !told {
					seen <- struct{}{}
					told = true
				}
				got, next := r.Next()
				n, err = n+len(got), next
				if len(got) > 4 {
					batches++
				}
			}
			if err != io.EOF || n != events {
				t.Fatalf("%d events and %d bytes: %d events, %v; want %d", due, more, n, err, events)
			}
			r.Close()
		}
	}
	if batches == 0 {
		t.Error("no batch had more than four events")
	}
}
