package httpapi

import (
	"slices"
	"time"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
)

// countSearches counts n searches as requests of their key, where that has a limit
// which says so.
func (s *Server) countSearches(r *call, n int) error {
	state, err := s.Limiter.Search(r.Caller.Payer(s.clientAddress(r.Ctx)), int64(n))
	request.SetLimits(r.Ctx, state)
	return err
}

// usageBody is what a key or a workspace asked for.
type usageBody struct {
	UID      string       `json:"uid"`
	Limits   limit.Limits `json:"limits"`
	Period   limit.Period `json:"period"`
	Current  spanBody     `json:"current"`
	Previous *spanBody    `json:"previous"` // null: there is none before
}

// spanBody is what was asked for in one period.
type spanBody struct {
	StartedAt        *time.Time `json:"startedAt"` // null: of all time
	EndsAt           *time.Time `json:"endsAt"`
	Requests         int64      `json:"requests"` // to providers
	PromptTokens     int64      `json:"promptTokens"`
	CompletionTokens int64      `json:"completionTokens"`
	Refused          int64      `json:"refused"` // by a limit
}

func newSpanBody(e limit.Entry) spanBody {
	b := spanBody{Requests: e.Counts.Requests, PromptTokens: e.Counts.Prompt, CompletionTokens: e.Counts.Completion, Refused: e.Counts.Refused}
	if end := e.Span.End(); !end.IsZero() {
		b.StartedAt, b.EndsAt = new(time.Unix(e.Span.Start, 0).UTC()), &end
	}
	return b
}

// getUsage answers GET /usage: all keys and workspaces or, to a key that is bound to
// some indexes or workspaces, itself and the workspaces that it names.
func (s *Server) getUsage(r *call) error {
	keys, err := s.keyUsage(r.Caller)
	if err != nil {
		return err
	}
	workspaces, err := s.workspaceUsage(r)
	if err != nil {
		return err
	}
	return r.OK(struct {
		Keys       []usageBody `json:"keys"`
		Workspaces []usageBody `json:"workspaces"`
	}{keys, workspaces})
}

// everything is more than there is of anything.
const everything = 1 << 30

func (s *Server) keyUsage(caller *auth.Caller) ([]usageBody, error) {
	keys, _ := s.Auth.Keys(0, everything)
	if caller.Bound() {
		own := caller.Key()
		keys = slices.DeleteFunc(keys, func(k auth.Key) bool { return k.UID != own })
	}
	uids, parties := make([]string, len(keys)), make([]limit.Party, len(keys))
	for i := range keys {
		uids[i], parties[i] = keys[i].UID, limit.Party{Subject: limit.Key(keys[i].UID), Limits: keys[i].Limits}
	}
	return s.listUsage(uids, parties)
}

func (s *Server) workspaceUsage(r *call) ([]usageBody, error) {
	if r.Caller.Bound() && r.Caller.AllWorkspaces() {
		return []usageBody{}, nil // it names none
	}
	uids, _, err := s.Chat.Workspaces(s.ctx, r.Caller, 0, everything)
	if err != nil {
		return nil, err
	}
	found, parties := uids[:0], make([]limit.Party, 0, len(uids))
	for _, uid := range uids {
		party, err := s.Chat.Party(s.ctx, uid)
		if apierr.Is(err, chaterr.ChatNotFound) {
			continue // deleted in between
		}
		if err != nil {
			return nil, err
		}
		found, parties = append(found, uid), append(parties, party)
	}
	return s.listUsage(found, parties)
}

func (s *Server) listUsage(uids []string, parties []limit.Party) ([]usageBody, error) {
	usage, err := s.Limiter.Usage(parties)
	if err != nil {
		return nil, err
	}
	all := make([]usageBody, len(usage))
	for i, u := range usage {
		all[i] = usageBody{UID: uids[i], Limits: parties[i].Limits, Period: u.Current.Span.Period, Current: newSpanBody(u.Current)}
		if u.Previous.Subject != "" {
			all[i].Previous = new(newSpanBody(u.Previous))
		}
	}
	return all, nil
}
