package chat

import (
	"context"
	"errors"
)

func (a *Answer) finishAnswer(clientCalls bool) error {
	reason := a.round.finish
	switch {
	case clientCalls && reason == "stop":
		reason = "tool_calls"
	case !clientCalls && reason == "tool_calls":
		reason = "stop"
	}
	if s, ok := a.sink.(*guardedSink); ok {
		if s.endTexts(); s.g.err != nil {
			return s.g.err
		}
	}
	f := &Finish{Reason: reason}
	if len(a.found) > 0 && len(a.said) > 0 {
		question, _ := a.talk.questions()
		f.Citations = cite(a.said, question, a.found)
	}
	switch {
	case a.usage && a.outcome.HasUsage:
		f.Usage, f.Counted = new(a.outcome.Usage), a.counted
	case a.usage && a.asked.Estimate:
		f.Usage, f.Estimated = new(a.estimateUsage()), true
	}
	a.sink.Finish(f)
	if err := a.flushSink(); err != nil {
		return err
	}
	a.outcome.Finish = reason
	return nil
}

// failAnswer ends the answer with an error, unless the client has left.
func (a *Answer) failAnswer(err error) error {
	a.endRound(err)
	if left, ok := errors.AsType[*clientLeft](err); ok {
		a.outcome.Cancelled = true
		return left.err
	}
	if cause := a.calledOff(); cause != nil {
		a.outcome.Cancelled = true
		return cause
	}
	if b, ok := asRefusal(err); ok {
		return a.refuseAnswer(b)
	}
	e := a.explainError(err)
	a.outcome.Err = e
	a.sink.Fail(e)
	if err := a.flushSink(); err != nil {
		a.outcome.Cancelled = true
		return errors.Unwrap(err)
	}
	return nil
}

// calledOff returns why the answer was called off from outside, if it was.
func (a *Answer) calledOff() error {
	if cause := context.Cause(a.ctx); !errors.Is(cause, errAnswerTimeout) {
		return cause
	}
	return nil
}

// clientLeft wraps an error of the sink.
type clientLeft struct{ err error }

func (e *clientLeft) Error() string { return "send to client: " + e.err.Error() }

func (e *clientLeft) Unwrap() error { return e.err }
