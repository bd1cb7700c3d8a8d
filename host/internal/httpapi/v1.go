package httpapi

import (
	"math"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/auth"
	"github.com/parley-search/parley/host/internal/feature"
	"github.com/parley-search/parley/host/internal/openai"
)

const (
	completionsV1 = "/v1/chat/completions"
	responsesV1   = "/v1/responses"
)

// routesV1 are the routes of OpenAI's API, with the actions that each asks for.
func (s *Server) routesV1() {
	s.routeV1("GET", "/v1/models", s.listModels, auth.ChatCompletions)
	s.routeV1("GET", "/v1/models/*", s.getModel, auth.ChatCompletions)
	s.routeV1("POST", completionsV1, s.completeV1, auth.ChatCompletions, auth.Search)
	s.routeV1("POST", responsesV1, s.respond, auth.ChatCompletions, auth.Search)
	s.routeV1("GET", responsesV1+"/:id", s.getResponse, auth.ChatCompletions)
	s.routeV1("DELETE", responsesV1+"/:id", s.deleteResponse, auth.ChatCompletions)
}

// routeV1 adds a route of /v1. Unlike [Server.route] it passes over query
// parameters that it does not know: clients add some every month.
func (s *Server) routeV1(method, path string, h handler, actions ...auth.Action) {
	h = s.told(method, path, h)
	guarded := func(c *fiber.Ctx) error {
		if err := s.Features.Require(feature.ChatCompletions, ""); err != nil {
			return err
		}
		caller, err := s.Auth.Authenticate(bearer(c))
		if err != nil {
			return err
		}
		for _, action := range actions {
			if err := caller.Require(action); err != nil {
				return openai.Denied(apierr.From(err).Message)
			}
		}
		a, _ := accessOf(c)
		return h(&call{Ctx: c, caller: caller, access: a, limit: s.bodyLimit(actions[0])})
	}
	s.app.Add(method, path, guarded).Name(nameOf(actions))
	if method == fiber.MethodGet {
		s.app.Add(fiber.MethodHead, path, guarded)
	}
}

// nameOf is the name of a route that asks for actions.
func nameOf(actions []auth.Action) string {
	names := make([]string, len(actions))
	for i, a := range actions {
		names[i] = string(a)
	}
	return strings.Join(names, " ")
}

// bearer is what the header Authorization says, or would say of the key in a
// header that other APIs have.
func bearer(c *fiber.Ctx) string {
	if h := c.Get(fiber.HeaderAuthorization); h != "" {
		return h
	}
	for _, name := range []string{"Api-Key", "X-Api-Key"} {
		if key := c.Get(name); key != "" {
			return "Bearer " + key
		}
	}
	return ""
}

// onV1 reports whether a request is for /v1.
func onV1(c *fiber.Ctx) bool {
	return strings.HasPrefix(c.Path(), "/v1/") || c.Path() == "/v1"
}

// failV1 answers with e.
func failV1(c *fiber.Ctx, e *openai.Error) error {
	if e.Status == fiber.StatusUnauthorized {
		c.Set(fiber.HeaderWWWAuthenticate, "Bearer")
	}
	if e.RetryAfter > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(math.Ceil(e.RetryAfter.Seconds()))))
		c.Set("Retry-After-Ms", strconv.FormatInt(e.RetryAfter.Milliseconds(), 10))
	}
	return sendJSON(c, e.Status, e.Body())
}

// sendJSON answers with a body that is JSON already.
func sendJSON(c *fiber.Ctx, status int, body []byte) error {
	c.Status(status).Set(fiber.HeaderContentType, "application/json; charset=utf-8")
	return c.Send(body)
}

// setProcessing says how long the request took.
func setProcessing(c *fiber.Ctx, a *access) {
	c.Set("OpenAI-Processing-Ms", strconv.FormatInt(a.took().Milliseconds(), 10))
}

// modelBody is one entry of the list of models.
type modelBody struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
	Name    string `json:"name"` // what front ends show
}

// models returns what the caller may name as a model.
func (s *Server) models(r *call) ([]modelBody, error) {
	models, err := s.Chat.Models(s.ctx, r.caller)
	if err != nil {
		return nil, err
	}
	list := make([]modelBody, len(models))
	for i, m := range models {
		list[i] = modelBody{ID: m.ID, Object: "model", OwnedBy: "parley", Name: m.ID}
		if !m.Created.IsZero() {
			list[i].Created = m.Created.Unix()
		}
	}
	return list, nil
}

// listModels answers GET /v1/models.
func (s *Server) listModels(r *call) error {
	list, err := s.models(r)
	if err != nil {
		return err
	}
	return ok(r, struct {
		Object string      `json:"object"`
		Data   []modelBody `json:"data"`
	}{"list", list})
}

// getModel answers GET /v1/models/*, whose name may hold a slash.
func (s *Server) getModel(r *call) error {
	id := r.param("*")
	list, err := s.models(r)
	if err != nil {
		return err
	}
	for _, m := range list {
		if m.ID == id {
			return ok(r, m)
		}
	}
	// It may be one that a pattern allows, and that no list can hold.
	if _, err := s.Chat.Resolve(s.ctx, r.caller, id); err != nil {
		return err
	}
	return ok(r, modelBody{ID: id, Object: "model", OwnedBy: "parley", Name: id})
}
