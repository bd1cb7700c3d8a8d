// Package logs writes the host's log: in one form, from a level on that can be
// changed while the host runs, and to clients that watch it.
package logs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"
)

// Levels are the names that a level may have, the quietest first.
func Levels() []string { return []string{"off", "error", "warn", "info", "debug", "trace"} }

// The forms of a line.
const (
	Human = "human"
	JSON  = "json"
)

// Modes are the forms by name.
func Modes() []string { return []string{Human, JSON} }

// errNone is what a nil Hub says.
var errNone = errors.New("this host was made without a log")

// A Hub is where all lines of the log come together. Safe for concurrent use.
type Hub struct {
	out   io.Writer
	level atomic.Int32 // a zerolog.Level: lines below it are not written to out

	mu       sync.Mutex // a line is written whole
	watchers []*watcher
	lowest   atomic.Int32 // the lowest level that anybody wants
}

// A watcher is given lines from a level on.
type watcher struct {
	level zerolog.Level
	write func(line []byte)
	human bool
}

// New returns a Hub that writes to w in a mode, from a level on. Colours are
// used where w is a terminal.
func New(w io.Writer, mode, level string) (*Hub, error) {
	h := &Hub{out: w}
	if mode == Human {
		f, isFile := w.(*os.File)
		h.out = console(w, isFile && IsTerminal(f))
	}
	return h, h.SetLevel(level)
}

// timeFormat is of a human line: with the date and the zone, since lines outlast a day
// and are compared with those of other machines.
const timeFormat = "2006-01-02T15:04:05.000Z07:00"

func console(w io.Writer, colours bool) io.Writer {
	return zerolog.ConsoleWriter{Out: w, TimeFormat: timeFormat, NoColor: !colours, FormatPrepare: escapeFields}
}

// IsTerminal reports whether a person may be looking at f.
func IsTerminal(f *os.File) bool {
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0 && !strings.EqualFold(os.Getenv("TERM"), "dumb")
}

// Logger returns the logger that all of the host logs with. Of a nil Hub it
// writes nothing.
func (h *Hub) Logger() zerolog.Logger {
	if h == nil {
		return zerolog.Nop()
	}
	return zerolog.New(h).Sample(h).With().Timestamp().Logger()
}

// Sample implements [zerolog.Sampler]: a line that nobody wants is not made.
func (h *Hub) Sample(level zerolog.Level) bool { return int32(level) >= h.lowest.Load() }

// SetLevel sets the level that lines must have to be written.
func (h *Hub) SetLevel(name string) error {
	if h == nil {
		return errNone
	}
	level, err := parse(name)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.level.Store(int32(level))
	h.settle()
	return nil
}

// Watch gives every line from a level on to write, in a mode, until stop is
// called. A line is good until write returns; write must not wait, and must not
// log.
func (h *Hub) Watch(level, mode string, write func(line []byte)) (stop func(), err error) {
	if h == nil {
		return nil, errNone
	}
	l, err := parse(level)
	if err != nil {
		return nil, err
	}
	w := &watcher{level: l, write: write, human: mode == Human}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.watchers = append(h.watchers, w)
	h.settle()
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.watchers = slices.DeleteFunc(h.watchers, func(o *watcher) bool { return o == w })
		h.settle()
	}, nil
}

// settle notes the lowest level that anybody wants.
func (h *Hub) settle() {
	lowest := h.level.Load()
	for _, w := range h.watchers {
		lowest = min(lowest, int32(w.level))
	}
	h.lowest.Store(lowest)
}

func parse(name string) (zerolog.Level, error) {
	if !slices.Contains(Levels(), name) {
		return 0, fmt.Errorf("%q is not a level: want one of %s", name, strings.Join(Levels(), ", "))
	}
	if name == "off" {
		return zerolog.Disabled, nil
	}
	return zerolog.ParseLevel(name)
}

// Write implements [io.Writer], for lines without a level.
func (h *Hub) Write(p []byte) (int, error) { return h.WriteLevel(zerolog.ErrorLevel, p) }

// WriteLevel implements [zerolog.LevelWriter].
func (h *Hub) WriteLevel(level zerolog.Level, p []byte) (int, error) {
	if int32(level) < h.lowest.Load() {
		return len(p), nil
	}
	n := len(p)
	p = escapeLine(p)
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.watchers {
		if level < w.level {
			continue
		}
		if !w.human {
			w.write(p)
			continue
		}
		var b bytes.Buffer
		if _, err := console(&b, false).Write(p); err == nil { // it is what zerolog wrote
			w.write(b.Bytes())
		}
	}
	if int32(level) < h.level.Load() {
		return n, nil
	}
	if _, err := h.out.Write(p); err != nil {
		return 0, err
	}
	return n, nil
}
