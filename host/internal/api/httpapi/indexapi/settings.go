package indexapi

import (
	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// GetSettings answers GET /indexes/:uid/settings.
func (s *Server) GetSettings(r *request.Call) error {
	settings, err := s.indexSettings(r)
	if err != nil {
		return err
	}
	shown, err := settings.Shown(s.Features.Now())
	if err != nil {
		return err
	}
	return r.OK(shown)
}

func (s *Server) indexSettings(r *request.Call) (settings.Settings, error) {
	uid, err := s.index(r)
	if err != nil {
		return settings.Settings{}, err
	}
	return s.Search.Settings(r.Caller, uid)
}

// PatchSettings answers PATCH /indexes/:uid/settings.
func (s *Server) PatchSettings(r *request.Call) error {
	uid, err := s.index(r)
	if err != nil {
		return err
	}
	body, err := r.ReadBody()
	if err != nil {
		return err
	}
	n, err := s.Search.UpdateSettings(uid, body)
	if err != nil {
		return err
	}
	return s.Tasks.Enqueue(r, n)
}

// ResetSettings answers DELETE /indexes/:uid/settings.
func (s *Server) ResetSettings(r *request.Call) error {
	uid, err := s.index(r)
	if err != nil {
		return err
	}
	n, err := s.Search.ResetSettings(uid)
	if err != nil {
		return err
	}
	return s.Tasks.Enqueue(r, n)
}

// GetSetting answers GET /indexes/:uid/settings/<name>.
func (s *Server) GetSetting(name string) request.Handler {
	return func(r *request.Call) error {
		settings, err := s.indexSettings(r)
		if err != nil {
			return err
		}
		v, _ := settings.Setting(name) // the route is made of the same table
		return r.OK(v)
	}
}

// PutSetting answers PUT, or PATCH, /indexes/:uid/settings/<name>.
func (s *Server) PutSetting(name string) request.Handler {
	return func(r *request.Call) error {
		body, err := r.ReadValue()
		if err != nil {
			return err
		}
		uid, err := s.index(r)
		if err != nil {
			return err
		}
		n, _, err := s.Search.UpdateSetting(uid, name, body)
		if err != nil {
			return err
		}
		return s.Tasks.Enqueue(r, n)
	}
}

// ResetSetting answers DELETE /indexes/:uid/settings/<name>.
func (s *Server) ResetSetting(name string) request.Handler {
	return func(r *request.Call) error {
		uid, err := s.index(r)
		if err != nil {
			return err
		}
		n, _, err := s.Search.ResetSetting(uid, name)
		if err != nil {
			return err
		}
		return s.Tasks.Enqueue(r, n)
	}
}
