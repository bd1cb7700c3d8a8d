package e2e

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-search/parley/cmd/parley/bench"
	"github.com/parley-search/parley/host/e2e/apart"
	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/waittest"
)

// A flood is an answer of 16 MB that a provider sends as fast as it is taken.
type flood struct {
	written atomic.Int64
	stuck   atomic.Bool // nothing was taken for a while
	ended   chan struct{}
}

const floodSize = 16 << 20

// send writes until all is written or the host hangs up.
func (f *flood) send(x *house.Exchange) {
	defer close(f.ended)
	_ = x.Conn.(*net.TCPConn).SetWriteBuffer(32 << 10) // the system would take megabytes off its hands
	block := []byte(house.Stream + x.Form.Begin)
	events := []byte(strings.Repeat(x.Word(7), 64))
	for f.written.Load() < floodSize {
		_ = x.SetWriteDeadline(time.Now().Add(time.Second))
		n, err := x.Write(block)
		f.written.Add(int64(n))
		switch block = block[n:]; {
		case errors.Is(err, os.ErrDeadlineExceeded):
			f.stuck.Store(true)
		case err != nil:
			return
		case len(block) == 0:
			block = events
		}
	}
}

// TestWeatherSlowReaders has clients read long streams slowly, or not at all:
// the providers cannot send on, the host holds a little of each, and all is let
// go when they leave.
func TestWeatherSlowReaders(t *testing.T) {
	if apart.Run(t) {
		return
	}
	s := newStation(t, 3, nil, bench.Sources()...)
	before := heap()
	floods := make([]*flood, s.rounds)
	readers := make([]net.Conn, s.rounds)
	for i := range floods {
		f := &flood{ended: make(chan struct{})}
		floods[i] = f
		model := fmt.Sprint("flood", i)
		s.wire.On(model, f.send)
		readers[i] = s.slowReader(s.sources[i%len(s.sources)], model)
		defer readers[i].Close()
	}
	if !waittest.Until(func() bool {
		for _, f := range floods {
			if !f.stuck.Load() {
				return false
			}
		}
		return true
	}) {
		t.Error("the provider can send on though nobody reads")
	}
	var most int64
	for _, f := range floods {
		most = max(most, f.written.Load())
	}
	held := heap() - before
	t.Logf("%d readers stand still: the provider got rid of %d KiB of 16 MiB at most, the heap holds %d KiB for each", s.rounds, most>>10, held>>10/int64(s.rounds))
	if most > floodSize/4 {
		t.Errorf("the provider got rid of %d bytes that nobody reads", most)
	}
	const others = 16 << 20 // what goes on beside
	if held > others+int64(s.rounds)<<19 {
		t.Errorf("the heap holds %d bytes for %d readers that stand still", held, s.rounds)
	}

	// A few seconds of 4 kB a second each; where there is no time, at once.
	var reading sync.WaitGroup
	for _, c := range readers {
		reading.Go(func() {
			for range 4 {
				if _, err := io.CopyN(io.Discard, c, 4000); err != nil {
					t.Errorf("slow reader: %v", err)
				}
				if s.long {
					time.Sleep(time.Second)
				}
			}
		})
	}
	reading.Wait()
	for _, c := range readers {
		c.Close()
	}
	for _, f := range floods {
		house.Within(t, f.ended, "the provider's request ends")
	}
	s.checkCalm()
	if left := heap() - before; left > others {
		t.Errorf("%d bytes more on the heap once all have left", left)
	}
}

// slowReader asks, over a connection with room for a few kilobytes, and reads
// nothing.
func (s *station) slowReader(source, model string) net.Conn {
	s.T.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		s.T.Fatal(err)
	}
	_ = c.(*net.TCPConn).SetReadBuffer(4 << 10)
	body := fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"hi"}]}`, model)
	if _, err := fmt.Fprintf(c, "POST /chats/%s/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", source, len(body), body); err != nil {
		s.T.Error(err)
	}
	return c
}

// heap is the bytes that are in use once garbage is collected.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what pools kept goes with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
