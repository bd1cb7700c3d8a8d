package chatapi

import (
	"time"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
)

// modelBody is one entry of the list of models, as clients of OpenAI's API and those
// of Anthropic's read it.
type modelBody struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
	Name    string `json:"name"` // what front ends show

	Type        string    `json:"type"`
	DisplayName string    `json:"display_name"`
	CreatedAt   time.Time `json:"created_at"`
}

// listModels returns what the caller may name as a model.
func (s *Server) listModels(r *request.Call) ([]modelBody, error) {
	models, err := s.Chat.Models(s.Base, r.Caller)
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
	m := modelBody{ID: id, Object: "model", OwnedBy: "parley", Name: id, Type: "model", DisplayName: id}
	if created.IsZero() {
		created = time.Unix(0, 0)
	}
	m.Created, m.CreatedAt = created.Unix(), created.UTC().Truncate(time.Second)
	return m
}

// ListModels answers GET /v1/models.
func (s *Server) ListModels(r *request.Call) error {
	list, err := s.listModels(r)
	if err != nil {
		return err
	}
	body := struct {
		Object  string      `json:"object"`
		Data    []modelBody `json:"data"`
		HasMore bool        `json:"has_more"`
		FirstID *string     `json:"first_id"`
		LastID  *string     `json:"last_id"`
	}{Object: "list", Data: list}
	if n := len(list); n > 0 {
		body.FirstID, body.LastID = &list[0].ID, &list[n-1].ID
	}
	return r.OK(body)
}

// GetModel answers GET /v1/models/*, whose name may hold a slash.
func (s *Server) GetModel(r *request.Call) error {
	id := r.Param("*")
	list, err := s.listModels(r)
	if err != nil {
		return err
	}
	for _, m := range list {
		if m.ID == id {
			return r.OK(m)
		}
	}
	// It may be one that a pattern allows, and that no list can hold.
	target, err := s.Chat.Resolve(s.Base, r.Caller, id)
	if apierr.Is(err, chaterr.ModelRequired) {
		// What cannot answer is none, as in the list.
		return &apierr.Error{Code: chaterr.ModelNotFound, Param: "model", Message: apierr.From(err).Message}
	}
	if err != nil {
		return err
	}
	return r.OK(newModelBody(id, target.Created))
}
