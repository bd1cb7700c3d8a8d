package upstream

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// delta is an event of the size that providers send.
var delta = `data: {"id":"chatcmpl-9f2","object":"chat.completion.chunk","created":1763700000,"model":"m-1","system_fingerprint":"fp_1","choices":[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"` + strings.Repeat("x", 60) + `"}` + "\n\n"

// BenchmarkNext reads streams over loopback, a write for every event, with a key
// to look for in each. A stream has a connection of its own.
func BenchmarkNext(b *testing.B) {
	const events = 1000
	part := []byte(chunk(delta))
	s := listen(b, func(c net.Conn, _ *http.Request) {
		io.WriteString(c, head+"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n")
		for range events {
			c.Write(part)
		}
		io.WriteString(c, "0\r\n\r\n")
	})
	c := New(Options{Private: AnyPrivate()})
	defer c.Close()
	out := to(s.url)
	out.Secrets = map[string]string{"apiKey": apiKey}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		r, err := c.Do(b.Context(), out)
		if err != nil {
			b.Fatal(err)
		}
		for {
			got, err := r.Next()
			n += len(got)
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		r.Close()
	}
	if n != events*b.N {
		b.Fatalf("%d events, want %d", n, events*b.N)
	}
	perEvent(b, n)
}

func perEvent(b *testing.B, events int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
}
