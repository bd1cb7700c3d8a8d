// Package adminapi answers the routes by which an operator runs an instance: its
// keys, features, remotes and webhooks, and the tasks that copy all it has.
package adminapi

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/api/httpapi/taskapi"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/feature"
	"github.com/parley-search/parley/host/internal/egress/export"
	"github.com/parley-search/parley/host/internal/search/network"
	"github.com/parley-search/parley/host/internal/task/webhook"
)

// A Server answers the routes.
type Server struct {
	Auth     *auth.Service
	Limiter  *limit.Limiter // forgets keys that are deleted; nil: there is none
	Features *feature.Service
	Network  *network.Service
	Webhooks *webhook.Service
	Exports  *export.Service
	Tasks    *taskapi.Server
	Wide     func() bool // the host listens to other machines
}

// keyBody is an API key as a client sees it.
type keyBody struct {
	Name        *string       `json:"name"`
	Description *string       `json:"description"`
	Key         *string       `json:"key"` // null: not for this caller
	UID         string        `json:"uid"`
	Actions     []auth.Action `json:"actions"`
	Indexes     []string      `json:"indexes"`
	Workspaces  []string      `json:"workspaces"`
	Limits      limit.Limits  `json:"limits"`
	ExpiresAt   *time.Time    `json:"expiresAt"`
	CreatedAt   time.Time     `json:"createdAt"`
	UpdatedAt   time.Time     `json:"updatedAt"`
}

// keyBody is k as the caller of r may see it.
func (s *Server) keyBody(r *request.Call, k *auth.Key) keyBody {
	var value *string
	if auth.SeesValue(r.Caller, k) {
		value = new(s.Auth.Value(k))
	}
	workspaces := k.Workspaces
	if workspaces == nil {
		workspaces = []string{"*"}
	}
	return keyBody{k.Name, k.Description, value, k.UID, k.Actions, k.Indexes, workspaces, k.Limits, k.ExpiresAt, k.CreatedAt, k.UpdatedAt}
}

// newKeyBody is the body of POST /keys.
type newKeyBody struct {
	UID         *string                   `json:"uid"`
	Name        *string                   `json:"name"`
	Description *string                   `json:"description"`
	Actions     apierr.Optional[[]string] `json:"actions"`
	Indexes     apierr.Optional[[]string] `json:"indexes"`
	Workspaces  *[]string                 `json:"workspaces"`
	Limits      json.RawMessage           `json:"limits"`
	ExpiresAt   apierr.Optional[string]   `json:"expiresAt"`
}

// keyFields are the codes of the fields of a key.
var keyFields = apierr.Fields{
	"uid":         apierr.InvalidAPIKeyUID,
	"name":        apierr.InvalidAPIKeyName,
	"description": apierr.InvalidAPIKeyDescription,
	"actions":     apierr.InvalidAPIKeyActions,
	"indexes":     apierr.InvalidAPIKeyIndexes,
	"workspaces":  apierr.InvalidAPIKeyWorkspaces,
	"expiresAt":   apierr.InvalidAPIKeyExpiresAt,
}

// draft returns what b asks for; every field that must be there is.
func (b *newKeyBody) draft() (auth.Draft, error) {
	switch {
	case !b.Actions.Set:
		return auth.Draft{}, apierr.Newf(apierr.MissingAPIKeyActions, "`actions` is missing: send an array of actions, such as [\"search\"].")
	case b.Actions.Value == nil:
		return auth.Draft{}, apierr.Newf(apierr.InvalidAPIKeyActions, "`actions` is null: send an array of actions, such as [\"search\"].")
	case !b.Indexes.Set:
		return auth.Draft{}, apierr.Newf(apierr.MissingAPIKeyIndexes, "`indexes` is missing: send an array of index patterns, such as [\"*\"].")
	case b.Indexes.Value == nil:
		return auth.Draft{}, apierr.Newf(apierr.InvalidAPIKeyIndexes, "`indexes` is null: send an array of index patterns, such as [\"*\"].")
	case !b.ExpiresAt.Set:
		return auth.Draft{}, apierr.Newf(apierr.MissingAPIKeyExpiresAt, "`expiresAt` is missing: send a time such as \"2030-01-31T12:00:00Z\", or null for never.")
	}
	d := auth.Draft{Name: b.Name, Description: b.Description, Actions: *b.Actions.Value, Indexes: *b.Indexes.Value, ExpiresAt: b.ExpiresAt.Value, Limits: b.Limits}
	if b.Workspaces != nil {
		d.Workspaces = *b.Workspaces
	}
	if b.UID != nil {
		if d.UID = *b.UID; d.UID == "" {
			return auth.Draft{}, apierr.Newf(apierr.InvalidAPIKeyUID, "`uid` is empty: send a UUID, or leave the field out.")
		}
	}
	return d, nil
}

// ListKeys answers GET /keys.
func (s *Server) ListKeys(r *request.Call) error {
	offset, limit, err := r.Query.Page(apierr.InvalidAPIKeyOffset, apierr.InvalidAPIKeyLimit)
	if err != nil {
		return err
	}
	keys, total := s.Auth.Keys(offset, limit)
	results := make([]keyBody, len(keys))
	for i := range keys {
		if err := r.Loan.TakeAnswer(keys[i].Size()); err != nil {
			return err
		}
		results[i] = s.keyBody(r, &keys[i])
	}
	return r.OK(request.NewList(results, offset, limit, total))
}

// CreateKey answers POST /keys.
func (s *Server) CreateKey(r *request.Call) error {
	var b newKeyBody
	if err := r.Decode(&b, keyFields); err != nil {
		return err
	}
	d, err := b.draft()
	if err != nil {
		return err
	}
	k, err := s.Auth.Create(r.Base, r.Caller, d)
	if err != nil {
		return err
	}
	return r.Answer(http.StatusCreated, s.keyBody(r, &k))
}

// GetKey answers GET /keys/:key, by uid or by key.
func (s *Server) GetKey(r *request.Call) error {
	k, err := s.Auth.Key(r.Param("key"))
	if err != nil {
		return err
	}
	return r.OK(s.keyBody(r, &k))
}

// currentKeyBody is what a caller is told of the key that it sent.
type currentKeyBody struct {
	Name       *string       `json:"name"` // of an API key, but not to who has a tenant token of it
	UID        *string       `json:"uid"`  // null for the master key and for a host without one
	Actions    []auth.Action `json:"actions"`
	Indexes    []string      `json:"indexes"`
	Workspaces []string      `json:"workspaces"`
	ExpiresAt  *time.Time    `json:"expiresAt"`
	Open       bool          `json:"open"`     // the host has no master key: it asks for none
	Network    bool          `json:"network"`  // it is open, and listens to other machines
	Master     bool          `json:"master"`   // it is the master key
	Tenant     bool          `json:"tenant"`   // it is a tenant token
	Feedback   bool          `json:"feedback"` // answers can be rated: the feature is on
}

// GetCurrentKey answers GET /keys/current: who the caller is to this host, and
// what it may do.
func (s *Server) GetCurrentKey(r *request.Call) error {
	may := r.Caller.Rights()
	b := currentKeyBody{Actions: may.Actions, Indexes: may.Indexes, Workspaces: may.Workspaces, ExpiresAt: may.ExpiresAt, Open: !s.Auth.Protected(), Tenant: may.Tenant}
	b.Network = b.Open && s.Wide()
	b.Feedback = s.Features.Now().Feedback
	b.Master = !b.Open && may.Key == ""
	if may.Key != "" {
		b.UID = &may.Key
	}
	if may.Key != "" && !may.Tenant {
		k, err := s.Auth.Key(may.Key)
		if err != nil {
			return err
		}
		b.Name = k.Name
	}
	return r.OK(b)
}

// keyPatchBody is the body of PATCH /keys/:key. The immutable fields are there
// to be refused by name.
type keyPatchBody struct {
	Name        apierr.Optional[string] `json:"name"`
	Description apierr.Optional[string] `json:"description"`
	Actions     any                     `json:"actions"`
	Indexes     any                     `json:"indexes"`
	Workspaces  any                     `json:"workspaces"`
	Limits      json.RawMessage         `json:"limits"`
	ExpiresAt   any                     `json:"expiresAt"`
	CreatedAt   any                     `json:"createdAt"`
	UpdatedAt   any                     `json:"updatedAt"`
	Key         any                     `json:"key"`
	UID         any                     `json:"uid"`
}

// check refuses a change of what is for ever.
func (b *keyPatchBody) check() error {
	for _, f := range []struct {
		value any
		name  string
		code  apierr.Code
	}{
		{b.Actions, "actions", apierr.ImmutableAPIKeyActions},
		{b.Indexes, "indexes", apierr.ImmutableAPIKeyIndexes},
		{b.Workspaces, "workspaces", apierr.ImmutableAPIKeyWorkspaces},
		{b.ExpiresAt, "expiresAt", apierr.ImmutableAPIKeyExpiresAt},
		{b.CreatedAt, "createdAt", apierr.ImmutableAPIKeyCreatedAt},
		{b.UpdatedAt, "updatedAt", apierr.ImmutableAPIKeyUpdatedAt},
		{b.Key, "key", apierr.ImmutableAPIKeyKey},
		{b.UID, "uid", apierr.ImmutableAPIKeyUID},
	} {
		if f.value != nil {
			return apierr.Newf(f.code, "`%s` of a key never changes, only `name`, `description` and `limits` do: make a new key instead.", f.name)
		}
	}
	return nil
}

// PatchKey answers PATCH /keys/:key.
func (s *Server) PatchKey(r *request.Call) error {
	var b keyPatchBody
	if err := r.Decode(&b, keyFields); err != nil {
		return err
	}
	if err := b.check(); err != nil {
		return err
	}
	k, err := s.Auth.Update(r.Base, r.Caller, r.Param("key"), auth.Change{Name: b.Name, Description: b.Description, Limits: b.Limits})
	if err != nil {
		return err
	}
	return r.OK(s.keyBody(r, &k))
}

// DeleteKey answers DELETE /keys/:key.
func (s *Server) DeleteKey(r *request.Call) error {
	k, err := s.Auth.Key(r.Param("key"))
	if err == nil {
		err = s.Auth.Delete(r.Base, k.UID)
	}
	if err == nil {
		err = s.Limiter.Forget(limit.Key(k.UID))
	}
	if err != nil {
		return err
	}
	return r.Gone()
}
