package httpapi

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/base/apierr"
)

// authorize returns who sent c, if it may do all of actions.
func (s *Server) authorize(c *fiber.Ctx, actions []auth.Action) (*auth.Caller, error) {
	if len(actions) > 0 && strings.HasPrefix(string(actions[0]), "keys.") && !s.Auth.Protected() {
		return nil, apierr.Newf(apierr.MissingMasterKey, "The host has no master key, from which keys are derived: start it with --master-key.")
	}
	caller, err := s.authenticate(c, c.Get(fiber.HeaderAuthorization))
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

// bodyLimit is that of a route. What a chat or a search says is held in
// memory several times over while it runs, and any key of a front end may
// ask either. Large are only documents, files, settings and plugins.
func (s *Server) bodyLimit(rt *route) request.BodyLimit {
	l := request.BodyLimit{Bytes: s.Limits.Chat, Option: "http-chat-payload-size-limit", Part: s.Limits.Read}
	if len(rt.actions) > 0 && rt.actions[0] == auth.Search && rt.dialect == native {
		l.Bytes, l.Option = s.Limits.Search, "http-search-payload-size-limit"
	}
	large := rt.family == "documents" || rt.family == "settings" || rt.family == "plugins"
	if large || l.Bytes >= s.Limits.Body {
		l.Bytes, l.Option = s.Limits.Body, "http-payload-size-limit"
	}
	return l
}

// prefetched is how much of a body the server reads before any handler.
const prefetched = 8 << 10

// leaveBody closes the connection after the answer where the body was not read:
// its rest would be taken for the next request.
func (s *Server) leaveBody(c *fiber.Ctx) {
	length := c.Request().Header.ContentLength()
	if length >= 0 && int64(length) <= min(prefetched, s.Limits.Body) || c.Context().RequestBodyStream() == nil || request.BodyRead(c) {
		return
	}
	hangUpAfter(c.Context())
}
