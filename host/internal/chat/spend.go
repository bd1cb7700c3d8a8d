package chat

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat/workspace"
)

// admit lets w begin the answer to a request, unless a limit of the caller's key or
// the workspace is in its way.
func (d *Deps) admit(p *limit.Pass, r *request, w *workspace.Workspace) error {
	key, workspace := r.asked.Caller.Payer(r.asked.Client), w.Payer()
	workspace.Tenant, workspace.Address = key.Tenant, key.Address
	state, err := d.Limiter.Admit(p, key, workspace, limit.Estimate(r.size, r.maxTokens()))
	if r.asked.Limited != nil {
		r.asked.Limited(state)
	}
	return err
}

// Limits is what was left of the limits that hold for the answer when WriteTo
// returned.
func (a *Answer) Limits() limit.State { return a.limits }

// endLimits ends what the answer has to do with limits.
func (a *Answer) endLimits() {
	a.limits = a.pass.State()
	a.pass.End()
}

// tokens is a plugin's count as one that can be added up.
func tokens(n uint64) int64 { return int64(min(n, 1<<40)) } //nolint:gosec // it fits

// reserveTokens has a round paid for, as far as that is known before it: sent are its
// bytes. Of the one that the answer was let by with it is already. An error says that
// a budget is spent.
func (a *Answer) reserveTokens(sent int) error {
	if a.admitted {
		a.admitted = false
		return nil
	}
	return a.pass.Round(limit.Estimate(sent, a.most))
}

// settleRound has the round paid for by what it took. What the provider does not count, or
// counts as nothing, is estimated by its bytes. Where there is no count at all, it is
// what was reserved if that is more: a client may leave before the provider counts. It
// may be called more than once.
func (a *Answer) settleRound() {
	rd := &a.round
	prompt, completion := int64(rd.sent+3)/4, int64(a.heard-rd.heard+3)/4
	switch {
	case rd.settled:
		return
	case rd.hasUsage:
		u := rd.usage
		if n := tokens(u.Prompt); n > 0 {
			prompt = n
		}
		if n := tokens(max(u.Completion, u.Total-min(u.Total, u.Prompt))); n > 0 {
			completion = n
		}
		a.pass.Settle(prompt, completion)
	case rd.response == nil && rd.reply == nil:
		a.pass.Settle(0, 0) // it was not sent, or not taken
	default:
		a.pass.Settle(prompt, max(completion, a.pass.Reserved()-prompt))
	}
	rd.settled = true
}

// maxTokens is how long the request lets its answer be, 0 where it does not say: the
// most of what it says, for the provider chooses which of them it takes.
func (r *request) maxTokens() (most int64) {
	for _, name := range lengthFields {
		most = max(most, lengthOf(r.fields[name]))
	}
	return most
}

// lengthOf is a length as providers read it, who take "1000" and 1e3 too; 0 where it is
// none.
func lengthOf(v json.RawMessage) int64 {
	if len(v) == 0 {
		return 0
	}
	text, quoted := rawjson.String(v)
	if !quoted {
		text = string(v)
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) || math.IsNaN(n) || n <= 0 {
		return 0
	}
	return int64(min(math.Ceil(n), 1<<53))
}
