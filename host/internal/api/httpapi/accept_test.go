package httpapi_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/api/httpapi"
)

// A failing listener fails as the system makes one fail that lacks something.
type failing struct {
	net.Listener
	errors []error
}

func (f *failing) Accept() (net.Conn, error) {
	if len(f.errors) > 0 {
		err := f.errors[0]
		f.errors = f.errors[1:]
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: err}
	}
	return f.Listener.Accept()
}

// What the system lacks for a while ends neither the listener nor what is under way.
func TestHostileDescriptors(t *testing.T) {
	lacks := []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, syscall.EPROTO, syscall.EAGAIN, syscall.EPERM}
	r := newRig(t, wish{listener: func(ln net.Listener) net.Listener { return &failing{ln, lacks} }})
	if a := r.do("GET", "/health", ""); a.status != http.StatusOK {
		t.Errorf("health behind %v = %d %s, want 200", lacks, a.status, a.body)
	}
	if said := r.log.String(); strings.Count(said, "no connection can be taken") != 1 {
		t.Errorf("log %s, want it to say once that no connection can be taken", said)
	}
}

// A panicking connection stands for a fault in the code of the server beneath us.
type panicking struct{ net.Conn }

func (panicking) Read([]byte) (int, error) { panic("secret words") }

type panicsFirst struct {
	net.Listener
	panicked atomic.Bool
}

func (p *panicsFirst) Accept() (net.Conn, error) {
	c, err := p.Listener.Accept()
	if err == nil && !p.panicked.Swap(true) {
		c = panicking{c}
	}
	return c, err
}

// A panic where a connection is served ends that connection alone.
func TestHostilePanicOfAConnection(t *testing.T) {
	r := newRig(t, wish{listener: func(ln net.Listener) net.Listener { return &panicsFirst{Listener: ln} }})
	c := r.connect(t)
	if b, err := io.ReadAll(c); err != nil || len(b) > 0 {
		t.Errorf("read %q, %v of the connection that panicked, want its end", b, err)
	}
	if a := r.do("GET", "/health", ""); a.status != http.StatusOK {
		t.Errorf("health on the next connection = %d %s, want 200", a.status, a.body)
	}
	if said := r.log.String(); !strings.Contains(said, "connection panicked") || strings.Contains(said, "secret words") {
		t.Errorf("log %s, want a panic in it and not what it said", said)
	}
}

// connect opens a connection, and says nothing on it.
func (r *rig) connect(t *testing.T) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	check(t, err)
	t.Cleanup(func() { _ = c.Close() })
	check(t, c.SetDeadline(time.Now().Add(time.Minute)))
	return c
}

// ask sends a request on c and reads its answer's status.
func ask(t *testing.T, c net.Conn, path string) int {
	t.Helper()
	_, err := io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n")
	check(t, err)
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	check(t, err)
	_, err = io.Copy(io.Discard, res.Body)
	check(t, err)
	return res.StatusCode
}

// Where there are as many connections as may be, those go on which nothing was asked
// for longest; streams under way stay. Who finds all of them busy is told to come again.
func TestHostileConnections(t *testing.T) {
	p := newProvider()
	r := newRig(t, wish{upstream: p, limits: httpapi.Limits{Connections: 8}}) // 4 for one client
	stream := r.send(t, hello)
	waitFor(t, p.asked, "request")
	p.events <- "text:one"
	idle := []net.Conn{r.connect(t), r.connect(t), r.connect(t)}
	for _, c := range idle {
		if got := ask(t, c, "/health"); got != http.StatusOK {
			t.Errorf("health = %d, want 200", got)
		}
	}
	for i := range 20 { // nothing but connections
		if c := r.connect(t); ask(t, c, "/health") != http.StatusOK {
			t.Fatalf("health on connection %d is not answered with 200", i)
		}
	}
	for i, c := range idle {
		if b, err := io.ReadAll(c); err != nil || len(b) > 0 {
			t.Errorf("read %q, %v of idle connection %d, want it to be closed", b, err, i)
		}
	}
	p.events <- "text: two"
	p.events <- "finish:stop"
	close(p.events)
	res, err := http.ReadResponse(stream.in, nil)
	check(t, err)
	body, err := io.ReadAll(res.Body)
	check(t, err)
	if rest := string(body); !strings.Contains(rest, "one") || !strings.Contains(rest, "two") || !strings.Contains(rest, "[DONE]") {
		t.Errorf("stream = %q, want both words and its end", rest)
	}
}

func TestHostileConnectionsBusy(t *testing.T) {
	p := &gated{}
	r := newRig(t, wish{upstream: p, limits: httpapi.Limits{Connections: 4}}) // 2 for one client
	for range 2 {
		p.talker = newProvider()
		r.send(t, hello)
		waitFor(t, p.asked, "request")
	}
	c := r.connect(t)
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	check(t, err)
	if res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" || !res.Close {
		t.Errorf("answer where all connections are busy = %d %v, want 503 with Retry-After, and the end", res.StatusCode, res.Header)
	}
}

// gated is a provider that is made anew for each answer.
type gated struct{ *talker }
