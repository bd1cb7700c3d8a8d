package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/response"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// Figures are what a module costs here. Times are medians of many short runs,
// which a busy machine disturbs little; fuel is in units of the meter, the same
// on every machine.
type Figures struct {
	Name      string `json:"name"`
	Version   string `json:"version"`
	Size      int    `json:"size"`       // bytes of the module
	CompileMS int64  `json:"compile_ms"` // once; a host keeps the code
	StartUS   int64  `json:"start_us"`   // a new instance, compiled before
	Memory    uint64 `json:"memory"`     // bytes of an instance that has made all these calls
	// Limiter is what ended calls that take too long: "metered", as in a host, or
	// what stands in for it.
	Limiter string `json:"limiter"`
	Fuel    int64  `json:"start_fuel"`
	Of      string `json:"of"` // what the events are
	Calls   []Cost `json:"calls"`
}

// A Cost is that of one kind of call.
type Cost struct {
	Call  string `json:"call"`  // event, encode or error; event or flush; the stage of a guard
	Bytes int    `json:"bytes"` // of the input, on average
	NS    int64  `json:"ns"`    // of one call through the pool, in and out
	Fuel  int64  `json:"fuel"`
	P99   int64  `json:"fuel_p99"`
}

// mostFuel is what most code spends of fuel in a nanosecond, at most.
const mostFuel = 10

// dear reports whether the meter charges the call for far more than it does: twice what most
// code spends by time, which a busy machine only makes less.
func (c *Cost) dear() bool { return c.NS > 0 && c.Fuel/c.NS >= 2*mostFuel }

// Measure says what module costs. Events are those of the body, framed as the
// plugin asks for, else of o's cases, else of what the kit has that the plugin
// makes text of.
func Measure(ctx context.Context, module, body []byte, o Options) (*Figures, error) {
	o.CacheDir = "" // the first compilation is one of the figures
	began := time.Now()
	s, closeSubject, err := openSubject(ctx, module, o)
	if err != nil {
		return nil, err
	}
	defer closeSubject()
	m := s.manifest
	f := &Figures{Name: m.Name, Version: m.Version, Size: len(module), CompileMS: time.Since(began).Milliseconds()}
	if m.Kind != abi.KindProvider && body != nil {
		return nil, fmt.Errorf("the plugin is a %s, which is given no response: leave --body out", m.Kind)
	}
	if f.Limiter = "metered"; s.compiled.Stats().Refusal != "" {
		f.Limiter = s.compiled.Stats().Limiter
	}
	if f.StartUS, f.Fuel, err = s.start(); err != nil {
		return nil, err
	}
	switch m.Kind {
	case abi.KindCollector:
		err = s.measureCollector(f)
	case abi.KindGuard:
		err = s.measureGuard(f)
	default:
		err = s.measureProvider(f, body)
	}
	if err != nil {
		return nil, err
	}
	f.Memory = s.guests[len(s.guests)-1].p.Memory()
	return f, ctx.Err()
}

func (s *subject) measureProvider(f *Figures, body []byte) error {
	events, of, err := s.measured(body)
	if err != nil {
		return err
	}
	f.Of = of
	for _, c := range []struct {
		name, export string
		inputs       []input
	}{{"event", abi.FuncDecode, events}, {"encode", abi.FuncEncode, encodeInputs(s.manifest)[:2]}, {"error", abi.FuncError, errorInputs()[:1]}} {
		cost, err := s.cost(c.name, c.export, c.inputs)
		if err != nil {
			return err
		}
		f.Calls = append(f.Calls, cost)
	}
	return nil
}

// measureGuard measures a call at each stage, with texts that have what guards look for.
func (s *subject) measureGuard(f *Figures) error {
	f.Of = "texts of the kit"
	inputs := s.guardInputs(20 * len(s.manifest.Stages))
	for i, stage := range s.manifest.Stages {
		var at []input
		for n := i; n < len(inputs); n += len(s.manifest.Stages) {
			at = append(at, inputs[n])
		}
		cost, err := s.cost(stage, abi.FuncGuard, at)
		if err != nil {
			return err
		}
		f.Calls = append(f.Calls, cost)
	}
	return nil
}

// batchSize is how many events a host hands over at once, at the least, where
// there are many.
const batchSize = 64

// measureCollector measures events in batches, and flush.
func (s *subject) measureCollector(f *Figures) error {
	g, err := s.fresh()
	if err != nil {
		return err
	}
	b := s.batch(batchSize)
	f.Of = fmt.Sprintf("batches of %d", batchSize)
	for _, c := range []struct {
		cost   Cost
		export string
		parts  int64 // of a call that the cost is of
		call   func() error
	}{
		{Cost{Call: "event", Bytes: len(b.records) / batchSize}, abi.FuncObserve, batchSize, func() error { return g.observe(b) }},
		{Cost{Call: "flush", Bytes: 4}, abi.FuncFlush, 1, func() error { _, err := g.flush(0); return err }},
	} {
		clear(s.fuel)
		var times []int64
		for until := time.Now().Add(measureFor); len(times) < leastRuns || time.Now().Before(until); {
			began := time.Now()
			if err := c.call(); err != nil {
				return err
			}
			times = append(times, time.Since(began).Nanoseconds())
		}
		fuel := s.fuel[c.export]
		c.cost.NS, c.cost.Fuel, c.cost.P99 = quantile(times, 50)/c.parts, quantile(fuel, 50)/c.parts, quantile(fuel, 99)/c.parts
		f.Calls = append(f.Calls, c.cost)
	}
	return s.ctx.Err()
}

// start is the median of some starts.
func (s *subject) start() (us, fuel int64, err error) {
	var times []int64
	for range 21 {
		began := time.Now()
		g, err := s.fresh()
		if err != nil {
			return 0, 0, err
		}
		times = append(times, time.Since(began).Nanoseconds())
		fuel = g.p.Fuel()
		s.settle()
	}
	return (quantile(times, 50) + 999) / 1000, fuel, nil
}

// measured are decode calls, each with the state that those before it leave.
func (s *subject) measured(body []byte) (calls []input, of string, err error) {
	g, err := s.fresh()
	if err != nil {
		return nil, "", err
	}
	var steps []step
	if body == nil {
		steps, of, err = s.typical()
	} else {
		steps, of, err = s.stepsOf(g, body)
	}
	if err != nil {
		return nil, "", err
	}
	o := newOutcome()
	for _, call := range steps {
		calls = append(calls, o.input(call))
		if _, err := o.feed(g, call); err != nil {
			return nil, "", err
		}
		if o.ends() {
			o = newOutcome()
		}
	}
	return calls, of, nil
}

// stepsOf are the calls of a body's events.
func (s *subject) stepsOf(g *guest, body []byte) ([]step, string, error) {
	framing, err := s.framing(g)
	if err != nil {
		return nil, "", err
	}
	st, err := streamOfCase(response.Case{Name: "the given body", Body: body}, framing)
	if err == nil && len(st.events) == 0 {
		err = errors.New("the given body holds no event")
	}
	steps := st.steps()
	return steps[:len(steps)-1], st.name, err
}

// How long a kind of call is measured, in runs of calls so short that most are
// never interrupted.
const (
	measureFor = 500 * time.Millisecond
	runLength  = 32
	leastRuns  = 15
)

// cost measures calls: time through the pool, fuel on an instance alone.
func (s *subject) cost(name, export string, inputs []input) (Cost, error) {
	c := Cost{Call: name}
	g, err := s.fresh()
	if err != nil {
		return c, err
	}
	clear(s.fuel)
	call := g.call
	if s.manifest.Kind == abi.KindGuard {
		call = g.endure // answers of guards are a chain's to check
	}
	for range 64 {
		for _, in := range inputs {
			if _, err := call(export, in); err != nil {
				return c, err
			}
		}
	}
	fuel := s.fuel[export]
	c.Fuel, c.P99 = quantile(fuel, 50), quantile(fuel, 99)
	for _, in := range inputs {
		c.Bytes += len(in.in) / len(inputs)
	}
	var out []byte
	var times []int64
	calls := 0
	for until := time.Now().Add(measureFor); len(times) < leastRuns || time.Now().Before(until); {
		began := time.Now()
		for range runLength {
			// A declared error is an answer, too.
			if out, err = s.compiled.CallPure(s.ctx, wasm.Use{}, export, inputs[calls%len(inputs)].in, out[:0]); err != nil && !isDeclared(err) {
				return c, err
			}
			calls++
		}
		times = append(times, time.Since(began).Nanoseconds()/runLength)
	}
	c.NS = quantile(times, 50)
	return c, nil
}

func isDeclared(err error) bool {
	_, ok := errors.AsType[*wasm.GuestError](err)
	return ok
}
