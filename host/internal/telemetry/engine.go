package telemetry

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-search/parley/abi/event"
)

// Options says how an [Engine] works.
type Options struct {
	Instance UUID // key of all messages; shown to the operator, used for nothing else
	// Epoch tells the spool from those that were in its place before, see spool.Spool.Epoch.
	Epoch    string
	Spool    Spool
	Snapshot Snapshot // of process and machine; nil: there is nothing to say of them
	// Sealed is told of each window that ended: its messages, which are in the
	// spool, and its values by collector. It is called
	// by one goroutine, and must not call the engine. It may be nil.
	Sealed func(messages []Message, values []CollectorValues)
	// Log is told what an operator should know; it may be nil.
	Log func(message string, err error)

	Window     time.Duration // default 1h, which the first window has at least
	Checkpoint time.Duration // default 1m
	Tick       time.Duration // between two looks at what is due; default 1s
	Ring       int           // bytes; default DefaultRingSize
	Now        func() time.Time
}

// A Snapshot describes process and machine as they are now; its handles are of
// the engine's own table h. It must not call the engine.
type Snapshot func(h *Handles) (event.Launch, event.Features, event.Host)

// CollectorValues are the values of one collector in one window.
type CollectorValues struct {
	Collector string
	Version   string
	Outbound  bool
	Values    []Value
}

func (o Options) withDefaults() Options {
	o.Window = cmp.Or(o.Window, time.Hour)
	o.Checkpoint = cmp.Or(o.Checkpoint, time.Minute)
	o.Tick = cmp.Or(o.Tick, time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = func(string, error) {}
	}
	if o.Sealed == nil {
		o.Sealed = func([]Message, []CollectorValues) {}
	}
	return o
}

// An Engine runs the collectors. Safe for concurrent use; all methods of a nil
// Engine do nothing.
type Engine struct {
	options Options
	ring    *Ring
	handles *Handles
	facets  *seen
	retired atomic.Bool

	mu      sync.Mutex
	running []*running
	state   state
	looked  time.Time // when the engine last looked at the clock
	kept    time.Time // when the state was last kept
	spare   []byte    // the ring's other buffer
	scratch []byte
	refused map[string]string // collectors that do not run, and why
	last    Window            // the one before
	failing bool              // the spool took nothing of late
}

// state is what outlives the process, while a window is under way.
type state struct {
	Window     uint64                    `json:"window"` // number of the one under way, from 1
	Began      time.Time                 `json:"began"`  // cut to the hour
	Elapsed    time.Duration             `json:"elapsed"`
	Handles    []savedText               `json:"handles"`
	Collectors map[string]savedCollector `json:"collectors"`
	Early      []Message                 `json:"early"` // of collectors that left in this window
	Kinds      map[string]string         `json:"kinds"` // of all paths that were ever used
	Lost       uint64                    `json:"lost"`  // events that no collector took
}

type savedCollector struct {
	Version string `json:"version"`
	State   []byte `json:"state"`
}

// Open returns an engine that goes on with the window that its spool holds, if
// any. [Engine.Use] gives it collectors, [Engine.Run] makes it work.
func Open(ctx context.Context, o Options) (*Engine, error) {
	e := &Engine{
		options: o.withDefaults(), ring: NewRing(o.Ring), handles: NewHandles(), facets: newSeen(), refused: map[string]string{},
	}
	now := e.options.Now()
	kept, err := o.Spool.State(ctx)
	if err != nil {
		return nil, fmt.Errorf("open telemetry: %w", err)
	}
	past, err := o.Spool.Windows(ctx, 1)
	if err != nil {
		return nil, fmt.Errorf("open telemetry: %w", err)
	}
	if len(past) > 0 {
		e.last = past[0]
	}
	if len(kept) > 0 {
		if err := json.Unmarshal(kept, &e.state); err != nil {
			// It is ours alone, so it is damaged; a window is no reason not to start.
			e.options.Log("telemetry begins a new window: what was kept of the last one is damaged", err)
			e.state = state{}
		}
	}
	// No number is given twice within an epoch.
	e.state.Window = max(e.state.Window, e.last.Number+1)
	if e.state.Began.IsZero() {
		e.state.Began = now.UTC().Truncate(time.Hour)
	}
	if e.state.Collectors == nil {
		e.state.Collectors = map[string]savedCollector{}
	}
	if e.state.Kinds == nil {
		e.state.Kinds = map[string]string{}
	}
	e.handles.load(e.state.Handles)
	e.looked, e.kept = now, now
	return e, nil
}

// Retire makes e what an engine is where telemetry is off: it takes no event from
// now on. Call it before [Engine.Run] is ended for good.
func (e *Engine) Retire() { e.retired.Store(true) }

// On reports whether e counts: telemetry was neither off from the start nor retired.
func (e *Engine) On() bool { return e != nil && !e.retired.Load() }

// Ring is where events go; nil where telemetry is off.
func (e *Engine) Ring() *Ring {
	if !e.On() {
		return nil
	}
	return e.ring
}

// Handles is the table of texts; nil where telemetry is off.
func (e *Engine) Handles() *Handles {
	if !e.On() {
		return nil
	}
	return e.handles
}

// FirstOfFacet reports whether facet of index is asked for the first time in
// this window. No collector learns which one it is.
func (e *Engine) FirstOfFacet(index, facet string) bool {
	return e.On() && e.facets.first(index, facet)
}

// Run delivers events and ends windows until ctx ends; then it keeps the
// window under way for the next process, and lets go of the collectors.
func (e *Engine) Run(ctx context.Context) {
	if e == nil {
		return
	}
	ticker := time.NewTicker(e.options.Tick)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			e.close()
			return
		case <-e.ring.wake:
			e.deliverNow()
		case <-ticker.C:
			e.Tick(ctx)
		}
	}
}

func (e *Engine) deliverNow() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.deliver()
}

// Tick does what is due: events are handed over, the window is kept each
// minute and ended each hour.
func (e *Engine) Tick(ctx context.Context) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.deliver()
	now := e.options.Now()
	// Times that carry Go's monotonic reading, as time.Now's do, pass as the process
	// lives, however the machine's clock is set. Of others, one that was set back
	// adds nothing, and one that was set forward may end a window early.
	e.state.Elapsed += max(now.Sub(e.looked), 0)
	e.looked = now
	checkpoint := now.Sub(e.kept) >= e.options.Checkpoint || now.Before(e.kept)
	if e.state.Elapsed >= e.options.Window || checkpoint && e.state.Window > 1 && e.oversize() {
		e.end(ctx)
		return
	}
	if checkpoint {
		e.keep(ctx)
	}
}

// EndWindow ends the window under way at once, and returns what it came to. An error
// says that it could not be kept; it goes on then.
func (e *Engine) EndWindow(ctx context.Context) (Window, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.On() {
		return Window{}, errors.New("telemetry was deleted meanwhile")
	}
	e.deliver()
	e.looked = e.options.Now()
	if !e.end(ctx) {
		return Window{}, errors.New("the window could not be kept on disk, and goes on")
	}
	return e.last, nil
}

// close keeps the window and lets go of all instances.
func (e *Engine) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.deliver()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	now := e.options.Now()
	e.state.Elapsed += max(now.Sub(e.looked), 0)
	e.looked = now
	e.keep(ctx)
	for _, r := range e.running {
		r.stop()
	}
	e.running = nil
}
