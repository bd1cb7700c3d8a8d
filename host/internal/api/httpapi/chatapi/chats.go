package chatapi

import (
	"net/http"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/chat/workspace"
)

// uidBody is one entry of a list of names.
type uidBody struct {
	UID string `json:"uid"`
}

// ListChats answers GET /chats.
func (s *Server) ListChats(r *request.Call) error {
	offset, limit, err := r.Query.Page(chaterr.InvalidChatOffset, chaterr.InvalidChatLimit)
	if err != nil {
		return err
	}
	uids, total, err := s.Chat.Workspaces(s.Base, r.Caller, offset, limit)
	if err != nil {
		return err
	}
	results := make([]uidBody, len(uids))
	for i, uid := range uids {
		results[i].UID = uid
	}
	return r.OK(request.NewList(results, offset, limit, total))
}

// allowedWorkspace returns the workspace uid of the path, or [chaterr.ChatNotFound]
// where the caller may not use it.
func (s *Server) allowedWorkspace(r *request.Call) (string, error) {
	uid := r.Param("uid")
	if err := workspace.CheckUID(uid); err != nil {
		return "", err
	}
	if !r.Caller.Workspace(uid) {
		return "", workspace.NotFound(uid)
	}
	return uid, nil
}

// GetChat answers GET /chats/:uid.
func (s *Server) GetChat(r *request.Call) error {
	uid, err := s.allowedWorkspace(r)
	if err != nil {
		return err
	}
	p, err := s.Chat.Prompts(s.Base, uid)
	if err != nil {
		return err
	}
	return r.OK(p)
}

// DeleteChat answers DELETE /chats/:uid.
func (s *Server) DeleteChat(r *request.Call) error {
	uid, err := s.allowedWorkspace(r)
	if err != nil {
		return err
	}
	if err := s.Chat.Delete(s.Base, uid); err != nil {
		return err
	}
	return r.Gone()
}

// GetSettings answers GET /chats/:uid/settings.
func (s *Server) GetSettings(r *request.Call) error {
	uid, err := s.allowedWorkspace(r)
	if err != nil {
		return err
	}
	settings, err := s.Chat.Workspace(s.Base, uid)
	if err != nil {
		return err
	}
	return r.OK(settings)
}

// ListProviderModels answers GET /chats/:uid/models, and POST with settings that are
// not stored.
func (s *Server) ListProviderModels(r *request.Call) error {
	uid, err := s.allowedWorkspace(r)
	if err != nil {
		return err
	}
	var settings []byte
	if r.Method() == http.MethodPost {
		if settings, err = r.ReadBody(); err != nil {
			return err
		}
	}
	models, err := s.Chat.ProviderModels(s.Base, uid, settings)
	if err != nil {
		s.logProvider(r, err, "list of a provider's models failed")
		return err
	}
	return r.OK(models)
}

// PatchSettings answers PATCH /chats/:uid/settings.
func (s *Server) PatchSettings(r *request.Call) error {
	uid, err := s.allowedWorkspace(r)
	if err != nil {
		return err
	}
	body, err := r.ReadBody()
	if err != nil {
		return err
	}
	settings, warning, err := s.Chat.Patch(s.Base, uid, body)
	if err != nil {
		return err
	}
	if warning != "" {
		r.Set("Warning", warning)
	}
	return r.OK(settings)
}

// ResetSettings answers DELETE /chats/:uid/settings.
func (s *Server) ResetSettings(r *request.Call) error {
	uid, err := s.allowedWorkspace(r)
	if err != nil {
		return err
	}
	settings, err := s.Chat.ResetSettings(s.Base, uid)
	if err != nil {
		return err
	}
	return r.OK(settings)
}
