package httpapi

import (
	"bytes"
	"errors"
	"io"
	"math"
	"net"
	"net/http/httputil"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/base/clocktest"
	"github.com/parley-search/parley/host/internal/base/waittest"
)

// The writing of a chunk alone: no allocation.
func BenchmarkStreamWrite(b *testing.B) {
	st := newStream(written{to: io.Discard}, func(error) {}, time.Hour, &sync.Pool{})
	st.begin(nil, false)
	frame := []byte(`data: {"id":"chatcmpl-0123456789","object":"chat.completion.chunk","created":1795237200,"model":"m","choices":[{"index":0,"delta":{"content":"word"},"finish_reason":null}]}` + "\n\n")
	b.ReportAllocs()
	for b.Loop() {
		if err := st.WriteFrames(frame, false); err != nil {
			b.Fatal(err)
		}
	}
}

// pair returns both ends of a connection over TCP.
func pair(t testing.TB) (server *conn, client net.Conn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	client, err = net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	server = &conn{Conn: c, server: &Server{Deps: Deps{Limits: Limits{}.withDefaults()}}}
	t.Cleanup(func() { _, _ = server.Close(), client.Close() })
	return server, client
}

func TestGone(t *testing.T) {
	server, client := pair(t)
	if server.isGone() {
		t.Error("gone = true for a client that is there")
	}
	// The deadline for reading the request must not matter.
	if err := server.SetReadDeadline(time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	if server.isGone() {
		t.Error("gone = true after a deadline for reading")
	}
	if _, err := io.WriteString(client, "GET"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if server.isGone() {
			t.Error("gone = true for a client that sent the next request")
		}
	}
	if err := server.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 3)
	if _, err := io.ReadFull(server, got); err != nil || string(got) != "GET" {
		t.Errorf("read after gone = %q, %v, want what the client sent", got, err)
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	waittest.For(t, "gone says so of a client that left", server.isGone)
}

// A look at every open stream, twice a second, makes no garbage to speak of: a
// RawConn and what closures hold. What else the process does may add to a count,
// so that the least of several holds.
func TestGoneAllocates(t *testing.T) {
	server, _ := pair(t)
	least := math.Inf(1)
	for range 10 {
		least = min(least, testing.AllocsPerRun(100, func() { server.isGone() }))
	}
	if least > 3 {
		t.Errorf("gone makes %v allocations, want at most 3", least)
	}
}

// A comment is written between open and close only, and one that nobody takes
// ends the answer.
func TestBeatAfterClose(t *testing.T) {
	left := make(chan error, 1)
	st := newStream(written{to: broken{}}, func(err error) { left <- err }, time.Nanosecond, &sync.Pool{})
	st.writeComment() // not open yet
	st.begin(nil, false)
	st.writeComment()
	select {
	case err := <-left:
		if !errors.Is(err, request.ErrClientLeft) {
			t.Errorf("beat cancels with %v, want %v", err, request.ErrClientLeft)
		}
	default:
		t.Error("a beat that nobody takes does not end the answer")
	}
	st.close()
	st.writeComment()
	st.look(time.Now())
	if st.beats.Load() {
		t.Error("a closed stream is to send a comment")
	}
}

// A comment is due when nothing was written for a while, whatever date the
// machine's clock has been set to since.
func TestBeatByAnyClock(t *testing.T) {
	for _, by := range []time.Duration{0, 365 * 24 * time.Hour, -24 * time.Hour} {
		beat := make(chan error, 1)
		st := newStream(written{to: broken{}}, func(err error) { beat <- err }, time.Hour, &sync.Pool{})
		st.begin(nil, false)
		now := clocktest.Set(time.Now(), by)
		st.look(now.Add(59 * time.Minute))
		if st.beats.Load() || len(beat) > 0 {
			t.Errorf("clock set by %v: a comment is sent before an hour is over", by)
		}
		st.look(now.Add(2 * time.Hour))
		select {
		case <-beat:
		case <-time.After(time.Minute):
			t.Errorf("clock set by %v: no comment is sent after two hours", by)
		}
	}
}

// broken takes nothing.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

// A comment that comes due between [DONE] and the end of the connection must
// not be sent: some clients read on until the connection closes.
func TestNoBeatAfterDone(t *testing.T) {
	var out bytes.Buffer
	st := newStream(written{to: &out}, func(error) {}, 0, &sync.Pool{})
	st.begin(nil, false)
	st.writeComment()
	if err := st.WriteFrames([]byte("data: {}\n\ndata: [DONE]\n\n"), true); err != nil {
		t.Fatal(err)
	}
	st.writeComment()
	if got, want := out.String(), "3\r\n:\n\n\r\n18\r\ndata: {}\n\ndata: [DONE]\n\n\r\n"; got != want {
		t.Errorf("stream = %q, want %q", got, want)
	}
	if got, want := st.close(), len(":\n\ndata: {}\n\ndata: [DONE]\n\n"); got != want {
		t.Errorf("close = %d bytes, want %d", got, want)
	}
}

// The head goes out in one write with the first frames, or by itself where the
// first event has none.
func TestStreamHead(t *testing.T) {
	for _, first := range []string{"", "data: {}\n\n"} {
		var out bytes.Buffer
		writes := 0
		st := newStream(written{to: counted{&out, &writes}}, func(error) {}, time.Hour, &sync.Pool{})
		st.begin([]byte("HEAD\r\n\r\n"), false)
		want := "HEAD\r\n\r\n"
		if first != "" {
			want += "a\r\ndata: {}\n\n\r\n"
		}
		if err := errors.Join(st.WriteFrames([]byte(first), false), st.WriteFrames(nil, false)); err != nil {
			t.Fatal(err)
		}
		if out.String() != want || writes != 1 {
			t.Errorf("after the first event: %q by %d writes, want %q by one", out.String(), writes, want)
		}
	}
}

// Chunks of all sizes are read by net/http's reader as they were put in, each
// comes by one write, and a chunk that was sent holds no buffer. A large one is
// for nobody.
func TestChunk(t *testing.T) {
	var want, out bytes.Buffer
	c := chunk{spare: &sync.Pool{}}
	for _, n := range []int{0, 1, 15, 16, 255, 256, 4095, 4096, 65535, 65536, 1 << 20} {
		data := bytes.Repeat([]byte{byte('a' + n%26)}, n)
		want.Write(data)
		c.add(data[:n/2])
		c.add(data[n/2:])
		writes := 0
		if err := c.send(counted{&out, &writes}); err != nil || writes != min(n, 1) {
			t.Errorf("send of %d bytes: %d writes, error %v; want one, and none of nothing", n, writes, err)
		}
		if c.buf != nil {
			t.Errorf("after %d bytes the chunk holds a buffer of %d", n, cap(*c.buf))
		}
		if b, ok := c.spare.Get().(*[]byte); ok && cap(*b) > maxKept {
			t.Errorf("after %d bytes a buffer of %d is kept, want at most %d", n, cap(*b), maxKept)
		}
	}
	out.WriteString("0\r\n\r\n")
	got, err := io.ReadAll(httputil.NewChunkedReader(&out))
	if err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("read back %d bytes, error %v; want the %d that were put in", len(got), err, want.Len())
	}
}

// An answer whose connection ends before it begins is ended all the same, once.
func TestAnswerUnheard(t *testing.T) {
	c, _ := pair(t)
	var did []string
	c.server.taken.Add(1)
	c.answer.Store(&answering{&noted{&did}, nil})
	_, _ = c.Close(), c.Close()
	c.server.taken.Wait()
	if got, want := strings.Join(did, " "), "leave run"; got != want {
		t.Errorf("Close before the answer: %q, want %q", got, want)
	}
}

// noted notes what is called of a body.
type noted struct{ did *[]string }

func (n *noted) run() error { *n.did = append(*n.did, "run"); return request.ErrClientLeft }
func (n *noted) leave()     { *n.did = append(*n.did, "leave") }

// written is a connection of which nothing counts but what is written.
type written struct {
	net.Conn
	to io.Writer
}

func (w written) Write(p []byte) (int, error) { return w.to.Write(p) }

// counted counts writes.
type counted struct {
	io.Writer
	n *int
}

func (c counted) Write(p []byte) (int, error) { *c.n++; return c.Writer.Write(p) }
