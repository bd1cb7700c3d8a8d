package httpapi

import (
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/auth"
	"github.com/parley-search/parley/host/internal/search"
)

// authorize returns who sent c, if it may do all of actions.
func (s *Server) authorize(c *fiber.Ctx, actions []auth.Action) (*auth.Caller, error) {
	if len(actions) > 0 && strings.HasPrefix(string(actions[0]), "keys.") && !s.Auth.Protected() {
		return nil, apierr.Newf(apierr.MissingMasterKey, "The host has no master key, from which keys are derived: start it with --master-key.")
	}
	caller, err := s.Auth.Authenticate(c.Get(fiber.HeaderAuthorization))
	if err != nil {
		return nil, err
	}
	for _, action := range actions {
		if err := caller.Require(action); err != nil {
			return nil, err
		}
	}
	return caller, nil
}

// param returns a copy of a part of the path.
func (r *call) param(name string) string {
	raw := r.Params(name)
	if p, err := url.PathUnescape(raw); err == nil && p != raw {
		return p
	}
	return strings.Clone(raw)
}

// index returns the index uid of the path, or [apierr.IndexNotFound] where the
// caller may not use it: for reads and writes alike.
func (s *Server) index(r *call) (string, error) {
	uid := r.param("uid")
	if err := search.CheckIndexUID(uid); err != nil {
		return "", err
	}
	if _, ok := r.caller.Index(uid); !ok {
		_, err := s.Search.Index(r.caller, uid)
		return "", err
	}
	return uid, nil
}
