package chat

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/pattern"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/base/contain"
)

// Bounds of the steps of a round.
const (
	usualSteps = 100 // that a manifest may take which names no number
	// freeSteps need no pause before them, for uploads and the like; each step behind
	// them waits for leastPause or longer.
	freeSteps  = 8
	leastPause = 100 * time.Millisecond
	// callOffTime bounds the request that calls a provider's work off.
	callOffTime = 5 * time.Second
)

// The steps of a round are its requests, of a plugin that asks again: it creates, polls,
// fetches, one request after the other, and the last response has the answer.
type steps struct {
	taken bool       // the plugin may take steps
	again *abi.Again // the response asks for another request
	open  bool       // the provider works on, and is to be told if nobody waits
	carry []byte     // of the response under way
	began time.Time  // the first step
}

// errAgain is of a record again where none was taken: the plugin may not have one.
var errAgain = fmt.Errorf("a record again, and the manifest's features have no %q: %w", abi.FeatureAgain, abi.ErrMalformed)

// takeSteps takes what is for the host out of the records of a decode call: where the
// round goes on, and what the next step is to have.
func (rd *round) takeSteps(records []byte) ([]byte, error) {
	s, kept := &rd.steps, records[:0]
	for rest := records; len(rest) > 0; {
		r, after, _, err := abi.NextRecord(rest)
		if err != nil {
			return nil, err
		}
		switch {
		case r.Kind == abi.RecordAgain:
			again, err := r.Again()
			if err != nil {
				return nil, err
			}
			s.again, s.open = &again, again.Cancel
		case r.Kind == abi.RecordCarry:
			if len(s.carry)+len(r.Payload) > abi.MaxCarry {
				return nil, fmt.Errorf("carry of more than %d bytes: %w", abi.MaxCarry, abi.ErrMalformed)
			}
			s.carry = append(s.carry, r.Payload...)
		case s.again == nil: // nothing else counts behind it
			s.open = s.open && r.Kind != abi.RecordFinish && r.Kind != abi.RecordError
			kept = append(kept, rest[:len(rest)-len(after)]...)
		}
		rest = after
	}
	if rd.ended && s.again == nil {
		rd.carry = append(rd.carry[:0], s.carry...)
	}
	return kept, nil
}

// openStep has the plugin describe the next request of the round, and sends it when its
// time has come. It returns with a response that is a success, or a reply.
func (a *Answer) openStep() error {
	rd := &a.round
	step, wait := rd.in.Step+1, time.Duration(rd.again.AfterMS)*time.Millisecond
	if rd.began.IsZero() {
		rd.began = a.deps.Now()
	}
	if err := a.checkStep(step); err != nil {
		return err
	}
	if step > freeSteps {
		wait = max(wait, leastPause)
	}
	rd.drain()
	select {
	case <-time.After(wait):
	case <-a.ctx.Done():
		return a.ctx.Err()
	}
	rd.in.Step, rd.in.Attempt, rd.in.StepCarry = step, 0, rd.stepCarry()
	rd.again, rd.steps.carry = nil, rd.steps.carry[:0]
	rd.response, rd.reply, rd.waiting, rd.done = nil, nil, nil, false
	rd.begun, rd.ended, rd.tells, rd.state, rd.pattern = false, false, false, rd.state[:0], pattern.Matcher{}
	return a.openResponse()
}

// checkStep refuses a step beyond what the manifest or the deployment allows.
func (a *Answer) checkStep(step int) error {
	own := a.manifest.Steps
	most := cmp.Or(own.Requests, usualSteps)
	switch {
	case a.deps.Upstream == nil:
		return apierr.Newf(chaterr.LLMProviderError, "The plugin asks for another request behind this response, and a recording has one alone.")
	case step > a.deps.Limits.Steps:
		return apierr.Newf(chaterr.LLMProviderTimeout, "The provider had no answer after %d requests, and this host allows no more by --chat-max-steps: ask for less, or raise it.", step)
	case step > most:
		return apierr.Newf(chaterr.LLMProviderTimeout, "The provider had no answer after %d requests, and the plugin %s allows itself no more by `steps` of its manifest: ask for less, or later.", step, a.manifest.Name)
	case own.Seconds > 0 && a.deps.Now().Sub(a.round.began) > time.Duration(own.Seconds)*time.Second:
		return apierr.Newf(chaterr.LLMProviderTimeout, "The provider had no answer after %d seconds, and the plugin %s allows itself no more by `steps` of its manifest: ask for less, or later.", own.Seconds, a.manifest.Name)
	}
	return nil
}

// stepCarry is what encode gets of the response that has ended: its carry, or the one
// before where it has none.
func (rd *round) stepCarry() string {
	if len(rd.steps.carry) == 0 {
		return rd.in.StepCarry
	}
	return base64.StdEncoding.EncodeToString(rd.steps.carry)
}

// drain reads a response to its end, if that is near: its connection is then fit for the
// next step.
func (rd *round) drain() {
	if rd.response == nil {
		return
	}
	response := rd.response
	timer := time.AfterFunc(lingering, func() { _ = response.Close() })
	for {
		if _, err := response.Next(); err != nil {
			break
		}
	}
	timer.Stop()
	rd.close()
}

// callOff tells the provider that nobody waits for what it works on, once. Nothing waits
// for its response.
func (a *Answer) callOff() {
	rd := &a.round
	if !rd.open || a.deps.Upstream == nil {
		return
	}
	rd.open = false
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), callOffTime)
	in := rd.in
	in.Step, in.Attempt, in.StepCarry, in.Cancelled = in.Step+1, 0, rd.stepCarry(), true
	out, err := a.source.Encode(ctx, &in)
	if err != nil || out.Reply != nil {
		cancel()
		return
	}
	request, err := a.outgoingRequest(out)
	if err != nil {
		cancel()
		return
	}
	go func() {
		defer cancel()
		_ = contain.Call(func() error {
			response, err := a.deps.Upstream.Do(ctx, request)
			if err == nil {
				err = response.Close()
			}
			return err
		})
	}()
}
