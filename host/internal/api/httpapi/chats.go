package httpapi

import (
	"github.com/gofiber/fiber/v2"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/chat/workspace"
)

// uidBody is one entry of a list of names.
type uidBody struct {
	UID string `json:"uid"`
}

// listChats answers GET /chats.
func (s *Server) listChats(r *call) error {
	offset, limit, err := r.Query.Page(chaterr.InvalidChatOffset, chaterr.InvalidChatLimit)
	if err != nil {
		return err
	}
	uids, total, err := s.Chat.Workspaces(s.ctx, r.Caller, offset, limit)
	if err != nil {
		return err
	}
	results := make([]uidBody, len(uids))
	for i, uid := range uids {
		results[i].UID = uid
	}
	return r.OK(request.NewList(results, offset, limit, total))
}

// workspace returns the workspace uid of the path, or [chaterr.ChatNotFound]
// where the caller may not use it.
func (s *Server) workspace(r *call) (string, error) {
	uid := r.Param("uid")
	if err := workspace.CheckUID(uid); err != nil {
		return "", err
	}
	if !r.Caller.Workspace(uid) {
		return "", workspace.NotFound(uid)
	}
	return uid, nil
}

// getChat answers GET /chats/:uid.
func (s *Server) getChat(r *call) error {
	uid, err := s.workspace(r)
	if err != nil {
		return err
	}
	p, err := s.Chat.Prompts(s.ctx, uid)
	if err != nil {
		return err
	}
	return r.OK(p)
}

// deleteChat answers DELETE /chats/:uid.
func (s *Server) deleteChat(r *call) error {
	uid, err := s.workspace(r)
	if err != nil {
		return err
	}
	if err := s.Chat.Delete(s.ctx, uid); err != nil {
		return err
	}
	return r.Gone()
}

// getChatSettings answers GET /chats/:uid/settings.
func (s *Server) getChatSettings(r *call) error {
	uid, err := s.workspace(r)
	if err != nil {
		return err
	}
	settings, err := s.Chat.Workspace(s.ctx, uid)
	if err != nil {
		return err
	}
	return r.OK(settings)
}

// listProviderModels answers GET /chats/:uid/models.
func (s *Server) listProviderModels(r *call) error {
	uid, err := s.workspace(r)
	if err != nil {
		return err
	}
	models, err := s.Chat.ProviderModels(s.ctx, uid)
	if err != nil {
		s.logProvider(r, err, "list of a provider's models failed")
		return err
	}
	return r.OK(models)
}

// patchChatSettings answers PATCH /chats/:uid/settings.
func (s *Server) patchChatSettings(r *call) error {
	uid, err := s.workspace(r)
	if err != nil {
		return err
	}
	body, err := r.ReadBody()
	if err != nil {
		return err
	}
	settings, warning, err := s.Chat.Patch(s.ctx, uid, body)
	if err != nil {
		return err
	}
	if warning != "" {
		r.Set(fiber.HeaderWarning, warning)
	}
	return r.OK(settings)
}

// resetChatSettings answers DELETE /chats/:uid/settings.
func (s *Server) resetChatSettings(r *call) error {
	uid, err := s.workspace(r)
	if err != nil {
		return err
	}
	settings, err := s.Chat.ResetSettings(s.ctx, uid)
	if err != nil {
		return err
	}
	return r.OK(settings)
}
