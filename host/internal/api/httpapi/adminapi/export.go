package adminapi

import (
	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/api/httpapi/taskapi"
)

// CreateExport answers POST /export. Clients expect 200 here, not 202.
func (s *Server) CreateExport(r *request.Call) error {
	body, err := r.ReadBody()
	if err != nil {
		return err
	}
	n, err := s.Exports.Task(body)
	if err != nil {
		return err
	}
	t, err := s.Tasks.Accept(r, n)
	if err != nil {
		return err
	}
	return r.OK(taskapi.NewSummary(&t))
}
