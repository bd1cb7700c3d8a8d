package telemetry

import (
	"time"

	"github.com/parley-search/parley/abi"
)

// Preview returns the messages that the window under way would be sealed as
// now, those that do not leave the machine among them. It changes nothing.
func (e *Engine) Preview() []Message {
	if e == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.deliver()
	return e.seal().messages
}

// Last returns the window before, of another process where this one has ended
// none; its number is 0 where there is none.
func (e *Engine) Last() Window {
	if e == nil {
		return Window{}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.last
}

// A Status says how an engine is.
type Status struct {
	Window     uint64            `json:"window"`
	Began      time.Time         `json:"began"`
	Elapsed    time.Duration     `json:"-"`
	Dropped    uint64            `json:"droppedEvents"` // that found no room
	Lost       uint64            `json:"lostEvents"`    // that came while there was no collector
	Collectors []CollectorStatus `json:"collectors"`
	Refused    map[string]string `json:"refused"` // collectors that do not run, and why
	Failing    bool              `json:"failing"` // the spool takes nothing
}

// CollectorStatus says how one collector is.
type CollectorStatus struct {
	Name     string `json:"name"`
	Version  string `json:"version"`
	SHA256   string `json:"sha256"`
	Outbound bool   `json:"outbound"`
	Off      string `json:"off,omitempty"` // why it is off until the next start
	Events   int64  `json:"events"`        // that it was given
	Refused  int64  `json:"refusedEvents"` // that it did not take
	Faults   int64  `json:"faults"`
	Bad      int64  `json:"badWindows"`

	Manifest *abi.Manifest `json:"-"`
}

// Status returns how the engine is now.
func (e *Engine) Status() Status {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.deliver()
	s := Status{
		Window: e.state.Window, Began: e.state.Began, Elapsed: e.state.Elapsed, Dropped: e.ring.Dropped(), Lost: e.state.Lost,
		Collectors: []CollectorStatus{}, Refused: map[string]string{}, Failing: e.failing,
	}
	for name, why := range e.refused {
		s.Refused[name] = why
	}
	for _, r := range e.running {
		m := r.collector.Manifest()
		s.Collectors = append(s.Collectors, CollectorStatus{
			Name: m.Name, Version: m.Version, SHA256: r.collector.SHA256(), Outbound: r.collector.Outbound(), Off: r.off,
			Events: r.given, Refused: r.refused, Faults: r.faults, Bad: r.bad, Manifest: m,
		})
	}
	return s
}
