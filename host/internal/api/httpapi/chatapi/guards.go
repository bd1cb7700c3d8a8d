package chatapi

import (
	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/api/httpapi/request"
)

// TestGuards answers POST /chats/:uid/guards/test: what the guards make of a text.
func (s *Server) TestGuards(r *request.Call) error {
	uid, err := s.allowedWorkspace(r)
	if err != nil {
		return err
	}
	body, err := r.ReadBody()
	if err != nil {
		return err
	}
	trial, err := s.Chat.TryGuards(r.Base, auth.Everyone(), uid, body)
	if err != nil {
		return err
	}
	return r.OK(trial)
}
