package chat

import (
	"context"
	"time"
)

// A Tracer observes what an answer spends its time with: steps within steps. It
// learns numbers and names of our own, and nothing that anybody said. Safe for
// concurrent use. See package tracing for the real one.
type Tracer interface {
	// Begin begins a step, within the one that ctx is of. The context is that of
	// the new step.
	Begin(ctx context.Context, step string) (context.Context, Step)
}

// A Step is under way from [Tracer.Begin] to End.
type Step interface {
	Number(name string, n int)
	Text(name, text string) // a name of ours or the operator's
	Moment(name string)     // something happened just now
	// End ends the step; err is why it failed, and only its kind is kept. What
	// comes after the first End changes nothing.
	End(err error)
}

// The steps of an answer. The request that it answers is the step around them.
const (
	stepRound   = "provider round"
	stepEncode  = "plugin encode"
	stepRequest = "provider request" // until the response's head
	stepError   = "plugin error"
	stepSearch  = "search"
)

// step begins a step within ctx; without a tracer it costs nothing.
func (d *Deps) step(ctx context.Context, name string) (context.Context, Step) {
	if d.Tracer == nil {
		return ctx, untraced{}
	}
	return d.Tracer.Begin(ctx, name)
}

type untraced struct{}

func (untraced) Number(string, int)  {}
func (untraced) Text(string, string) {}
func (untraced) Moment(string)       {}
func (untraced) End(error)           {}

// A traced round is the step of a round, with what its decode calls took
// together: there are too many for steps of their own.
type tracedRound struct {
	ctx     context.Context
	step    Step
	decodes int
	busy    time.Duration
	first   bool // the first event came
}

// beginTrace begins the step of the round that was counted just now.
func (a *Answer) beginTrace() {
	t := &a.round.trace
	t.ctx, t.step = a.deps.step(a.ctx, stepRound)
	t.step.Number("round", a.outcome.Rounds)
	t.step.Text("plugin", a.manifest.Name)
	t.step.Text("plugin_version", a.manifest.Version)
}

// decodeTraced calls the plugin, and takes the time where there is a tracer.
func (a *Answer) decodeTraced(in, dst []byte) ([]byte, error) {
	if a.deps.Tracer == nil {
		return a.source.Decode(a.ctx, in, dst)
	}
	t := &a.round.trace
	if !t.first {
		t.first = true
		t.step.Moment("first event")
	}
	start := time.Now()
	out, err := a.source.Decode(a.ctx, in, dst)
	t.decodes, t.busy = t.decodes+1, t.busy+time.Since(start)
	return out, err
}

// endTrace ends the step of the round, if there is one.
func (a *Answer) endTrace(err error) {
	t := &a.round.trace
	if t.step == nil || a.deps.Tracer == nil {
		return
	}
	t.step.Number("plugin_decode_calls", t.decodes)
	t.step.Number("plugin_decode_us", int(t.busy.Microseconds()))
	t.step.Number("tool_calls", len(a.round.calls))
	if a.guards != nil {
		a.guards.endTrace(t.step)
	}
	t.step.End(err)
}
