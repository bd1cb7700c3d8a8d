package chat

import (
	"cmp"
	"errors"
	"reflect"
	"slices"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/plugin/guard"
)

// A standIn is what an answer keeps for as long as another workspace may take it
// over: until the sink has a part of it. What was reasoned before is no part.
type standIn struct {
	asked *Request // as it came
	uids  []string // the workspaces that are left to ask
	short []string // models that the conversation is too long for
}

// A FellBack is why a workspace did not answer, and another one was asked.
type FellBack struct{ From, Code string }

// fallBack has the next workspace that can take the answer over, where cause is a
// failure of the provider that another one need not have. The rounds that were
// answered before stay as they are, with what was found in them.
func (a *Answer) fallBack(cause error) bool {
	if len(a.standIn.uids) == 0 || a.ctx.Err() != nil || a.spoke {
		return false
	}
	if _, left := errors.AsType[*clientLeft](cause); left {
		return false
	}
	e := a.explainError(cause)
	switch {
	case e.Code == chaterr.LLMProviderError, e.Code == chaterr.LLMProviderTimeout, e.Code == chaterr.LLMProviderRateLimited:
	case e.Reason == reasons[abi.ErrorContextLength]:
		a.standIn.short = append(a.standIn.short, a.model)
	default: // the request's own doing, or the operator's
		return false
	}
	a.endRound(cause)
	from := a.workspace.UID
	for len(a.standIn.uids) > 0 {
		uid := a.standIn.uids[0]
		a.standIn.uids = a.standIn.uids[1:]
		if a.moveTo(uid) == nil {
			a.outcome.FellBack = append(a.outcome.FellBack, FellBack{from, e.Code.String()})
			return true
		}
	}
	return false
}

// errPassedOver is why a workspace cannot take an answer over that it could not
// answer either, or that the caller may not use.
var errPassedOver = errors.New("the workspace is passed over")

// moveTo has the workspace uid take the answer over: its source, key, model, rules
// and limits, under the rights of the caller, with the prompts and indexes of the
// workspace that was asked first. An error leaves a as it was, but that no one pays
// for it where a limit was in the way.
func (a *Answer) moveTo(uid string) error {
	if !a.asked.Caller.Workspace(uid) {
		return errPassedOver
	}
	w, err := a.deps.Workspaces.Workspace(a.ctx, uid)
	if err != nil {
		return err
	}
	for _, u := range w.Guards {
		if !slices.ContainsFunc(a.guardedBy, func(by guard.Use) bool { return reflect.DeepEqual(u, by) }) {
			return errPassedOver // the texts have not passed that guard
		}
	}
	asked := a.standIn.asked.clone()
	asked.Portable = true
	source, loaded := a.deps.Sources.Source(w.Wish())
	unnamed := loaded && source.Manifest().NoModel
	if w.DefaultModel != "" || unnamed {
		asked.Model = w.DefaultModel
	}
	if slices.Contains(a.standIn.short, asked.Model) {
		return errPassedOver
	}
	r, err := asked.check()
	if err != nil {
		return err
	}
	t, release, err := a.deps.prepare(a.ctx, r, w, unnamed)
	if err != nil {
		return err
	}
	a.pass.TakeBack()
	if err := a.deps.admit(&a.pass, r, w); err != nil {
		release()
		return err
	}
	a.admitted = true
	a.held.swap(release)
	a.takeOver(t, r)
	return nil
}

// takeOver has an attempt answer what is left of the rounds.
func (a *Answer) takeOver(t attempt, r *request) {
	a.talk.moveTo(newConversation(r, a.talk.prompts, a.talk.indexes, a.deps.lacksOf(t.link, t.model, r.asked.Caller)))
	// What rounds before it carry is another plugin's. Each made calls, but the one that
	// waits for its format.
	calls := a.outcome.Rounds - 1
	if a.forming {
		calls--
	}
	t.carry.calls = append(t.carry.calls, make([]string, max(calls, 0))...)
	if a.talk.answered {
		t.carry.texts = append(t.carry.texts, "")
	}
	a.attempt = t
	a.named = cmp.Or(a.asked.ShownModel, t.model, t.workspace.Source)
	if a.sink != nil {
		a.sink.Model([]byte(a.named))
	}
	a.outcome.attempted(&t)
	a.outcome.Rounds-- // it begins anew
}

// AnsweredBy is the workspace that answers, where another one could stand in for the
// one that was asked; else it is empty.
func (a *Answer) AnsweredBy() string {
	if !a.mayMove {
		return ""
	}
	return a.workspace.UID
}
