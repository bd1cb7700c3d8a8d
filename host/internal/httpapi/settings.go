package httpapi

import (
	"github.com/parley-search/parley/host/internal/search/settings"
)

// getSettings answers GET /indexes/:uid/settings.
func (s *Server) getSettings(r *call) error {
	settings, err := s.indexSettings(r)
	if err != nil {
		return err
	}
	shown, err := settings.Shown(s.Features.Now())
	if err != nil {
		return err
	}
	return ok(r, shown)
}

func (s *Server) indexSettings(r *call) (settings.Settings, error) {
	uid, err := s.index(r)
	if err != nil {
		return settings.Settings{}, err
	}
	return s.Search.Settings(r.caller, uid)
}

// patchSettings answers PATCH /indexes/:uid/settings.
func (s *Server) patchSettings(r *call) error {
	uid, err := s.index(r)
	if err != nil {
		return err
	}
	body, err := s.body(r)
	if err != nil {
		return err
	}
	n, err := s.Search.UpdateSettings(uid, body)
	if err != nil {
		return err
	}
	return s.enqueue(r, n)
}

// resetSettings answers DELETE /indexes/:uid/settings.
func (s *Server) resetSettings(r *call) error {
	uid, err := s.index(r)
	if err != nil {
		return err
	}
	n, err := s.Search.ResetSettings(uid)
	if err != nil {
		return err
	}
	return s.enqueue(r, n)
}

// getSetting answers GET /indexes/:uid/settings/<name>.
func (s *Server) getSetting(name string) handler {
	return func(r *call) error {
		settings, err := s.indexSettings(r)
		if err != nil {
			return err
		}
		v, _ := settings.Setting(name) // the route is made of the same table
		return ok(r, v)
	}
}

// putSetting answers PUT, or PATCH, /indexes/:uid/settings/<name>.
func (s *Server) putSetting(name string) handler {
	return func(r *call) error {
		body, err := s.body(r)
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
		return s.enqueue(r, n)
	}
}

// resetSetting answers DELETE /indexes/:uid/settings/<name>.
func (s *Server) resetSetting(name string) handler {
	return func(r *call) error {
		uid, err := s.index(r)
		if err != nil {
			return err
		}
		n, _, err := s.Search.ResetSetting(uid, name)
		if err != nil {
			return err
		}
		return s.enqueue(r, n)
	}
}
