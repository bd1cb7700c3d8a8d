package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/e2e/apart"
	"github.com/parley-search/parley/host/e2e/house"
)

// TestChunkAllocates holds the way of a chunk from the provider's socket to the
// client's: no allocation grows with the number of chunks. Each is sent once the
// client has the one before, so that each is read, decoded and written by itself.
func TestChunkAllocates(t *testing.T) {
	if apart.Run(t) {
		return
	}
	if testing.Short() {
		t.Skip("counts allocations of the whole process, to which the race detector adds")
	}
	p := newLockstep(t)
	h := house.Open(t, map[string]string{"log-level": "off", "no-analytics": "true"}, house.Shipped(t, "vllm"))
	h.Must("PATCH", "/chats/w/settings", fmt.Sprintf(`{"source":"vLlm","baseUrl":"http://%s"}`, p.Addr()))
	few, many := p.allocations(t, h, 64), p.allocations(t, h, 640)
	t.Logf("%d allocations for an answer of 64 chunks, %d for one of 640", few, many)
	// What else the process does meanwhile allocates as well; one allocation a
	// chunk would be 576.
	if many > few+288 {
		t.Errorf("%d allocations for 576 chunks more, want no more than a few", many-few)
	}
}

// TestAnswerAllocates bounds the bytes that an answer of a word allocates, the
// client's and the provider's in this process among them: buffers go back to
// their pools when an answer takes its connection over.
func TestAnswerAllocates(t *testing.T) {
	if apart.Run(t) {
		return
	}
	if testing.Short() {
		t.Skip("counts allocations of the whole process, to which the race detector adds")
	}
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, house.Delta("word")+house.Finish)
	}))
	defer provider.Close()
	h := house.Open(t, map[string]string{"log-level": "off", "no-analytics": "true"}, house.Shipped(t, "vllm"))
	h.Must("PATCH", "/chats/w/settings", fmt.Sprintf(`{"source":"vLlm","baseUrl":%q}`, provider.URL))
	const answers, most = 500, 44 << 10
	var before, after runtime.MemStats
	for n := range answers + 50 {
		if n == 50 {
			runtime.ReadMemStats(&before)
		}
		resp, err := h.Client.Post(h.URL+"/chats/w/chat/completions", "application/json", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK || n == 0 {
			t.Fatalf("answer %d of %d bytes, %v", resp.StatusCode, n, err)
		}
	}
	runtime.ReadMemStats(&after)
	each := (after.TotalAlloc - before.TotalAlloc) / answers
	t.Logf("an answer allocates %d bytes", each)
	if each > most {
		t.Errorf("an answer allocates %d bytes, want %d at most", each, most)
	}
}

// A lockstep is a provider that sends an event each time it is told to.
type lockstep struct {
	net.Listener
	next chan bool // false: end
}

// mark stands in each event once.
const mark = '~'

func newLockstep(t *testing.T) *lockstep {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &lockstep{ln, make(chan bool, 1)} // one: where nobody takes it, the client notices
	t.Cleanup(func() { ln.Close() })
	event := []byte(house.Chunk(house.Delta(string(mark))))
	end := []byte(house.Chunk(house.Finish) + "0\r\n\r\n")
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for in := bufio.NewReader(c); ; {
					r, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					_, _ = in.Discard(int(r.ContentLength))
					_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"))
					for <-p.next {
						_, _ = c.Write(event)
					}
					_, _ = c.Write(end)
				}
			}()
		}
	}()
	return p
}

// allocations returns how many the process makes for an answer of n chunks, the
// fewest of several.
func (p *lockstep) allocations(t *testing.T, h *house.House, n int) (fewest uint64) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(h.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const body = `{"model":"m","messages":[{"role":"user","content":"hi"}]}`
	request := fmt.Appendf(nil, "POST /chats/w/chat/completions HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", conn.RemoteAddr(), len(body), body)
	buf := make([]byte, 64<<10)
	var before, after runtime.MemStats
	for range 6 {
		if err := conn.SetDeadline(time.Now().Add(5 * time.Minute)); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&before)
		if _, err := conn.Write(request); err != nil {
			t.Fatal(err)
		}
		for range n {
			p.next <- true
			await(t, conn, buf, []byte{mark})
		}
		p.next <- false
		await(t, conn, buf, []byte("0\r\n\r\n"))
		runtime.ReadMemStats(&after)
		if made := after.Mallocs - before.Mallocs; fewest == 0 || made < fewest {
			fewest = made
		}
	}
	return fewest
}

// await reads until what stands in what is read; a read may end within it.
func await(t *testing.T, conn net.Conn, buf, what []byte) {
	t.Helper()
	held := 0
	for {
		n, err := conn.Read(buf[held:])
		if err != nil {
			t.Fatalf("%v after %.200s", err, buf[:held])
		}
		held += n
		if bytes.Contains(buf[:held], what) {
			return
		}
		if held > len(buf)/2 {
			held = copy(buf, buf[held-len(what):held])
		}
	}
}
