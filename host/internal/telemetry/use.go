package telemetry

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/event"
)

// Use makes the engine run these collectors, of each name one, the more trusted
// first. A new version goes on with the window of the one before it, where it
// can take its state; otherwise what that one has is sealed as it is. A
// collector whose metrics do not go with those of others is refused.
func (e *Engine) Use(ctx context.Context, all []Collector) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.deliver()
	before := e.running
	e.running = nil
	clear(e.refused)
	for _, c := range all {
		name := c.Manifest().Name
		if why := e.conflict(c); why != "" {
			e.refused[name] = why
			e.options.Log("collector "+name+" does not run", fmt.Errorf("%s", why))
			continue
		}
		at := slices.IndexFunc(before, func(r *running) bool { return r.name() == name })
		switch {
		case at < 0:
			e.begin(c, e.state.Collectors[name].State)
		case before[at].collector.SHA256() == c.SHA256():
			before[at].collector = c
			e.running = append(e.running, before[at])
			before = slices.Delete(before, at, at+1)
		default:
			e.takeOver(before[at], c)
			before = slices.Delete(before, at, at+1)
		}
	}
	for _, r := range before {
		e.leave(r)
	}
	e.keep(ctx)
}

// begin runs c, from a state that another process kept or from nothing.
func (e *Engine) begin(c Collector, saved []byte) {
	r := newRunning(c)
	e.running = append(e.running, r)
	for _, name := range c.Manifest().Events {
		if event.KindOf(name) == 0 {
			e.options.Log("collector "+r.name()+" reads an event that this host does not have", fmt.Errorf("%.32q never comes", name))
		}
	}
	if _, err := r.start(saved); err != nil {
		e.fault(r, err)
	}
	e.describe(r)
}

// takeOver runs c in place of another version.
func (e *Engine) takeOver(old *running, c Collector) {
	r := newRunning(c)
	var saved []byte
	if old.instance != nil {
		saved, _ = old.instance.Save(nil) // an old version that fails has nothing to give
	}
	continued, err := r.start(saved)
	if !continued {
		e.leave(old)
	}
	old.stop()
	e.running = append(e.running, r)
	if err != nil {
		e.fault(r, err)
	}
	e.describe(r)
}

// leave seals what a collector has of this window, and lets go of it.
func (e *Engine) leave(r *running) {
	if r.instance != nil {
		if messages, _, _, err := e.sealOne(r); err == nil {
			e.state.Early = append(e.state.Early, messages...)
		}
	}
	delete(e.state.Collectors, r.name())
	r.stop()
}

// conflict says why c cannot run beside those that run already.
func (e *Engine) conflict(c Collector) string {
	for i := range c.Manifest().Metrics {
		m := &c.Manifest().Metrics[i]
		if kind, ok := e.state.Kinds[m.Path]; ok && kind != kindOf(m) {
			return fmt.Sprintf("metric %s was of kind %s before, and a path keeps its kind: give it another path", m.Path, kind)
		}
		for _, r := range e.running {
			for j := range r.collector.Manifest().Metrics {
				o := &r.collector.Manifest().Metrics[j]
				switch {
				case o.Path == m.Path && kindOf(o) != kindOf(m):
					return fmt.Sprintf("metric %s is of kind %s in collector %s and %s here", m.Path, kindOf(o), r.name(), kindOf(m))
				case strings.HasPrefix(o.Path, m.Path+"."), strings.HasPrefix(m.Path, o.Path+"."):
					return fmt.Sprintf("metric %s does not go with %s of collector %s: one leads through the other", m.Path, o.Path, r.name())
				}
			}
		}
	}
	return ""
}

// kindOf is what a path keeps: a metric with a label is an object in messages.
func kindOf(m *abi.Metric) string {
	if m.By.Label != "" {
		return m.Kind + " by " + m.By.Label
	}
	return m.Kind
}
