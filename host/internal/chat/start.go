package chat

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
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
func (s *Service) Start(ctx context.Context, cancel context.CancelCauseFunc, q *Request) (*Answer, error) {
	if err := workspace.CheckUID(q.UID); err != nil {
		return nil, err
	}
	r, err := q.check()
	if err != nil {
		return nil, err
	}
	if !q.Caller.Workspace(q.UID) {
		return nil, workspace.NotFound(q.UID)
	}
	w := q.Workspace
	if w == nil {
		if w, err = s.deps.Workspaces.Workspace(ctx, q.UID); err != nil {
			return nil, err
		}
	}
	var spare standIn
	if len(w.Fallback) > 0 {
		spare = standIn{asked: q.clone(), uids: w.Fallback}
	}
	first, release, err := s.deps.prepare(ctx, r, w, q.Unnamed)
	if err != nil {
		return nil, err
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
	if guards, err = s.deps.guards(ctx, q.Caller, w); err != nil {
		return nil, err
	}
	if guards != nil {
		guards.SetState(guardsOf(q.Carries, r.messages))
	}
	blocked := guards.guardQuestion(r.messages, r.fields, spare.asked)
	if _, refused := asRefusal(blocked); blocked != nil && !refused {
		if b, ok := errors.AsType[*guard.Blocked](blocked); ok {
			return nil, blockedError(b)
		}
		return nil, blocked
	}
	if blocked == nil {
		if err := s.deps.admit(&pass, r, w); err != nil {
			return nil, err
		}
	}
	var indexes []Index
	if blocked == nil && q.Caller.Allows(auth.Search) {
		if indexes, err = s.deps.Searcher.ChatIndexes(ctx, q.Caller, narrow(w.IndexUIDs, q.Indexes)); err != nil {
			return nil, err
		}
		if err := s.deps.checkIndexes(ctx, q, indexes); err != nil {
			return nil, err
		}
	}
	asked := *q
	asked.Messages, asked.Tools, asked.Fields, asked.Carries = nil, nil, nil, nil // the conversation has what it needs of them
	a := &Answer{
		ctx:    ctx,
		cancel: cancel,
		limit:  time.AfterFunc(s.deps.Limits.Answer, func() { cancel(errAnswerTimeout) }),
		deps:   &s.deps,
		spare:  &s.spare,
		asked:  asked,
		held:   held{release: release},
		talk:   newConversation(r, &w.Prompts, indexes, s.deps.lacksOf(first.link, r.model, r.asked.Caller)),
		tools:  r.tools,
		guards: guards, guardedBy: w.Guards,
		attempt:  first,
		usage:    r.usage || q.Usage,
		pass:     pass,
		admitted: true,
		standIn:  spare,
		mayMove:  len(w.Fallback) > 0,
		created:  time.Now().Unix(),
		hash:     hashNone,
		named:    cmp.Or(q.ShownModel, r.model, w.Source),
		outcome:  Outcome{Messages: len(r.messages)},
	}
	a.outcome.attempted(&first)
	handed = true
	if err = blocked; err == nil {
		err = a.awaitFirst()
	}
	for err != nil && (a.adaptToModel(err) || a.fallBack(err)) {
		err = a.awaitFirst()
	}
	if err == nil {
		a.learnAdapted()
	}
	if _, refused := asRefusal(err); refused {
		a.broken, err = err, nil
	}
	if err == nil {
		return a, nil
	}
	cause := a.calledOff()
	if cause == nil {
		cause = a.explainError(err)
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

// checkIndexes refuses a request that names an index which is not among those that are searched: an answer
// without it would seem to rest on it. An index that the caller may not search does not exist.
func (d *Deps) checkIndexes(ctx context.Context, q *Request, searched []Index) error {
	for _, uid := range q.Indexes {
		if slices.ContainsFunc(searched, func(x Index) bool { return x.UID == uid }) {
			continue
		}
		there, err := d.Searcher.ChatIndexes(ctx, q.Caller, []string{uid})
		if err != nil {
			return err
		}
		if len(there) == 0 {
			return apierr.Newf(indexerr.IndexNotFound, "Index `%.400s` not found.", uid)
		}
		return apierr.Newf(chaterr.InvalidChatIndexUIDs, "The workspace `%s` does not search the index `%s`: name another index or workspace, or add it to the workspace's setting `indexUids`.", q.UID, uid)
	}
	return nil
}

// awaitFirst opens the first round and waits for its first event.
func (a *Answer) awaitFirst() error {
	if err := a.openRound(); err != nil {
		return err
	}
	var silent []byte // records of steps of which the client sees nothing
	records, err := a.nextRecords()
	for {
		if err != nil {
			return err
		}
		shows, failure := a.peekFailure(records)
		if failure != nil {
			return failure
		}
		rd := &a.round
		if shows || !rd.steps.taken || rd.ended && rd.again == nil {
			break
		}
		silent = append(silent, records...)
		if rd.again != nil {
			if err := a.openStep(); err != nil {
				return err
			}
		}
		records, err = a.nextRecords()
	}
	if len(silent) > 0 {
		records = append(silent, records...)
	}
	if a.round.ended && len(records) == 0 {
		return apierr.Newf(chaterr.LLMProviderError, "The provider's answer was empty. Check the workspace's baseUrl and model, or ask again.")
	}
	a.first = records
	return nil
}

// randomID returns 24 characters that no other answer or call has.
func randomID() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
