package chat

import (
	"context"
	"errors"
)

func (a *Answer) finish(w ChunkWriter, clientCalls bool) error {
	reason := a.round.finish
	switch {
	case clientCalls && reason == "stop":
		reason = "tool_calls"
	case !clientCalls && reason == "tool_calls":
		reason = "stop"
	}
	if len(a.found) > 0 && len(a.said) > 0 {
		a.render.annotations(appendCitations(nil, a.said, a.found))
	}
	a.render.finish(reason)
	switch {
	case a.usage && a.outcome.HasUsage:
		a.render.usage(a.outcome.Usage, false)
	case a.usage && a.options.Estimate:
		a.render.usage(a.estimate(), true)
	}
	a.render.done()
	if err := a.write(w); err != nil {
		return err
	}
	a.outcome.Finish = reason
	return nil
}

// fail ends the answer with an error frame, unless nobody is there to read it.
func (a *Answer) fail(w ChunkWriter, err error) error {
	a.endRound(err)
	if left, ok := errors.AsType[*clientLeft](err); ok {
		a.outcome.Cancelled = true
		return left.err
	}
	if cause := a.left(); cause != nil {
		a.outcome.Cancelled = true
		return cause
	}
	e := a.explain(err)
	a.outcome.Err = e
	if a.options.Failure != nil {
		a.render.out = append(a.render.out, a.options.Failure(e)...)
	} else {
		a.render.failure(newEventID(), e)
		a.render.done()
	}
	if err := a.write(w); err != nil {
		a.outcome.Cancelled = true
		return errors.Unwrap(err)
	}
	return nil
}

// left returns why the answer was called off from outside, if it was.
func (a *Answer) left() error {
	if cause := context.Cause(a.ctx); !errors.Is(cause, errAnswerTimeout) {
		return cause
	}
	return nil
}

// clientLeft wraps an error of the ChunkWriter.
type clientLeft struct{ err error }

func (e *clientLeft) Error() string { return "write to client: " + e.err.Error() }

func (e *clientLeft) Unwrap() error { return e.err }
