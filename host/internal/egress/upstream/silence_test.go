package upstream

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-search/parley/host/internal/base/outbound"
)

// provider is where piped clients find theirs.
const provider = "http://127.0.0.1:1"

// piped returns a client whose connections are pipes to serve, for tests in a
// bubble: there a clock moves only when all goroutines wait, and no goroutine
// may be left.
func piped(t *testing.T, l Limits, serve func(net.Conn)) *Client {
	t.Helper()
	c := New(Options{Limits: l})
	t.Cleanup(func() { c.Close() })
	c.private.DialContext = func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			req, err := http.ReadRequest(bufio.NewReader(theirs))
			if err != nil {
				t.Errorf("read request: %v", err)
				return
			}
			io.Copy(io.Discard, req.Body)
			serve(theirs)
		}()
		return ours, nil
	}
	return c
}

// TestSilence checks each limit of time against a provider that stops there.
// Each test's limit is far below the others, so that it is clear which one it
// is.
func TestSilence(t *testing.T) {
	const limit = 3 * time.Second
	tests := []struct {
		name   string
		limits Limits
		says   string
		want   []event
		text   string
		over   outbound.TimeLimit
	}{
		{"never answers", Limits{FirstByte: limit}, "", nil, "did not answer within 3s", outbound.LimitFirstByte},
		{"half a head", Limits{FirstByte: limit}, "HTTP/1.1 200 OK\r\n", nil, "did not answer within 3s", outbound.LimitFirstByte},
		{"nothing after the head", Limits{Silence: limit}, chunked, nil, "fell silent for 3s", outbound.LimitSilence},
		{"stops in the middle", Limits{Silence: limit}, chunked + chunk("data: a\n\ndata:"), data("a"), "fell silent for 3s", outbound.LimitSilence},
		{"too long in all", Limits{Whole: limit}, chunked + chunk("data: a\n\n"), data("a"), "longer than 3s in all", outbound.LimitWhole},
		{"stops in a gzip head", Limits{Silence: limit}, head + "Content-Encoding: gzip\r\n\r\n\x1f\x8b", nil, "fell silent for 3s", outbound.LimitSilence},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gone := make(chan struct{})
				c := piped(t, tt.limits, func(c net.Conn) {
					io.WriteString(c, tt.says)
					io.Copy(io.Discard, c) // until the client hangs up
					close(gone)
				})
				began := time.Now()
				got, err := get(t, c, to(provider))
				wantError(t, err, outbound.Timeout, tt.text, false)
				if e, ok := errors.AsType[*outbound.Error](err); ok && e.Over != tt.over {
					t.Errorf("limit %d was over, want %d", e.Over, tt.over)
				}
				if len(got) != len(tt.want) {
					t.Errorf("events %q, want %q", got, tt.want)
				}
				<-gone
				if took := time.Since(began); took != limit {
					t.Errorf("it took %v, want %v", took, limit)
				}
			})
		})
	}
}

// TestSlowReader checks that the time a reader takes is not the provider's
// silence.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const silence = 3 * time.Second
		c := piped(t, Limits{Silence: silence}, func(c net.Conn) {
			io.WriteString(c, toEnd+"data: a\n\n")
			time.Sleep(2*silence - time.Second)
			io.WriteString(c, "data: b\n\n")
		})
		r, err := c.Do(t.Context(), to(provider))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		time.Sleep(2 * silence)
		if first, err := r.Next(); err != nil || len(first) != 1 {
			t.Errorf("after a pause of ours: %d events, error %v; want 1 and none", len(first), err)
		}
		time.Sleep(2 * silence)
		if got, err := drain(r); err != nil || len(got) != 1 {
			t.Errorf("after another: %d events, error %v; want 1 and none", len(got), err)
		}
	})
}

// TestBackPressure checks that a provider that sends faster than we read is
// held up, and what it sent does not pile up here.
func TestBackPressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent, stuck := 0, make(chan struct{})
		c := piped(t, Limits{MaxResponse: 1 << 40}, func(c net.Conn) {
			io.WriteString(c, toEnd)
			block := []byte(strings.Repeat("data: "+strings.Repeat("x", 1000)+"\n\n", 64))
			for {
				c.SetWriteDeadline(time.Now().Add(time.Second))
				n, err := c.Write(block)
				sent += n
				if err != nil {
					close(stuck)
					return
				}
			}
		})
		r, err := c.Do(t.Context(), to(provider))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		<-stuck
		if sent > 128<<10 {
			t.Errorf("%d bytes were taken of a provider whose events nobody reads, want at most 128 KiB", sent)
		}
	})
}

// TestStallThenGood checks that a provider's bad hour leaves no trace.
func TestStallThenGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int32
		c := piped(t, Limits{FirstByte: time.Second}, func(c net.Conn) {
			if n.Add(1) <= 2 {
				io.Copy(io.Discard, c)
				return
			}
			io.WriteString(c, toEnd+"data: a\n\n")
		})
		for range 2 {
			_, err := get(t, c, to(provider))
			wantError(t, err, outbound.Timeout, "did not answer", false)
		}
		if got, err := get(t, c, to(provider)); err != nil || len(got) != 1 {
			t.Errorf("after two stalls: %d events, error %v; want 1 and none", len(got), err)
		}
	})
}

// TestCancel checks that the caller's context ends a request in every phase and
// hangs up on the provider.
func TestCancel(t *testing.T) {
	for _, tt := range []struct{ name, says string }{
		{"before the head", ""},
		{"in the body", chunked + chunk("data: a\n\n")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			asked, gone := make(chan struct{}), make(chan struct{})
			l := listen(t, func(c net.Conn, _ *http.Request) {
				io.WriteString(c, tt.says)
				close(asked)
				io.Copy(io.Discard, c)
				close(gone)
			})
			c := client(t, Options{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() {
				r, err := c.Do(ctx, to(l.url))
				if err == nil {
					defer r.Close()
					_, err = drain(r)
				}
				ended <- err
			}()
			<-asked
			cancel()
			<-gone
			err := <-ended
			wantError(t, err, outbound.Broken, "cancelled", false)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want context.Canceled in its chain", err)
			}
		})
	}
}

// TestCallerDeadline checks that the caller's own deadline reads as a timeout.
func TestCallerDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := piped(t, Limits{}, func(c net.Conn) { io.Copy(io.Discard, c) })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := c.Do(ctx, to(provider))
		wantError(t, err, outbound.Timeout, "time is over", false)
	})
}

// TestHammerClose closes responses while other goroutines read them, more than
// once.
func TestHammerClose(t *testing.T) {
	l := listen(t, func(c net.Conn, _ *http.Request) {
		io.WriteString(c, chunked)
		for {
			if _, err := io.WriteString(c, chunk("data: a\n\n")); err != nil {
				return
			}
		}
	})
	c := client(t, Options{})
	for i := range 50 {
		r, err := c.Do(t.Context(), to(l.url))
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := drain(r)
			ended <- err
		}()
		time.Sleep(time.Duration(i%5) * time.Millisecond)
		closed := make(chan struct{}, 2)
		for range 2 {
			go func() {
				r.Close()
				closed <- struct{}{}
			}()
		}
		<-closed
		<-closed
		err = <-ended
		wantError(t, err, outbound.Broken, "closed", false)
		if _, again := r.Next(); again == nil {
			t.Error("Next after its error gives none")
		}
	}
}
