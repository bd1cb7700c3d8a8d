package adminapi

import (
	"github.com/parley-search/parley/host/internal/httpapi/exchange"
	"github.com/parley-search/parley/host/internal/httpapi/taskapi"
)

// CreateExport answers POST /export. Clients expect 200 here, not 202.
func (s *Server) CreateExport(r *exchange.Call) error {
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
