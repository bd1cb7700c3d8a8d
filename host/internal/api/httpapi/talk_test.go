package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/outbound"
)

// A talker answers one request with what the test says, when it says so.
type talker struct {
	events chan string   // one event each; closed: the end
	asked  chan struct{} // closed when the request came
	ended  chan error    // why the request ended before its time
}

func newProvider() *talker {
	return &talker{events: make(chan string, 100), asked: make(chan struct{}), ended: make(chan error, 1)}
}

// Do implements [outbound.Sender].
func (p *talker) Do(ctx context.Context, _ *outbound.Request) (outbound.Response, error) {
	close(p.asked)
	return &reply{ctx: ctx, talker: p}, nil
}

type reply struct {
	ctx context.Context
	*talker
}

func (r *reply) Status() int         { return http.StatusOK }
func (r *reply) Header() http.Header { return http.Header{} }
func (r *reply) Body(int64) []byte   { return nil }
func (r *reply) Close() error        { return nil }

func (r *reply) Next() ([]abi.Event, error) {
	select {
	case e, ok := <-r.events:
		if !ok {
			return nil, io.EOF
		}
		return []abi.Event{{Data: []byte(e)}}, nil
	case <-r.ctx.Done():
		r.ended <- context.Cause(r.ctx)
		return nil, &outbound.Error{Kind: outbound.Broken, Message: "the request was cancelled", Err: r.ctx.Err()}
	}
}

// waitFor receives from c within a time that only a broken test needs.
func waitFor[T any](t *testing.T, c <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(time.Minute):
		t.Fatalf("no %s after a minute", what)
	}
	return v
}

// A talk is a completion under way on a connection of its own.
type talk struct {
	t    *testing.T
	conn net.Conn
	res  *http.Response
	in   *bufio.Reader
}

// ask sends a request and waits for the head of its answer.
func (r *rig) ask(t *testing.T, body string) *talk {
	t.Helper()
	k := r.send(t, body)
	var err error
	k.res, err = http.ReadResponse(k.in, nil)
	check(t, err)
	k.in = bufio.NewReader(k.res.Body)
	return k
}

// send sends a request and waits for nothing.
func (r *rig) send(t *testing.T, body string) *talk {
	t.Helper()
	return r.sendTo(t, completions, body)
}

func (r *rig) sendTo(t *testing.T, path, body string) *talk {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	check(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	check(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	k := &talk{t: t, conn: conn, in: bufio.NewReader(conn)}
	k.write(path, body)
	return k
}

// write sends a request on the talk's connection.
func (k *talk) write(path, body string) {
	k.t.Helper()
	_, err := fmt.Fprintf(k.conn, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, master, len(body), body)
	check(k.t, err)
}

// frame reads up to the next blank line, which it leaves out.
func (k *talk) frame() string {
	k.t.Helper()
	var b strings.Builder
	for {
		line, err := k.in.ReadString('\n')
		if err != nil {
			k.t.Fatalf("read frame: %v after %q", err, b.String())
		}
		if line == "\n" {
			return b.String()
		}
		b.WriteString(line)
	}
}

// rest reads to the end.
func (k *talk) rest() string {
	k.t.Helper()
	b, err := io.ReadAll(k.in)
	check(k.t, err)
	return string(b)
}
