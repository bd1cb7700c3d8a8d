package httpapi

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/chat"
)

// comment keeps a silent stream open.
var comment = []byte(":\n\n")

// A stream is an answer under way, from before its first byte on. Its sink writes
// frames to it.
type stream struct {
	conn   net.Conn
	cancel context.CancelCauseFunc
	made   time.Time
	silent int64        // nanoseconds without a write after which a comment is due
	last   atomic.Int64 // when something was written, in nanoseconds since made; 0: not open
	beats  atomic.Bool  // a comment is being written
	keep   bool         // the connection is of use behind it

	mu     sync.Mutex
	out    chunk
	opened bool
	size   int
	ended  bool // the last frame was written: a comment after it would no longer be the stream's
}

var _ chat.FrameWriter = (*stream)(nil)

func newStream(c net.Conn, cancel context.CancelCauseFunc, keepAlive time.Duration, spare *sync.Pool) *stream {
	return &stream{conn: c, cancel: cancel, made: time.Now(), silent: int64(keepAlive), out: chunk{spare: spare}}
}

// open has the answer to c, which a is of, be written as a stream of events.
func (s *stream) open(c *fiber.Ctx, a *access) {
	c.Set(fiber.HeaderContentType, "text/event-stream")
	c.Set(fiber.HeaderCacheControl, "no-cache")
	c.Set("X-Accel-Buffering", "no")
	a.stream, a.status, a.first = true, fiber.StatusOK, a.elapsed()
	head, plain, keep := streamHead(c.Context())
	s.keep = keep
	s.begin(head, plain)
}

// begin has the stream write: head goes in front of its first frames, or with the
// first write where there are none. plain: the body is not in chunks.
func (s *stream) begin(head []byte, plain bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened, s.out.head, s.out.plain = true, head, plain
	s.noteWrite()
}

// noteWrite notes that something is written now. It counts from when the stream was
// made, since that goes on as it should where the machine's clock is set.
func (s *stream) noteWrite() { s.last.Store(max(int64(time.Since(s.made)), 1)) }

// close ends the writing, and returns how many bytes were written.
func (s *stream) close() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened = false
	s.last.Store(0)
	return s.size
}

// WriteFrames implements [chat.FrameWriter].
func (s *stream) WriteFrames(frames []byte, last bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.putFrames(frames)
	s.ended = s.ended || last
	if s.out.waits() {
		s.noteWrite()
	}
	return s.out.send(s.conn)
}

func (s *stream) putFrames(frames []byte) {
	s.out.add(frames)
	s.size += len(frames)
}

// writeComment writes a comment, so that nothing between here and the client takes the
// silence for an end.
func (s *stream) writeComment() {
	defer s.beats.Store(false)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.opened || s.ended {
		return
	}
	s.noteWrite()
	s.putFrames(comment)
	if s.out.send(s.conn) != nil {
		s.cancel(request.ErrClientLeft)
	}
}

// look does what the time asks for: end an answer whose client left, or send a
// comment. It never waits for the client.
func (s *stream) look(now time.Time) {
	if c, ok := s.conn.(*conn); ok && c.isGone() {
		s.cancel(request.ErrClientLeft)
		return
	}
	last := s.last.Load()
	if last != 0 && int64(now.Sub(s.made))-last >= s.silent && s.beats.CompareAndSwap(false, true) {
		go s.writeComment()
	}
}

// A listening is a request without a stream, whose client is asked now and then whether
// it is still there.
type listening struct {
	conn   *conn
	cancel context.CancelCauseFunc
}

func (l *listening) look(time.Time) {
	if l.conn.isGone() {
		l.cancel(request.ErrClientLeft)
	}
}

// whileHeard returns a context that ends as the server's, and with [request.ErrClientLeft]
// when the client of r leaves, until done is called.
func (s *Server) whileHeard(r *call) (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(r.Base)
	l := &listening{r.Context().Conn().(*conn), cancel} // all are the listener's
	s.streams.add(l)
	return ctx, func() {
		s.streams.remove(l)
		cancel(nil)
	}
}

// streams are all answers under way. Its zero value is ready.
type streams struct {
	mu   sync.Mutex
	open map[looker]struct{}
}

// A looker is looked after while its client waits for it: a [stream] or a [listening].
type looker interface{ look(now time.Time) }

func (s *streams) add(st looker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = make(map[looker]struct{})
	}
	s.open[st] = struct{}{}
}

func (s *streams) remove(st looker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, st)
}

// watch looks at every stream again and again, until ctx ends: one goroutine
// for all of them.
func (s *streams) watch(ctx context.Context, l Limits) {
	tick := time.NewTicker(min(l.Watch, l.KeepAlive))
	defer tick.Stop()
	var now []looker
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now = now[:0]
		s.mu.Lock()
		for st := range s.open {
			now = append(now, st)
		}
		s.mu.Unlock()
		t := time.Now()
		for _, st := range now {
			st.look(t)
		}
		clear(now)
	}
}
