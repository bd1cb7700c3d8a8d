package telemetry

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/event"
)

// fakeCollector counts network events as metric n and remembers the largest
// number of remotes. It goes wrong as it is told to.
type fakeCollector struct {
	manifest *abi.Manifest
	sha256   string
	outbound bool
	noStart  error

	observe, flush func() error // what happens in place of the call's answer
	records        func(reset bool) []byte
	noLoad         bool

	alive  int
	latest *fakeInstance
}

func collectorOf(name, version string) *fakeCollector {
	return &fakeCollector{
		sha256: name + version, outbound: true,
		manifest: &abi.Manifest{
			Name: name, Version: version, Kind: abi.KindCollector, Events: []string{"network", "launch"},
			Metrics: []abi.Metric{
				{Path: name + ".n", Kind: abi.MetricInt, Range: []int64{0, 1000}, NoData: abi.NoDataAlways},
				{Path: name + ".agents", Kind: abi.MetricArray, Vocabulary: event.VocabularyUserAgent, NoData: abi.NoDataOmit},
				{Path: name + ".gpu", Kind: abi.MetricBool, Constant: abi.RawJSON("false"), NoData: abi.NoDataAlways},
			},
		},
	}
}

func (c *fakeCollector) Manifest() *abi.Manifest { return c.manifest }
func (c *fakeCollector) SHA256() string          { return c.sha256 }
func (c *fakeCollector) Outbound() bool          { return c.outbound }

func (c *fakeCollector) Start() (Instance, error) {
	if c.noStart != nil {
		return nil, c.noStart
	}
	c.alive++
	c.latest = &fakeInstance{c: c}
	return c.latest, nil
}

type fakeInstance struct {
	c      *fakeCollector
	n      uint64
	launch uint64
	closed bool
}

var errFake = errors.New("trap in parley_observe of fake")

func (i *fakeInstance) Observe(b []byte, count int) (int, error) {
	if i.closed {
		return 0, errors.New("it is closed")
	}
	if i.c.observe != nil {
		if err := i.c.observe(); err != nil {
			return 0, err
		}
	}
	taken := 0
	for {
		r, rest, ok, err := event.Next(b)
		if err != nil {
			return 0, err
		}
		if !ok {
			break
		}
		switch r.Kind {
		case event.KindNetwork:
			i.n++
		case event.KindLaunch:
			i.launch++
		default:
			return 0, fmt.Errorf("it was given a %s, which it did not ask for", r.Kind)
		}
		taken++
		b = rest
	}
	if taken != count {
		return 0, fmt.Errorf("%d events came, and %d were told of", taken, count)
	}
	return taken, nil
}

func (i *fakeInstance) Flush(reset bool, dst []byte) ([]byte, error) {
	if i.closed {
		return nil, errors.New("it is closed")
	}
	if i.c.flush != nil {
		if err := i.c.flush(); err != nil {
			return nil, err
		}
	}
	out := abi.AppendMetric(dst, 0, abi.TagInt, i.n)
	if i.c.records != nil {
		out = append(dst, i.c.records(reset)...)
	}
	if reset {
		i.n, i.launch = 0, 0
	}
	return out, nil
}

func (i *fakeInstance) Save(dst []byte) ([]byte, error) {
	return binary.LittleEndian.AppendUint64(dst, i.n), nil
}

func (i *fakeInstance) Load(b []byte) (bool, error) {
	if i.c.noLoad || len(b) != 8 {
		return false, nil
	}
	i.n = binary.LittleEndian.Uint64(b)
	return true, nil
}

func (i *fakeInstance) Worn() bool { return false }

func (i *fakeInstance) Close() {
	if !i.closed {
		i.closed = true
		i.c.alive--
	}
}

// memorySpool is a spool in memory, which fails while it is told to.
type memorySpool struct {
	mu       sync.Mutex
	state    []byte
	messages []Message
	held     map[string]time.Time
	past     []Window
	noted    []Delivery
	fail     error
}

func newSpool() *memorySpool { return &memorySpool{held: map[string]time.Time{}} }

func (s *memorySpool) State(context.Context) ([]byte, error) { return s.state, nil }

func (s *memorySpool) Keep(_ context.Context, state []byte, sealed []Message, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return s.fail
	}
	s.state = slices.Clone(state)
	for _, m := range sealed {
		if m.Outbound {
			s.messages = append(s.messages, m)
		}
	}
	if len(sealed) > 0 {
		s.past = slices.Insert(s.past, 0, Window{sealed[0].Window, now, sealed})
	}
	return nil
}

func (s *memorySpool) Windows(_ context.Context, limit int) ([]Window, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.past[:min(limit, len(s.past))], s.fail
}

func (s *memorySpool) Note(_ context.Context, d Delivery) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noted = append(s.noted, d)
	return s.fail
}

func (s *memorySpool) Deliveries(context.Context) ([]Delivery, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.noted, s.fail
}

func (s *memorySpool) Quarantined(context.Context) (all []Message, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.messages {
		if _, held := s.held[m.ID]; held {
			all = append(all, m)
		}
	}
	return all, s.fail
}

func (s *memorySpool) Pending(_ context.Context, limit int) (all []Message, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.messages {
		if _, held := s.held[m.ID]; !held && len(all) < limit {
			all = append(all, m)
		}
	}
	return all, s.fail
}

func (s *memorySpool) Delete(_ context.Context, ids []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages = slices.DeleteFunc(s.messages, func(m Message) bool { return slices.Contains(ids, m.ID) })
	return s.fail
}

func (s *memorySpool) Quarantine(_ context.Context, id string, until time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[id] = until
	return s.fail
}

func (s *memorySpool) Usage(context.Context) (Usage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Usage{Pending: len(s.messages) - len(s.held), Quarantined: len(s.held)}, nil
}

// A rig is an engine with a clock that a test sets, and what it said.
type rig struct {
	t      *testing.T
	engine *Engine
	spool  *memorySpool
	now    time.Time
	said   []string
	ended  int
	launch event.Launch
}

var instance = UUID{1, 2, 3, 4, 5, 6, 0x47, 8, 0x89, 10, 11, 12, 13, 14, 15, 16}

func newRig(t *testing.T, spool *memorySpool, all ...Collector) *rig {
	t.Helper()
	r := &rig{t: t, spool: spool, now: time.Date(2026, 11, 21, 8, 30, 0, 0, time.UTC)}
	r.open(all...)
	return r
}

// open starts an engine, as another process would.
func (r *rig) open(all ...Collector) {
	r.t.Helper()
	e, err := Open(r.t.Context(), Options{
		Instance: instance, Spool: r.spool, Now: func() time.Time { return r.now },
		Snapshot: func(h *Handles) (event.Launch, event.Features, event.Host) {
			r.launch.Version = h.Version("1.2.3")
			return r.launch, event.Features{Patched: 1}, event.Host{Cores: 2}
		},
		Sealed: func([]Message, []CollectorValues) { r.ended++ },
		Log:    func(message string, err error) { r.said = append(r.said, fmt.Sprintf("%s: %v", message, err)) },
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.engine = e
	e.Use(r.t.Context(), all)
}

func (r *rig) emit(n int) {
	for range n {
		Emit(r.engine.Ring(), &event.Network{Remotes: 1})
		Emit(r.engine.Ring(), &event.Chat{}) // which no fake asks for
	}
}

// pass lets time go by, a minute at a time as the engine would see it.
func (r *rig) pass(d time.Duration) {
	for ; d > 0; d -= time.Minute {
		r.now = r.now.Add(min(d, time.Minute))
		r.engine.Tick(r.t.Context())
	}
}
