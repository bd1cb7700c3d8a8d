package httpapi

import (
	"github.com/gofiber/fiber/v2"

	"github.com/parley-search/parley/host/internal/webhook"
)

// webhookBody is a webhook as a client sees it.
type webhookBody struct {
	UUID       string            `json:"uuid"`
	IsEditable bool              `json:"isEditable"`
	URL        string            `json:"url"`
	Headers    map[string]string `json:"headers"` // what may be seen of them
}

func newWebhookBody(l *webhook.Listed) webhookBody {
	return webhookBody{l.UID, l.Editable(), l.ShownURL(), l.ShownHeaders()}
}

// listWebhooks answers GET /webhooks.
func (s *Server) listWebhooks(r *call) error {
	all, err := s.Webhooks.List(s.ctx)
	if err != nil {
		return err
	}
	list := struct {
		Results []webhookBody `json:"results"`
	}{make([]webhookBody, len(all))}
	for i := range all {
		list.Results[i] = newWebhookBody(&all[i])
	}
	return ok(r, list)
}

// getWebhook answers GET /webhooks/:uuid.
func (s *Server) getWebhook(r *call) error {
	l, err := s.Webhooks.Get(s.ctx, r.param("uuid"))
	if err != nil {
		return err
	}
	return ok(r, newWebhookBody(&l))
}

// createWebhook answers POST /webhooks.
func (s *Server) createWebhook(r *call) error {
	body, err := s.body(r)
	if err != nil {
		return err
	}
	l, err := s.Webhooks.Create(s.ctx, body)
	if err != nil {
		return err
	}
	return render(r.Ctx, fiber.StatusCreated, newWebhookBody(&l))
}

// patchWebhook answers PATCH /webhooks/:uuid.
func (s *Server) patchWebhook(r *call) error {
	body, err := s.body(r)
	if err != nil {
		return err
	}
	l, err := s.Webhooks.Update(s.ctx, r.param("uuid"), body)
	if err != nil {
		return err
	}
	return ok(r, newWebhookBody(&l))
}

// deleteWebhook answers DELETE /webhooks/:uuid.
func (s *Server) deleteWebhook(r *call) error {
	if err := s.Webhooks.Delete(s.ctx, r.param("uuid")); err != nil {
		return err
	}
	return gone(r)
}
