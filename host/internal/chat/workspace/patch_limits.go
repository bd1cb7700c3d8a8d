package workspace

import (
	"encoding/json"
	"slices"

	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

// maxFallback is how many workspaces may stand in for one.
const maxFallback = 3

// mergeFallback applies the field fallback to w. The workspaces need not be there
// yet; those that are not when they are needed are passed over.
func mergeFallback(w *Workspace, v json.RawMessage) error {
	if rawjson.IsNull(v) {
		w.Fallback = nil
		return nil
	}
	items, err := readList(chaterr.InvalidChatFallback, "fallback", "workspace uids", v, maxFallback)
	if err != nil {
		return err
	}
	uids := []string{}
	for i, item := range items {
		uid, ok := rawjson.String(item)
		switch {
		case !ok || !ValidUID(uid):
			return apierr.Newf(chaterr.InvalidChatFallback, "`fallback[%d]` is not a workspace uid: it is a string of 1 to %d characters of A-Z a-z 0-9 - _.", i, MaxUID)
		case uid == w.UID || slices.Contains(uids, uid):
			return apierr.Newf(chaterr.InvalidChatFallback, "`fallback[%d]` is %q, which is asked before it: name each workspace once, and not this one.", i, jsonbody.Cut(uid, 64))
		}
		uids = append(uids, uid)
	}
	w.Fallback = uids
	return nil
}

// mergeLimits applies the field limits to w.
func mergeLimits(w *Workspace, v json.RawMessage) (err error) {
	merged, err := limit.MergeWorkspace(w.Limits, v)
	if err == nil {
		w.Limits = merged
	}
	return err
}

// Payer is w as one of those who pay for its answers.
func (w *Workspace) Payer() limit.Party {
	return limit.Party{Subject: limit.Workspace(w.UID), Limits: w.Limits}
}
