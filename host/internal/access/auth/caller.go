package auth

import (
	"encoding/json"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/base/apierr"
)

// A Caller is who made a request and what it may do. The zero value may do
// nothing. Safe for concurrent use: it never changes.
type Caller struct {
	all     bool            // the master key, or an open host
	actions map[Action]bool // else: what the key may do
	indexes []string        // patterns of index uids
	spaces  []string        // patterns of workspace uids; nil: all
	id      string          // see ID
	payer   limit.Party     // the key; none of the master key
	rules   *searchRules    // of a tenant token; nil without one
	key     string          // uid of the key, or of the one that signed the token; empty: neither
	expires *time.Time      // of the key or the token, whichever is first; nil: never
}

// Everyone returns the caller of a host without a master key: it may do all.
func Everyone() *Caller { return &Caller{all: true} }

// ID tells callers apart: it is derived from the key's uid, or from the tenant
// token, or the user and the rules that this names. All who have the master key are one caller, and so are all callers of
// a host without one.
func (c *Caller) ID() string { return c.id }

// Key is the uid of c's API key, or of the one that signed its tenant token; empty where
// it has neither.
func (c *Caller) Key() string { return c.key }

// Rights are what a caller may do, as it is told itself.
type Rights struct {
	Key        string // uid; empty for the master key and for a host without one
	Tenant     bool   // a tenant token, which Key signed
	Actions    []Action
	Indexes    []string // patterns; those of a tenant token's rules, which its key narrows further
	Workspaces []string // patterns
	ExpiresAt  *time.Time
}

// Rights returns what c may do: every action by its own name, groups resolved.
func (c *Caller) Rights() Rights {
	r := Rights{Key: c.key, Tenant: c.rules != nil, Actions: []Action{}, Indexes: []string{"*"}, Workspaces: []string{"*"}, ExpiresAt: c.expires}
	for _, t := range traits {
		if c.Allows(t.action) {
			r.Actions = append(r.Actions, t.action)
		}
	}
	if c.all {
		return r
	}
	r.Indexes = append([]string{}, c.indexes...)
	if c.rules != nil {
		r.Indexes = slices.Sorted(maps.Keys(c.rules.filters))
	}
	if c.spaces != nil {
		r.Workspaces = slices.Clone(c.spaces)
	}
	return r
}

// Payer is whose limits hold for c, which asks from address: its key's, those of
// tenant tokens too. It has no subject where c has the master key. A tenant token is
// one client wherever it asks from.
func (c *Caller) Payer(address netip.Addr) limit.Party {
	payer := c.payer
	payer.Address = address
	return payer
}

// Bound reports whether c may use some indexes or some workspaces alone: then it
// learns nothing of what others do.
func (c *Caller) Bound() bool {
	return !c.all && (len(c.indexes) > 0 && !slices.Contains(c.indexes, "*") || c.spaces != nil)
}

// AllWorkspaces reports whether c may use every workspace.
func (c *Caller) AllWorkspaces() bool { return c.all || c.spaces == nil }

// Workspace reports whether c may use the workspace called uid. What a caller
// may not use must look to it as if it did not exist.
func (c *Caller) Workspace(uid string) bool {
	return c.AllWorkspaces() || matchAny(c.spaces, uid)
}

// Allows reports whether c may do a.
func (c *Caller) Allows(a Action) bool { return c.all || c.actions[a] }

// Require returns [apierr.InvalidAPIKey] where c may not do a.
func (c *Caller) Require(a Action) error {
	if c.Allows(a) {
		return nil
	}
	if c.rules != nil {
		return apierr.Newf(apierr.InvalidAPIKey, "A tenant token does not allow `%s`: it is good for `search` and `chatCompletions`, as far as its key allows them.", a)
	}
	return apierr.Newf(apierr.InvalidAPIKey, "This API key does not allow `%s`: use one whose `actions` hold it.", a)
}

// covers returns an error where k may do anything that c may not: else a key that
// makes keys, or is shown their values, could have any right by way of another one.
// c is not bound to workspaces: no such caller manages keys.
func (c *Caller) covers(k *Key) error {
	if c.all {
		return nil
	}
	may := k.actions()
	for _, t := range traits {
		if may[t.action] && !c.actions[t.action] {
			return apierr.Newf(apierr.InvalidAPIKey, "This API key does not allow `%s`, and none that it makes or changes may: take the action away, or use a key whose `actions` hold it.", t.action)
		}
	}
	for _, p := range k.Indexes {
		if !matchAny(c.indexes, p) {
			return apierr.Newf(apierr.InvalidAPIKey, "This API key does not reach the indexes `%s`, and none that it makes or changes may: use a key whose `indexes` hold that.", p)
		}
	}
	if c.expires != nil && (k.ExpiresAt == nil || k.ExpiresAt.After(*c.expires)) {
		return apierr.Newf(apierr.InvalidAPIKey, "This API key expires at %s, and none that it makes or changes may last longer: give an `expiresAt` that is not later, or use a key that does not expire.", c.expires.Format(time.RFC3339))
	}
	if !c.payer.Limits.IsZero() {
		return apierr.Newf(apierr.InvalidAPIKey, "This API key has limits, which those that it makes would not share: make and change keys with one that has none.")
	}
	return nil
}

// Index reports whether c may use the index called uid, and under which
// filter: a filter as the search API takes it (string or array), or nil. What
// a caller may not use must look to it as if it did not exist.
func (c *Caller) Index(uid string) (filter json.RawMessage, ok bool) {
	if c.all {
		return nil, true
	}
	if !matchAny(c.indexes, uid) {
		return nil, false
	}
	if c.rules == nil {
		return nil, true
	}
	return c.rules.filter(uid)
}
