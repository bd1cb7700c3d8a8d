package upstream

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/chat"
)

// TestSilence checks each limit of time against a provider that stops there.
// Each test's limit is far below the others, so that no clock decides which
// one it is.
func TestSilence(t *testing.T) {
	const (
		short  = 50 * time.Millisecond
		longer = 500 * time.Millisecond // where something must come first
	)
	tests := []struct {
		name      string
		limits    Limits
		says      string
		want      []event
		text      string
		retryable bool
	}{
		{"never answers", Limits{FirstByte: short}, "", nil, "did not answer within 50ms", false},
		{"half a head", Limits{FirstByte: short}, "HTTP/1.1 200 OK\r\n", nil, "did not answer within 50ms", false},
		{"nothing after the head", Limits{Silence: short}, chunked, nil, "fell silent for 50ms", false},
		{"stops in the middle", Limits{Silence: longer}, chunked + chunk("data: a\n\ndata:"), data("a"), "fell silent for 500ms", false},
		{"too long in all", Limits{Whole: longer}, chunked + chunk("data: a\n\n"), data("a"), "longer than 500ms in all", false},
		{"stops in a gzip head", Limits{Silence: short}, head + "Content-Encoding: gzip\r\n\r\n\x1f\x8b", nil, "fell silent for 50ms", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			gone := make(chan struct{})
			l := listen(t, func(c net.Conn, _ *http.Request) {
				io.WriteString(c, tt.says)
				io.Copy(io.Discard, c) // until the client hangs up
				close(gone)
			})
			c := client(t, Options{Limits: tt.limits})
			got, err := get(t, c, to(l.url))
			wantError(t, err, chat.UpstreamTimeout, tt.text, tt.retryable)
			if len(got) != len(tt.want) {
				t.Errorf("events %q, want %q", got, tt.want)
			}
			within(t, gone, "the provider's connection to be closed")
		})
	}
}

// within fails where c is not closed in a time that no healthy run comes near.
func within(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(10 * time.Second):
		t.Fatalf("waited 10 s in vain for %s", what)
	}
}

// TestSlowReader checks that the time a reader takes is not the provider's
// silence.
func TestSlowReader(t *testing.T) {
	more := make(chan struct{})
	l := listen(t, func(c net.Conn, _ *http.Request) {
		io.WriteString(c, toEnd+"data: a\n\n")
		<-more
		io.WriteString(c, "data: b\n\n")
	})
	c := client(t, Options{Limits: Limits{Silence: 300 * time.Millisecond}})
	r, err := c.Do(t.Context(), to(l.url))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	time.Sleep(600 * time.Millisecond)
	if first, err := r.Next(); err != nil || len(first) != 1 {
		t.Errorf("after a pause of ours: %d events, error %v; want 1 and none", len(first), err)
	}
	time.Sleep(600 * time.Millisecond)
	close(more)
	if got, err := drain(r); err != nil || len(got) != 1 {
		t.Errorf("after another: %d events, error %v; want 1 and none", len(got), err)
	}
}

// TestBackPressure checks that a provider that sends faster than we read is
// held up, and what it sent does not pile up here.
func TestBackPressure(t *testing.T) {
	var sent atomic.Int64
	stuck := make(chan struct{})
	l := listen(t, func(c net.Conn, _ *http.Request) {
		io.WriteString(c, toEnd)
		block := []byte(strings.Repeat("data: "+strings.Repeat("x", 1000)+"\n\n", 64))
		for {
			c.SetWriteDeadline(time.Now().Add(200 * time.Millisecond))
			n, err := c.Write(block)
			sent.Add(int64(n))
			if err != nil {
				close(stuck)
				return
			}
		}
	})
	c := client(t, Options{Limits: Limits{MaxResponse: 1 << 40}})
	r, err := c.Do(t.Context(), to(l.url))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	within(t, stuck, "the provider to be held up")
	if got := cap(r.(*response).framer.buf); got > 64<<10 {
		t.Errorf("the framer's buffer has %d bytes after %d were sent, want at most 64 KiB", got, sent.Load())
	}
}

// TestStallThenGood checks that a provider's bad hour leaves no trace.
func TestStallThenGood(t *testing.T) {
	var n atomic.Int32
	l := listen(t, func(c net.Conn, _ *http.Request) {
		if n.Add(1) <= 2 {
			io.Copy(io.Discard, c)
			return
		}
		io.WriteString(c, toEnd+"data: a\n\n")
	})
	c := client(t, Options{Limits: Limits{FirstByte: 500 * time.Millisecond}})
	for range 2 {
		_, err := get(t, c, to(l.url))
		wantError(t, err, chat.UpstreamTimeout, "did not answer", false)
	}
	if got, err := get(t, c, to(l.url)); err != nil || len(got) != 1 {
		t.Errorf("after two stalls: %d events, error %v; want 1 and none", len(got), err)
	}
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
			within(t, asked, "the request")
			cancel()
			within(t, gone, "the provider's connection to be closed")
			err := <-ended
			wantError(t, err, chat.UpstreamBroken, "cancelled", false)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want context.Canceled in its chain", err)
			}
		})
	}
}

// TestCallerDeadline checks that the caller's own deadline reads as a timeout.
func TestCallerDeadline(t *testing.T) {
	l := listen(t, func(c net.Conn, _ *http.Request) { io.Copy(io.Discard, c) })
	c := client(t, Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := c.Do(ctx, to(l.url))
	wantError(t, err, chat.UpstreamTimeout, "time is over", false)
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
		wantError(t, err, chat.UpstreamBroken, "closed", false)
		if _, again := r.Next(); again == nil {
			t.Error("Next after its error gives none")
		}
	}
}
