package httpapi

import (
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/parley-search/parley/host/internal/api/openai"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
)

// failV1 answers with e.
func failV1(c *fiber.Ctx, e *openai.Error) error {
	if e.Status == fiber.StatusUnauthorized {
		c.Set(fiber.HeaderWWWAuthenticate, "Bearer")
	}
	setRetryAfter(c, e.RetryAfter)
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
	models, err := s.Chat.Models(s.ctx, r.Caller)
	if err != nil {
		return nil, err
	}
	list := make([]modelBody, len(models))
	for i, m := range models {
		list[i] = newModelBody(m.ID, m.Created)
	}
	return list, nil
}

// newModelBody is the model called id, of a workspace that was created then; zero
// where that is not known.
func newModelBody(id string, created time.Time) modelBody {
	m := modelBody{ID: id, Object: "model", OwnedBy: "parley", Name: id}
	if !created.IsZero() {
		m.Created = created.Unix()
	}
	return m
}

// listModels answers GET /v1/models.
func (s *Server) listModels(r *call) error {
	list, err := s.models(r)
	if err != nil {
		return err
	}
	return r.OK(struct {
		Object string      `json:"object"`
		Data   []modelBody `json:"data"`
	}{"list", list})
}

// getModel answers GET /v1/models/*, whose name may hold a slash.
func (s *Server) getModel(r *call) error {
	id := r.Param("*")
	list, err := s.models(r)
	if err != nil {
		return err
	}
	for _, m := range list {
		if m.ID == id {
			return r.OK(m)
		}
	}
	// It may be one that a pattern allows, and that no list can hold.
	target, err := s.Chat.Resolve(s.ctx, r.Caller, id)
	if apierr.Is(err, chaterr.ModelRequired) {
		// What cannot answer is none, as in the list.
		return &apierr.Error{Code: chaterr.ModelNotFound, Param: "model", Message: apierr.From(err).Message}
	}
	if err != nil {
		return err
	}
	return r.OK(newModelBody(id, target.Created))
}
