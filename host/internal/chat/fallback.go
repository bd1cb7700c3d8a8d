package chat

import (
	"bytes"
	"cmp"
	"errors"
	"reflect"
	"sync"

	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
	"github.com/parley-search/parley/host/internal/chat/workspace"
	"github.com/parley-search/parley/host/internal/plugin/provider"
)

// A standIn is what an answer keeps for as long as another workspace may take it
// over: until the sink has a part of it. What was reasoned before is no part.
type standIn struct {
	body []byte   // of the request
	uids []string // the workspaces that are left to ask
}

// newStandIn keeps a copy of body where there is a workspace that may need it.
func newStandIn(w *workspace.Workspace, body []byte) standIn {
	if len(w.Fallback) == 0 {
		return standIn{}
	}
	return standIn{bytes.Clone(body), w.Fallback}
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
	e := a.explain(cause)
	switch e.Code {
	case chaterr.LLMProviderError, chaterr.LLMProviderTimeout, chaterr.LLMProviderRateLimited:
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
// workspace that was asked first. An error leaves a as it was, but that nobody pays
// for it where a limit was in the way.
func (a *Answer) moveTo(uid string) error {
	if !a.caller.Workspace(uid) {
		return errPassedOver
	}
	w, err := a.deps.Workspaces.Workspace(a.ctx, uid)
	if err != nil {
		return err
	}
	source, release, ok := a.deps.Sources.Acquire(a.ctx, w.Wish(), clientOf(a.caller, w.UID))
	if !ok {
		return errPassedOver
	}
	moved := false
	defer func() {
		if !moved {
			release()
		}
	}()
	m := source.Manifest()
	if err := errors.Join(workspace.CheckRequired(w, m), workspace.CheckKey(w, m), workspace.CheckNeededOptions(w, m, true)); err != nil {
		return err
	}
	req, err := parseRequest(a.standIn.body)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(w.Guards, a.guardedBy) {
		return errPassedOver // the texts have passed other guards
	}
	if w.DefaultModel != "" || m.NoModel {
		req.model = w.DefaultModel
		req.fields["model"] = jsonbody.Quote(req.model)
	}
	if err := req.choose(w, m.NoModel); err != nil {
		return err
	}
	if err := req.check(w, len(a.standIn.body), a.options.said); err != nil {
		return err
	}
	if err := req.checkParts(m, a.options.said); err != nil {
		return err
	}
	lost := req.settle(w)
	if w.Source != "openAi" && w.Source != "azureOpenAi" {
		for _, name := range ownFields {
			delete(req.fields, name)
		}
	}
	a.pass.TakeBack()
	if err := a.deps.admit(&a.pass, a.caller, w, len(a.standIn.body), req.maxTokens(), &a.options); err != nil {
		return err
	}
	moved = true
	a.admitted = true
	a.held.swap(release)
	a.take(w, req, source)
	a.outcome.Lost = lost
	return nil
}

// ownFields are of OpenAI's API alone: others answer to them with an error.
var ownFields = []string{"store", "metadata", "service_tier", "prompt_cache_key", "safety_identifier", "user"}

// take has w answer what is left of the rounds.
func (a *Answer) take(w *workspace.Workspace, req *request, source provider.Source) {
	m := source.Manifest()
	fresh := newConversation(req, a.talk.prompts, a.talk.indexes, a.deps.lacksOf(w, m, req.model))
	a.talk.fields, a.talk.tools, a.talk.choice, a.talk.format = fresh.fields, fresh.tools, fresh.choice, fresh.format
	a.talk.messages = plain(a.talk.messages)
	if a.talk.before == nil || fresh.before == nil {
		a.talk.before = fresh.before
	}
	a.workspace, a.source, a.manifest = w, source, m
	a.most = req.maxTokens()
	a.hideSecrets(w)
	a.named = cmp.Or(a.options.Model, req.model, w.Source)
	if a.sink != nil {
		a.sink.Model([]byte(a.named))
	}
	a.outcome.Workspace, a.outcome.Source, a.outcome.Plugin, a.outcome.PluginVersion = w.UID, w.Source, m.Name, m.Version
	// The round begins anew. What rounds before it carry is another plugin's.
	a.outcome.Rounds--
	a.round.carry, a.model = a.round.carry[:0], req.model
	a.carry = append(carriedBy(by(m, req.model), a.options.Carries, req.messages), make([]string, max(a.outcome.Rounds-1, 0))...)
}

// AnsweredBy is the workspace that answers, where another one could stand in for the
// one that was asked; else it is empty.
func (a *Answer) AnsweredBy() string {
	if !a.mayMove {
		return ""
	}
	return a.workspace.UID
}

// held is a plugin that an answer holds, and may change for another.
type held struct {
	mu      sync.Mutex
	release func()
	let     bool // go of it, and of any other
}

func (h *held) swap(release func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.release, release = release, h.release
	if h.let {
		release = h.release
	}
	if release != nil {
		release()
	}
}

// letGo may be called more than once.
func (h *held) letGo() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.let && h.release != nil {
		h.release()
	}
	h.let = true
}
