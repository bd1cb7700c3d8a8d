package adminapi

import (
	"net/http"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/task/webhook"
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

// ListWebhooks answers GET /webhooks.
func (s *Server) ListWebhooks(r *request.Call) error {
	all, err := s.Webhooks.List(r.Base)
	if err != nil {
		return err
	}
	list := struct {
		Results []webhookBody `json:"results"`
	}{make([]webhookBody, len(all))}
	for i := range all {
		list.Results[i] = newWebhookBody(&all[i])
	}
	return r.OK(list)
}

// GetWebhook answers GET /webhooks/:uuid.
func (s *Server) GetWebhook(r *request.Call) error {
	l, err := s.Webhooks.Get(r.Base, r.Param("uuid"))
	if err != nil {
		return err
	}
	return r.OK(newWebhookBody(&l))
}

// CreateWebhook answers POST /webhooks.
func (s *Server) CreateWebhook(r *request.Call) error {
	body, err := r.ReadBody()
	if err != nil {
		return err
	}
	l, err := s.Webhooks.Create(r.Base, body)
	if err != nil {
		return err
	}
	return r.Answer(http.StatusCreated, newWebhookBody(&l))
}

// PatchWebhook answers PATCH /webhooks/:uuid.
func (s *Server) PatchWebhook(r *request.Call) error {
	body, err := r.ReadBody()
	if err != nil {
		return err
	}
	l, err := s.Webhooks.Update(r.Base, r.Param("uuid"), body)
	if err != nil {
		return err
	}
	return r.OK(newWebhookBody(&l))
}

// DeleteWebhook answers DELETE /webhooks/:uuid.
func (s *Server) DeleteWebhook(r *request.Call) error {
	if err := s.Webhooks.Delete(r.Base, r.Param("uuid")); err != nil {
		return err
	}
	return r.Gone()
}
