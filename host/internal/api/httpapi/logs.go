package httpapi

import (
	"bufio"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/logs"
)

// maxWaitingLines is what a watcher of the log may be behind: a line that finds
// no room is left out, and counted.
const maxWaitingLines = 1024

// A logTarget is the body of both routes.
type logTarget struct {
	Target string `json:"target"` // a level
	Mode   string `json:"mode"`   // of the stream: human, json
}

// setLogLevel answers POST /logs/stderr.
func (s *Server) setLogLevel(r *call) error {
	t, err := s.logTarget(r, false)
	if err != nil {
		return err
	}
	if err := s.Logs.SetLevel(t.Target); err != nil {
		return err
	}
	s.Log.Info().Str("level", t.Target).Msg("log level set")
	return r.SendStatus(fiber.StatusNoContent)
}

func (s *Server) logTarget(r *call, stream bool) (logTarget, error) {
	var t logTarget
	if err := r.Decode(&t, nil); err != nil {
		return t, err
	}
	if !slices.Contains(logs.Levels(), t.Target) {
		return t, apierr.Newf(apierr.BadRequest, "`target` is %.40q: want a level: %s.", t.Target, strings.Join(logs.Levels(), ", "))
	}
	switch {
	case !stream && t.Mode != "":
		return t, apierr.Newf(apierr.BadRequest, "`mode` is for POST /logs/stream; the form of what goes to stderr is set at launch, by --experimental-logs-mode.")
	case stream && t.Mode == "":
		t.Mode = logs.Human
	case stream && !slices.Contains(logs.Modes(), t.Mode):
		return t, apierr.Newf(apierr.BadRequest, "`mode` is %.40q: want one of %s.", t.Mode, strings.Join(logs.Modes(), ", "))
	}
	return t, nil
}

// streamLogs answers POST /logs/stream: lines of the log as they come, until
// the client leaves, DELETE /logs/stream or the host's end. There is one stream
// at a time.
func (s *Server) streamLogs(r *call) error {
	if !r.Request().Header.IsHTTP11() {
		return apierr.Newf(apierr.BadRequest, "The log is streamed by HTTP/1.1 and later alone: the request is of an older version.")
	}
	t, err := s.logTarget(r, true)
	if err != nil {
		return err
	}
	w := &logWatch{lines: make(chan []byte, maxWaitingLines), end: make(chan struct{})}
	if !s.watching.CompareAndSwap(nil, w) {
		return apierr.Newf(apierr.BadRequest, "The log is being streamed already: end that by DELETE /logs/stream.")
	}
	stop, err := s.Logs.Watch(t.Target, t.Mode, w.sendLine)
	if err != nil {
		s.watching.CompareAndSwap(w, nil)
		return err
	}
	c, _ := r.Context().Conn().(*conn)
	a := accessTo(r)
	a.stream, a.status, a.client = true, fiber.StatusOK, strings.Clone(clientOf(r.Ctx))
	r.Set(fiber.HeaderContentType, "text/plain; charset=utf-8")
	r.Context().SetBodyStreamWriter(func(out *bufio.Writer) {
		a.bytes = s.writeLogs(w, c, out)
		stop()
		s.watching.CompareAndSwap(w, nil)
		s.tellRequest(a, a.client)
		s.logAccess(a, nil)
		s.recordServed(a, nil)
	})
	return nil
}

// endLogs answers DELETE /logs/stream.
func (s *Server) endLogs(r *call) error {
	s.endLogStream()
	return r.SendStatus(fiber.StatusNoContent)
}

// endLogStream ends the stream of the log, if there is one.
func (s *Server) endLogStream() {
	if w := s.watching.Swap(nil); w != nil {
		close(w.end)
	}
}

// A logWatch is a stream of the log under way.
type logWatch struct {
	lines chan []byte
	end   chan struct{} // closed to end it
	lost  atomic.Int64  // lines left out, and not told of yet
}

// sendLine takes a line, in the order of the log, one at a time.
func (w *logWatch) sendLine(line []byte) {
	select {
	case w.lines <- slices.Clone(line):
	default:
		w.lost.Add(1)
	}
}

// writeLogs writes lines until something ends it, and returns how many bytes.
func (s *Server) writeLogs(w *logWatch, c *conn, out *bufio.Writer) (bytes int) {
	look := time.NewTicker(s.Limits.Watch)
	defer look.Stop()
	for {
		select {
		case line := <-w.lines:
			if lost := w.lost.Swap(0); lost > 0 {
				line = fmt.Appendf(nil, "%s(%d lines are left out here: they came faster than this reader took them)\n", line, lost)
			}
			n, err := out.Write(line)
			bytes += n
			if len(w.lines) == 0 && err == nil {
				err = out.Flush()
			}
			if err != nil {
				return bytes
			}
		case <-look.C:
			if c != nil && c.isGone() {
				return bytes
			}
		case <-w.end:
			return bytes
		case <-s.ctx.Done():
			return bytes
		}
	}
}
