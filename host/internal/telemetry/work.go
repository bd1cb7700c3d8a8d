package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/parley-search/parley/abi/event"
)

// All functions of this file are called with the engine's lock held.

// deliver hands what is in the ring to the collectors.
func (e *Engine) deliver() {
	records, count := e.ring.take(e.spare)
	e.spare = records
	if count == 0 {
		return
	}
	if len(e.running) == 0 {
		e.state.Lost += uint64(count)
	}
	for _, r := range e.running {
		e.observe(r, records)
	}
}

// observe hands records to one collector.
func (e *Engine) observe(r *running, records []byte) {
	var err error
	if e.scratch, err = r.observe(records, e.scratch); err != nil {
		e.fault(r, err)
	}
}

// describe hands launch, features and host to those collectors that were not
// told of them in this window, or that were told of others.
func (e *Engine) describe(to ...*running) {
	if e.options.Snapshot == nil || len(to) == 0 {
		return
	}
	launch, features, host := e.options.Snapshot(e.handles)
	features.Patched = 0
	records := event.Append(nil, &launch)
	records = event.Append(records, &features)
	records = event.Append(records, &host)
	for _, r := range to {
		if !bytes.Equal(r.described, records) {
			r.described = records
			e.observe(r, records)
		}
	}
}

// fault deals with an instance that failed: a new one goes on from what was
// last kept.
func (e *Engine) fault(r *running, err error) {
	r.faults++
	r.stop()
	if r.strike(err.Error()) {
		e.options.Log("collector "+r.name()+" is off until the next start", err)
		return
	}
	e.options.Log("collector "+r.name()+" failed and goes on from its last checkpoint", err)
	r.described = nil // it may be of after the checkpoint
	continued, err := r.start(r.saved)
	if err != nil {
		e.fault(r, err)
		return
	}
	if !continued {
		e.describe(r)
	}
}

// save asks each collector for its window so far.
func (e *Engine) save() {
	for _, r := range e.running {
		if r.instance == nil {
			delete(e.state.Collectors, r.name())
			continue
		}
		saved, err := r.instance.Save(nil)
		if err != nil {
			e.fault(r, err)
			continue
		}
		r.saved = saved
		e.state.Collectors[r.name()] = savedCollector{r.collector.Manifest().Version, saved}
		if r.instance.Worn() {
			r.stop()
			if _, err := r.start(saved); err != nil {
				e.fault(r, err)
			}
		}
	}
}

// keep writes down the window under way.
func (e *Engine) keep(ctx context.Context) {
	e.save()
	e.write(ctx, nil)
}

// write replaces the spool's state and adds the messages of a window. Where that fails, what
// was there stays, and nothing else changes.
func (e *Engine) write(ctx context.Context, sealed []Message) bool {
	now := e.options.Now()
	e.kept = now
	e.state.Handles = e.handles.save()
	b, err := json.Marshal(e.state)
	if err == nil {
		err = e.options.Spool.Keep(ctx, b, sealed, now)
	}
	if err != nil && !e.failing {
		e.options.Log("telemetry cannot be kept on disk: the window goes on until it can", err)
	}
	e.failing = err != nil
	return err == nil
}

// sealed is what a window comes to, before it is kept.
type sealed struct {
	messages []Message
	values   []CollectorValues
	bad      map[*running]string // why its window is a bad one
}

func (e *Engine) origin() origin {
	return origin{e.options.Instance, e.options.Epoch, e.state.Window, e.state.Began}
}

// seal looks at all collectors, having told them what is new of process and
// machine. Sealed again at once, the window is the same.
func (e *Engine) seal() sealed {
	e.describe(e.running...)
	s := sealed{messages: append([]Message(nil), e.state.Early...), bad: map[*running]string{}}
	for _, r := range e.running {
		if r.instance == nil {
			continue
		}
		messages, values, why, err := e.sealOne(r)
		if err != nil {
			// What it had at the last checkpoint is better than nothing.
			if e.fault(r, err); r.instance == nil {
				continue
			}
			if messages, values, why, err = e.sealOne(r); err != nil {
				e.fault(r, err)
				continue
			}
		}
		if why != "" {
			s.bad[r] = why
		}
		m := r.collector.Manifest()
		s.messages = append(s.messages, messages...)
		s.values = append(s.values, CollectorValues{m.Name, m.Version, r.collector.Outbound(), values})
	}
	return s
}

// sealOne returns what one collector says; why is what was wrong with it.
func (e *Engine) sealOne(r *running) (messages []Message, values []Value, why string, err error) {
	records, err := r.flush()
	switch {
	case err == errUnstable:
		return nil, nil, err.Error(), nil
	case err != nil:
		return nil, nil, "", err
	}
	values, problems, wrong := read(r.collector.Manifest(), records, e.handles.text)
	if wrong > 0 {
		why = problems[0]
		if wrong > 1 {
			why = fmt.Sprintf("%s, and %d more", why, wrong-1)
		}
	}
	if len(values) == 0 {
		return nil, nil, why, nil // there is nothing to say
	}
	if messages, err = e.origin().seal(r.collector, e.parts(r), values); err != nil {
		return nil, nil, err.Error(), nil
	}
	return messages, values, why, nil
}

// parts is how many messages this version of r's collector has sealed in this
// window already, having left in between.
func (e *Engine) parts(r *running) (n int) {
	m := r.collector.Manifest()
	for i := range e.state.Early {
		if early := &e.state.Early[i]; early.Collector == m.Name && early.Version == m.Version {
			n++
		}
	}
	return n
}

// oversize reports whether the window's messages fill a request.
func (e *Engine) oversize() bool { return len(Body(e.seal().messages)) >= MaxBody }

// end ends the window: its messages and the new state are kept in one step,
// then the collectors forget it. Where they cannot be kept it
// returns false, and the window goes on.
func (e *Engine) end(ctx context.Context) bool {
	s := e.seal()
	before := e.state
	before.Collectors, before.Kinds = maps.Clone(e.state.Collectors), maps.Clone(e.state.Kinds)
	for _, c := range s.values {
		for _, v := range c.Values {
			e.state.Kinds[v.Metric.Path] = kindOf(v.Metric)
		}
	}
	e.state.Window++
	e.state.Began, e.state.Elapsed = e.options.Now().UTC().Truncate(time.Hour), 0
	e.state.Early, e.state.Collectors = nil, map[string]savedCollector{}
	if !e.write(ctx, s.messages) {
		e.state = before
		return false
	}
	e.turn(s)
	e.last = Window{before.Window, e.kept, s.messages}
	e.options.Sealed(s.messages, s.values)
	return true
}

// turn makes the collectors forget the window that was sealed as s.
func (e *Engine) turn(s sealed) {
	e.handles.turn()
	e.facets.clear()
	for _, r := range e.running {
		r.saved, r.described = nil, nil
		if r.instance == nil {
			continue
		}
		if _, err := r.instance.Flush(true, nil); err != nil {
			e.fault(r, err)
			continue
		}
		if why, bad := s.bad[r]; !bad {
			r.strikes = 0
		} else {
			r.bad++
			e.options.Log("collector "+r.name()+" said what it may not", fmt.Errorf("in window %d: %s", e.state.Window-1, why))
			if r.strike(why) {
				e.options.Log("collector "+r.name()+" is off until the next start", nil)
			}
		}
	}
	e.describe(e.running...)
}
