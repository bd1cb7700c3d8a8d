package chat

import (
	"bytes"
	"strconv"

	"github.com/parley-search/parley/host/internal/auth"
	"github.com/parley-search/parley/host/internal/chat/workspace"
	"github.com/parley-search/parley/host/internal/limit"
)

// admit lets the answer to a request of size bytes begin, unless a limit of the
// caller's key or the workspace is in its way.
func (d *Deps) admit(p *limit.Pass, caller *auth.Caller, w *workspace.Workspace, size int, most int64, o *Options) error {
	key, workspace := caller.Payer(o.Client), w.Payer()
	workspace.Tenant, workspace.Address = key.Tenant, key.Address
	state, err := d.Limiter.Admit(p, key, workspace, limit.Estimate(size, most))
	if o.Limited != nil {
		o.Limited(state)
	}
	return err
}

// Limits is what was left of the limits that hold for the answer when WriteTo
// returned.
func (a *Answer) Limits() limit.State { return a.limits }

// end ends what the answer has to do with limits.
func (a *Answer) end() {
	a.limits = a.pass.State()
	a.pass.End()
}

// tokens is a plugin's count as one that can be added up.
func tokens(n uint64) int64 { return int64(min(n, 1<<40)) } //nolint:gosec // it fits

// reserve has a round paid for, as far as that is known before it: sent are its
// bytes. Of the one that the answer was let by with it is already.
func (a *Answer) reserve(sent int) {
	if !a.admitted {
		a.pass.Round(limit.Estimate(sent, a.most))
	}
	a.admitted = false
}

// settle has the round paid for by what it took. What the provider does not count is
// what was reserved, or what was said if that is more: a client may leave before the
// provider counts. It may be called more than once.
func (a *Answer) settle() {
	rd := &a.round
	switch {
	case rd.settled:
		return
	case rd.hasUsage:
		u := rd.usage
		a.pass.Settle(tokens(u.Prompt), tokens(max(u.Completion, u.Total-min(u.Total, u.Prompt))))
	case rd.response == nil && rd.reply == nil:
		a.pass.Settle(0, 0) // it was not sent, or not taken
	default:
		prompt, completion := int64(rd.sent+3)/4, int64(a.heard-rd.heard+3)/4
		a.pass.Settle(prompt, max(completion, a.pass.Reserved()-prompt))
	}
	rd.settled = true
}

// maxTokens is how long the request lets its answer be, 0 where it does not say.
func (r *request) maxTokens() int64 {
	least := int64(0)
	for _, name := range lengthFields {
		v := bytes.TrimSpace(r.fields[name])
		if len(v) == 0 {
			continue // rather than have an error made
		}
		n, err := strconv.ParseInt(string(v), 10, 64)
		if err == nil && n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}
