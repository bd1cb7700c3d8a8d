package http1_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-search/parley/host/internal/egress/upstream/http1"
)

// A server answers over connections of a test's network.
type server struct {
	dialed atomic.Int32
	serve  func(net.Conn, *bufio.Reader)
}

// dial returns one end of a pipe, whose other one is served.
func (s *server) dial(context.Context, string, string) (net.Conn, error) {
	s.dialed.Add(1)
	ours, theirs := net.Pipe()
	go func() {
		defer theirs.Close()
		s.serve(theirs, bufio.NewReader(theirs))
	}()
	return ours, nil
}

// transport returns one whose requests go to s.
func (s *server) transport() *http1.Transport {
	return &http1.Transport{Dial: s.dial, MaxHead: 4 << 10, ReadBuffer: 512, MaxIdle: 4, MaxIdlePerHost: 2, IdleFor: 30 * time.Second}
}

// each returns a server that answers every request of a connection with text.
func each(text string) *server {
	return &server{serve: func(c net.Conn, in *bufio.Reader) {
		for {
			req, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, req.Body)
			if _, err := io.WriteString(c, text); err != nil {
				return
			}
		}
	}}
}

func post(ctx context.Context, body string) *http.Request {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://provider.example/v1?a=b", strings.NewReader(body))
	if err != nil {
		panic(err) // a constant
	}
	return req
}

// ask sends a request and reads its answer to the end.
func ask(t *testing.T, tr http.RoundTripper) string {
	t.Helper()
	resp, err := tr.RoundTrip(post(t.Context(), "question"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const answer = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nanswer"

// TestKeep sends requests one after the other over a connection, unless its answer
// says or shows that it is good for no other one.
func TestKeep(t *testing.T) {
	for name, tt := range map[string]struct {
		says string
		want string
		keep bool
	}{
		"length":       {answer, "answer", true},
		"chunks":       {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: A\r\n\r\n3\r\nans\r\n3\r\nwer\r\n0\r\nA: b\r\n\r\n", "answer", true},
		"nothing":      {"HTTP/1.1 204 No Content\r\n\r\n", "", true},
		"told to wait": {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + answer, "answer", true},
		"closes":       {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 6\r\n\r\nanswer", "answer", false},
		"1.0":          {"HTTP/1.0 200 OK\r\nContent-Length: 6\r\n\r\nanswer", "answer", false},
		"says more":    {answer + "HTTP/1.1 200 OK\r\n", "answer", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := each(tt.says)
				tr := s.transport()
				defer tr.CloseIdleConnections()
				for range 3 {
					if got := ask(t, tr); got != tt.want {
						t.Errorf("answer %q, want %q", got, tt.want)
					}
				}
				if n, want := s.dialed.Load(), map[bool]int32{true: 1, false: 3}[tt.keep]; n != want {
					t.Errorf("%d connections, want %d", n, want)
				}
			})
		})
	}
}

// TestWritten compares what is sent with what net/http sends.
func TestWritten(t *testing.T) {
	var sent []string
	s := &server{serve: func(c net.Conn, in *bufio.Reader) {
		b := make([]byte, 1<<10)
		n, _ := in.Read(b)
		sent = append(sent, string(b[:n]))
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 6\r\n\r\nanswer")
	}}
	ask(t, s.transport())
	ask(t, &http.Transport{DialContext: s.dial, DisableCompression: true})
	if len(sent) != 2 || sent[0] != sent[1] || !strings.HasSuffix(sent[0], "\r\n\r\nquestion") {
		t.Errorf("sent %q", sent)
	}
}

// TestWaiting bounds the connections that wait, and how long.
func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := each(answer)
		tr := s.transport()
		defer tr.CloseIdleConnections()
		together := func() {
			var all []*http.Response
			for range 3 {
				resp, err := tr.RoundTrip(post(t.Context(), ""))
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, resp)
			}
			for _, resp := range all {
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		}
		for i, want := range []int32{3, 4} { // two wait
			together()
			if n := s.dialed.Load(); n != want {
				t.Errorf("round %d: %d connections, want %d", i, n, want)
			}
		}
		time.Sleep(29 * time.Second)
		ask(t, tr)
		if n := s.dialed.Load(); n != 4 {
			t.Errorf("%d connections before those that wait are old, want 4", n)
		}
		time.Sleep(31 * time.Second)
		ask(t, tr)
		if n := s.dialed.Load(); n != 5 {
			t.Errorf("%d connections after that, want 5", n)
		}
	})
}

// TestEnds cuts a request short at each of its parts: the other side sees that its
// connection is closed.
func TestEnds(t *testing.T) {
	type test struct {
		says string // before it falls silent
		end  func(cancel context.CancelCauseFunc, resp *http.Response)
	}
	errOver := errors.New("the time is over")
	byContext := func(cancel context.CancelCauseFunc, _ *http.Response) { cancel(errOver) }
	for name, tt := range map[string]test{
		"head, by the context": {"HTTP/1.1 200 OK\r\n", byContext},
		"body, by the context": {"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nans", byContext},
		"body, by Close":       {"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nans", func(_ context.CancelCauseFunc, r *http.Response) { r.Body.Close() }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gone := make(chan struct{})
				s := &server{serve: func(c net.Conn, in *bufio.Reader) {
					req, _ := http.ReadRequest(in)
					_, _ = io.Copy(io.Discard, req.Body)
					_, _ = io.WriteString(c, tt.says)
					_, _ = io.Copy(io.Discard, in)
					close(gone)
				}}
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				time.AfterFunc(time.Hour, func() {
					if strings.HasPrefix(name, "head") {
						cancel(errOver)
					}
				})
				resp, err := s.transport().RoundTrip(post(ctx, ""))
				if strings.HasPrefix(name, "head") {
					if !errors.Is(err, errOver) {
						t.Errorf("error %v, want %v", err, errOver)
					}
				} else {
					time.AfterFunc(time.Hour, func() { tt.end(cancel, resp) })
					if b, err := io.ReadAll(resp.Body); string(b) != "ans" || err == nil {
						t.Errorf("read %q, error %v", b, err)
					}
				}
				<-gone
			})
		})
	}
}

// TestBad gives answers that are none.
func TestBad(t *testing.T) {
	for name, tt := range map[string]struct{ says, want string }{
		"nothing":          {"", "EOF"},
		"no HTTP":          {"SSH-2.0-x\r\n\r\n", "malformed"},
		"a long head":      {"HTTP/1.1 200 OK\r\nA: " + strings.Repeat("a", 5<<10) + "\r\n\r\n", "headers exceeded"},
		"many 1xx answers": {strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", 200), "headers exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{serve: func(c net.Conn, in *bufio.Reader) {
				req, _ := http.ReadRequest(in)
				_, _ = io.Copy(io.Discard, req.Body)
				_, _ = io.WriteString(c, tt.says)
			}}
			if _, err := s.transport().RoundTrip(post(t.Context(), "")); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one of %q", err, tt.want)
			}
		})
	}
}

// TestTrace checks what a request's context is told.
func TestTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := each(answer)
		tr := s.transport()
		defer tr.CloseIdleConnections()
		var told []string
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
			GotConn: func(i httptrace.GotConnInfo) {
				told = append(told, map[bool]string{true: "old", false: "new"}[i.Reused])
			},
			WroteRequest:         func(httptrace.WroteRequestInfo) { told = append(told, "wrote") },
			GotFirstResponseByte: func() { told = append(told, "first") },
		})
		for range 2 {
			resp, err := tr.RoundTrip(post(ctx, ""))
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		if got := strings.Join(told, " "); got != "new wrote first old wrote first" {
			t.Errorf("told %s", got)
		}
	})
}

// TestQuiet sends no request over a connection that was closed, or spoke, while it
// waited.
func TestQuiet(t *testing.T) {
	for name, after := range map[string]func(net.Conn){
		"closed": func(c net.Conn) { c.Close() },
		"spoke":  func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 408 Request Timeout\r\n\r\n") },
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" {
				t.Skip("there it shows with the next request only")
			}
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			done := make(chan struct{}, 2)
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					defer c.Close()
					req, _ := http.ReadRequest(bufio.NewReader(c))
					_, _ = io.Copy(io.Discard, req.Body)
					_, _ = io.WriteString(c, answer)
					after(c)
					done <- struct{}{}
				}
			}()
			dialer := &net.Dialer{}
			dialed := 0
			tr := (&server{}).transport()
			tr.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
				dialed++
				return dialer.DialContext(ctx, network, l.Addr().String())
			}
			defer tr.CloseIdleConnections()
			for range 2 {
				ask(t, tr)
				<-done // what came is there, over loopback
			}
			if dialed != 2 {
				t.Errorf("%d connections, want 2", dialed)
			}
		})
	}
}

// listen serves connections of loopback, one after the other.
func listen(t testing.TB, serve func(net.Conn)) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serve(c)
		}
	}()
	return l
}

// TestEarly answers before the request is read, and hangs up.
func TestEarly(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems may drop what came before a connection was reset")
	}
	l := listen(t, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 1))
		_, _ = io.WriteString(c, "HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
		c.Close()
	})
	tr := (&server{}).transport()
	tr.Dial = (&net.Dialer{}).DialContext
	for range 50 {
		req := post(t.Context(), strings.Repeat("x", 60<<10))
		req.URL.Host = l.Addr().String()
		resp, err := tr.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("status %d", resp.StatusCode)
		}
	}
}

// A script is a connection that takes all that is written, and hands out parts. Behind
// them it fails once with err, and has ended then.
type script struct {
	net.Conn
	parts []string
	err   error
}

func (s *script) Write(b []byte) (int, error) { return len(b), nil }
func (s *script) Close() error                { return nil }

func (s *script) Read(b []byte) (n int, err error) {
	if len(s.parts) > 0 {
		n = copy(b, s.parts[0])
		s.parts = s.parts[1:]
		return n, nil
	}
	err, s.err = s.err, io.EOF
	return 0, err
}

// TestWait waits before each read: for what comes late, not where the end was read
// before, and for a reset, of which the system tells once.
func TestWait(t *testing.T) {
	reset, extra := errors.New("connection reset by peer"), errors.New("read behind the end")
	for _, tt := range []struct {
		name  string
		parts []string
		err   error
		want  string
		ends  error
	}{
		{"late", []string{"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nans", "w", "er"}, extra, "answer", io.EOF},
		{"chunks", []string{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nans\r\n", "3\r\nwer\r", "\n0\r\n\r\n"}, extra, "answer", io.EOF},
		{"nothing", []string{"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"}, extra, "", io.EOF},
		{"at once", []string{"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nanswer"}, extra, "answer", io.EOF},
		{"until it ends", []string{"HTTP/1.1 200 OK\r\n\r\nans", "wer"}, io.EOF, "answer", io.EOF},
		{"reset", []string{"HTTP/1.1 200 OK\r\n\r\nans"}, reset, "ans", reset},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tr := (&server{}).transport()
			c := &script{parts: tt.parts, err: tt.err}
			tr.Dial = func(context.Context, string, string) (net.Conn, error) { return c, nil }
			resp, err := tr.RoundTrip(post(t.Context(), ""))
			if err != nil {
				t.Fatal(err)
			}
			defer tr.CloseIdleConnections()
			defer resp.Body.Close()
			var got []byte
			for room := make([]byte, 64); err == nil; {
				resp.Body.(interface{ Wait() }).Wait()
				var n int
				n, err = resp.Body.Read(room)
				got = append(got, room[:n]...)
			}
			if string(got) != tt.want || err != tt.ends { //nolint:errorlint // as it is
				t.Errorf("read %q, %v; want %q, %v", got, err, tt.want, tt.ends)
			}
			if tt.err == extra && c.err != extra { //nolint:errorlint // as it is
				t.Error("it waited for more where nothing was to come")
			}
		})
	}
}

// TestNoGoroutines holds answers open: they cost no goroutine.
func TestNoGoroutines(t *testing.T) {
	const open = 50
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	tr := (&server{}).transport()
	tr.Dial = (&net.Dialer{}).DialContext
	before := runtime.NumGoroutine()
	served := make(chan struct{})
	go func() {
		defer close(served)
		for range open {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
				return
			}
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nans")
		}
		<-t.Context().Done()
	}()
	for range open {
		req := post(t.Context(), "")
		req.URL.Host = l.Addr().String()
		resp, err := tr.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
	}
	if n := runtime.NumGoroutine() - before; n >= open {
		t.Errorf("%d goroutines for %d answers", n, open)
	}
}

// BenchmarkRoundTrip asks for a short answer, over one connection of loopback.
func BenchmarkRoundTrip(b *testing.B) {
	l := listen(b, func(c net.Conn) { go each(answer).serve(c, bufio.NewReader(c)) })
	ours := (&server{}).transport()
	ours.Dial = (&net.Dialer{}).DialContext
	theirs := &http.Transport{DisableCompression: true}
	for _, t := range []struct {
		name string
		by   interface {
			http.RoundTripper
			CloseIdleConnections()
		}
	}{{"http1", ours}, {"net", theirs}} {
		b.Run(t.name, func(b *testing.B) {
			defer t.by.CloseIdleConnections()
			b.ReportAllocs()
			for b.Loop() {
				req := post(b.Context(), "question")
				req.URL.Host = l.Addr().String()
				resp, err := t.by.RoundTrip(req)
				if err != nil {
					b.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
}

// TestAhead: of a body that comes faster than it is asked for, all that is there is
// read at once, and none of it is lost or stays with the connection.
func TestAhead(t *testing.T) {
	var says, want strings.Builder
	says.WriteString("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
	for i := range 300 {
		word := strings.Repeat(string(rune('a'+i%26)), 100+i)
		fmt.Fprintf(&says, "%x\r\n%s\r\n", len(word), word)
		want.WriteString(word)
	}
	says.WriteString("0\r\n\r\n")
	synctest.Test(t, func(t *testing.T) {
		s := each(says.String())
		tr := s.transport()
		defer tr.CloseIdleConnections()
		for range 3 {
			resp, err := tr.RoundTrip(post(t.Context(), "question"))
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			most, p := 0, make([]byte, 700)
			for err == nil {
				var n int
				n, err = resp.Body.Read(p)
				got.Write(p[:n])
				most = max(most, resp.Body.(interface{ Ahead() int }).Ahead())
			}
			if err != io.EOF || got.String() != want.String() {
				t.Fatalf("%d bytes, %v; want the %d that were sent", got.Len(), err, want.Len())
			}
			if most < 8<<10 {
				t.Errorf("at most %d bytes were read ahead, want some thousands", most)
			}
		}
		if n := s.dialed.Load(); n != 1 {
			t.Errorf("%d connections, want 1: nothing was left over", n)
		}
	})
}
