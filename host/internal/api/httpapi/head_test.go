package httpapi

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
)

// A tape is a connection whose client sent in, and reads nothing.
type tape struct {
	net.Conn
	in *bytes.Reader
}

func (c *tape) Read(b []byte) (int, error)       { return c.in.Read(b) }
func (c *tape) Write(b []byte) (int, error)      { return len(b), nil }
func (c *tape) Close() error                     { return nil }
func (c *tape) SetDeadline(time.Time) error      { return nil }
func (c *tape) SetReadDeadline(time.Time) error  { return nil }
func (c *tape) SetWriteDeadline(time.Time) error { return nil }
func (c *tape) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (c *tape) RemoteAddr() net.Addr             { return &net.TCPAddr{} }

// A reading is a request as somebody cut it out of a tape.
type reading struct{ method, target, host, body string }

// A cutter returns the requests of wire as handlers of this host would get them.
type cutter func(wire []byte) []reading

// newCutter makes a host for many calls: to make one takes longer than they do.
func newCutter() cutter {
	var all []reading
	s := New(Deps{})
	server := s.app.Server()
	server.Handler = s.screenHeads(func(ctx *fasthttp.RequestCtx) {
		r := reading{method: string(ctx.Method()), target: string(ctx.Request.Header.RequestURI()), host: string(ctx.Request.Header.Host())}
		if stream := ctx.RequestBodyStream(); stream != nil {
			body, err := io.ReadAll(stream)
			if c := ctx.Conn().(*conn); err != nil || ctx.Request.Header.ContentLength() < 0 && c.framing.BrokenOff() {
				ctx.SetConnectionClose()
				return
			}
			r.body = string(body)
		}
		all = append(all, r)
	})
	return func(wire []byte) []reading {
		all = nil
		_ = server.ServeConn(&conn{Conn: &tape{in: bytes.NewReader(wire)}, server: s}) // an error: the requests before it count
		return all
	}
}

// readStandard returns those that Go's own package finds, up to the first that
// it refuses with err, which is nil where there is none such.
func readStandard(wire []byte) (all []reading, err error) {
	in := bufio.NewReader(bytes.NewReader(wire))
	for {
		r, err := http.ReadRequest(in)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return all, err
		}
		all = append(all, reading{r.Method, r.RequestURI, r.Host, string(body)})
	}
}

// refusesContent reports whether err, of readStandard, is about what a request says
// and not about where it ends: how Go reads addresses is its own affair.
func refusesContent(err error) bool {
	_, ok := errors.AsType[*url.Error](err)
	return ok
}

// FuzzRawRequests wants every request that the host takes to be the one that
// another reader of HTTP finds in the same bytes, and none that it refuses: who
// cuts them elsewhere can be made to take a part of a body for a request.
func FuzzRawRequests(f *testing.F) {
	const get, post = "GET /a HTTP/1.1\r\nHost: localhost\r\n", "POST /b HTTP/1.1\r\nHost: localhost\r\n"
	const smuggled = "GET /smuggled HTTP/1.1\r\nHost: evil.example\r\n\r\n"
	for _, seed := range []string{
		get + "\r\n",
		"GET http://localhost/a HTTP/1.1\r\nHost: localhost\r\n\r\n",
		post + "Content-Length: 2\r\n\r\n{}",
		post + "Transfer-Encoding: chunked\r\n\r\n2;a=b\r\n{}\r\n0\r\nX: y\r\n\r\n",
		post + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n2e\r\n" + smuggled + "0\r\n\r\n",
		post + "Content-Length: 46\r\nContent-Length: 0\r\n\r\n" + smuggled,
		post + "Content-Length:\r\n 46\r\n\r\n" + smuggled,
		post + "X: a\nContent-Length: 46\r\n\r\n" + smuggled,
		post + "Content Length: 46\r\n\r\n" + smuggled,
		post + "Transfer-Encoding: identity\r\nContent-Length: 46\r\n\r\n" + smuggled,
		post + "Transfer-Encoding: xchunked\r\nContent-Length: 46\r\n\r\n" + smuggled,
		post + "Transfer-Encoding: chunked\r\n\r\n0;a\n\r\n" + smuggled,
		post + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX: y\n\r\n" + smuggled,
		post + "Transfer-Encoding: chunked\r\n\r\n2;\x00\r\n{}\r\n0\r\n\n" + smuggled,
		"GET /a HTTP/1.1\nHost: localhost\r\n\r\n" + smuggled,
		"\r\n" + get + "Expect: 100-continue\r\nContent-Length: 1\r\n\r\n\n\n" + smuggled,
		"GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	cut := newCutter()
	f.Fuzz(func(t *testing.T, first []byte) {
		wire := append(bytes.Clone(first), get+"X-Last: yes\r\n\r\n"...)
		got := cut(wire)
		want, refused := readStandard(wire)
		for i, r := range got {
			if i >= len(want) {
				if !refusesContent(refused) {
					t.Errorf("request %d is %+v: others find %d in %q, and say %v", i, r, len(want), wire, refused)
				}
				return
			}
			if r.host = strings.TrimSpace(r.host); r != want[i] {
				t.Fatalf("request %d is %+v, others read %+v in %q", i, r, want[i], wire)
			}
		}
	})
}
