package httpapi

import (
	"bufio"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// The writing of a chunk alone: no allocation.
func BenchmarkStreamWrite(b *testing.B) {
	st := newStream(nil, func(error) {}, time.Hour)
	st.open(bufio.NewWriter(io.Discard))
	frame := []byte(`data: {"id":"chatcmpl-0123456789","object":"chat.completion.chunk","created":1795237200,"model":"m","choices":[{"index":0,"delta":{"content":"word"},"finish_reason":null}]}` + "\n\n")
	b.ReportAllocs()
	for b.Loop() {
		if err := errors.Join(st.WriteFrame(frame), st.Flush()); err != nil {
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
	if server.gone() {
		t.Error("gone = true for a client that is there")
	}
	// The deadline for reading the request must not matter.
	if err := server.SetReadDeadline(time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	if server.gone() {
		t.Error("gone = true after a deadline for reading")
	}
	if _, err := io.WriteString(client, "GET"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if server.gone() {
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
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(time.Millisecond) {
		if server.gone() {
			return
		}
	}
	t.Error("gone = false for a client that left")
}

// A comment is written between open and close only, and one that nobody takes
// ends the answer.
func TestBeatAfterClose(t *testing.T) {
	left := make(chan error, 1)
	st := newStream(nil, func(err error) { left <- err }, time.Nanosecond)
	st.beat() // not open yet
	st.open(bufio.NewWriter(broken{}))
	st.beat()
	select {
	case err := <-left:
		if !errors.Is(err, errClientLeft) {
			t.Errorf("beat cancels with %v, want %v", err, errClientLeft)
		}
	default:
		t.Error("a beat that nobody takes does not end the answer")
	}
	st.close()
	st.beat()
	st.look(time.Now())
	if st.beats.Load() {
		t.Error("a closed stream is to send a comment")
	}
}

// broken takes nothing.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

// A comment that comes due between [DONE] and the end of the connection must
// not be sent: some clients read on until the connection closes.
func TestNoBeatAfterDone(t *testing.T) {
	server, _ := pair(t)
	var out strings.Builder
	st := newStream(server, func(error) {}, 0)
	st.open(bufio.NewWriter(&out))
	st.beat()
	if err := errors.Join(st.WriteFrame([]byte("data: {}\n\ndata: [DONE]\n\n")), st.Flush()); err != nil {
		t.Fatal(err)
	}
	st.beat()
	if got, want := out.String(), ":\n\ndata: {}\n\ndata: [DONE]\n\n"; got != want {
		t.Errorf("stream = %q, want %q", got, want)
	}
}
