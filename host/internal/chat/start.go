package chat

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/chat/workspace"
	"github.com/parley-search/parley/host/internal/plugin/guard"
)

// errAnswerTimeout is why an answer's context ends when it takes too long.
var errAnswerTimeout = errors.New("the answer took too long")

// Start checks a request and begins its answer: it returns once the provider's
// first event is there and no error, so that a failure until then is an
// [apierr.Error] with a status of its own, or ctx's own where that is done. ctx
// ends the answer, also after Start returned, and cancel ends ctx: the answer
// calls it once it has ended or taken too long. Call WriteTo or Close on the
// Answer.
func (s *Service) Start(ctx context.Context, cancel context.CancelCauseFunc, caller *auth.Caller, uid string, body []byte, o Options) (*Answer, error) {
	if err := workspace.CheckUID(uid); err != nil {
		return nil, err
	}
	req, err := parseRequest(body)
	if err != nil {
		return nil, err
	}
	if !caller.Workspace(uid) {
		return nil, workspace.NotFound(uid)
	}
	w := o.Workspace
	if w == nil {
		if w, err = s.deps.Workspaces.Workspace(ctx, uid); err != nil {
			return nil, err
		}
	}
	if err := req.choose(w, o.Unnamed); err != nil {
		return nil, err
	}
	if err := req.check(w, len(body), o.said); err != nil {
		return nil, err
	}
	source, release, ok := s.deps.Sources.Acquire(ctx, w.Wish(), clientOf(caller, w.UID))
	if !ok {
		return nil, s.unavailable(ctx, w)
	}
	var pass limit.Pass
	var guards *guarded
	handed := false // to the answer, which ends them
	defer func() {
		if !handed {
			release()
			pass.TakeBack()
			guards.letGo()
		}
	}()
	m := source.Manifest()
	if err := workspace.CheckRequired(w, m); err != nil {
		return nil, err
	}
	if err := workspace.CheckKey(w, m); err != nil {
		return nil, err
	}
	if err := workspace.CheckNeededOptions(w, m, true); err != nil {
		return nil, err
	}
	if err := req.checkParts(m, o.said); err != nil {
		return nil, err
	}
	lost := req.settle(w)
	most := req.maxTokens()
	restore(by(m, req.model), o.Carries, req.messages)
	if guards, err = s.deps.guards(ctx, caller, w); err != nil {
		return nil, err
	}
	if guards != nil {
		guards.SetState(guardsOf(o.Carries, req.messages))
	}
	blocked := guards.question(req.messages)
	if _, refused := asRefusal(blocked); blocked != nil && !refused {
		if b, ok := errors.AsType[*guard.Blocked](blocked); ok {
			return nil, blockedError(b)
		}
		return nil, blocked
	}
	if blocked == nil {
		if err := s.deps.admit(&pass, caller, w, len(body), most, &o); err != nil {
			return nil, err
		}
	}
	var indexes []Index
	if blocked == nil && caller.Allows(auth.Search) {
		if indexes, err = s.deps.Searcher.ChatIndexes(ctx, caller, narrow(w.IndexUIDs, o.Indexes)); err != nil {
			return nil, err
		}
	}

	a := &Answer{
		ctx:    ctx,
		cancel: cancel,
		limit:  time.AfterFunc(s.deps.Limits.Answer, func() { cancel(errAnswerTimeout) }),
		deps:   &s.deps,
		spare:  &s.spare,
		caller: caller,
		link:   link{w, source, m},
		held:   held{release: release},
		talk:   newConversation(req, &w.Prompts, indexes, s.deps.lacksOf(w, m, req.model)),
		tools:  req.tools,
		carry:  carriedBy(by(m, req.model), o.Carries, req.messages),
		guards: guards, guardedBy: w.Guards,
		model:    req.model,
		usage:    req.usage || o.Usage,
		options:  o,
		pass:     pass,
		admitted: true,
		standIn:  newStandIn(w, body),
		mayMove:  len(w.Fallback) > 0,
		most:     most,
		created:  time.Now().Unix(),
		named:    cmp.Or(o.Model, req.model, w.Source),
		outcome:  Outcome{Workspace: uid, Messages: len(req.messages), Lost: lost, Source: w.Source, Plugin: m.Name, PluginVersion: m.Version},
	}
	handed = true
	if !a.mayMove {
		a.options.Carries = nil // nobody else will want them
	}
	a.hideSecrets(w)
	if err = blocked; err == nil {
		err = a.wait()
	}
	for err != nil && (a.adapt(err) || a.fallBack(err)) {
		err = a.wait()
	}
	if _, refused := asRefusal(err); refused {
		a.broken, err = err, nil
	}
	if err == nil {
		return a, nil
	}
	cause := a.left()
	if cause == nil {
		cause = a.explain(err)
	}
	a.endRound(cause)
	a.Close()
	return nil, cause
}

// narrow returns the indexes that both lists name; nil names all.
func narrow(a, b []string) []string {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	both := []string{}
	for _, uid := range a {
		if slices.Contains(b, uid) {
			both = append(both, uid)
		}
	}
	return both
}

// wait opens the first round and waits for its first event.
func (a *Answer) wait() error {
	if err := a.open(); err != nil {
		return err
	}
	records, err := a.next()
	if err != nil {
		return err
	}
	if err := a.peek(records); err != nil {
		return err
	}
	if a.round.ended && len(records) == 0 {
		return apierr.Newf(chaterr.LLMProviderError, "The provider's answer was empty. Check the workspace's baseUrl and model, or ask again.")
	}
	a.first = records
	return nil
}

// unavailable is the error for a workspace whose plugin is not loaded, or ctx's where that
// ended before it was.
func (s *Service) unavailable(ctx context.Context, w *workspace.Workspace) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	wish := w.Wish()
	wish.Version = ""
	if p, ok := s.deps.Sources.Source(wish); ok {
		return apierr.Newf(chaterr.ChatProviderUnavailable,
			"Workspace %s asks for `pluginVersion` %q, but the loaded version of plugin %s is %s: install one that meets it, or set it to null with PATCH /chats/%s/settings.",
			w.UID, w.PluginVersion, p.Manifest().Name, p.Manifest().Version, w.UID)
	}
	if names := s.deps.Sources.Plugins(w.Source); len(names) > 0 {
		if w.Plugin != "" {
			return apierr.Newf(chaterr.ChatProviderUnavailable,
				"Workspace %s asks for `plugin` %q, which is not loaded; for the source %s there is %s: install it, or set another or null with PATCH /chats/%s/settings.",
				w.UID, w.Plugin, w.Source, strings.Join(names, ", "), w.UID)
		}
		return apierr.Newf(chaterr.ChatProviderUnavailable,
			"The deployment binds the source %s to no plugin that is loaded, though there is %s: choose one for all workspaces by `parley plugin source %s NAME`, or for workspace %s by its setting `plugin`.",
			w.Source, strings.Join(names, ", "), w.Source, w.UID)
	}
	return apierr.Newf(chaterr.ChatProviderUnavailable,
		"No plugin for the source %s of workspace %s is loaded: GET /plugins says whether one was refused and why; install one by `parley plugin install`, or choose another source with PATCH /chats/%s/settings.",
		w.Source, w.UID, w.UID)
}

// randomID returns 24 characters that no other answer or call has.
func randomID() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
