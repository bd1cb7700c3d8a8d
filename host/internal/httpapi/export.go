package httpapi

// createExport answers POST /export. Clients expect 200 here, not 202.
func (s *Server) createExport(r *call) error {
	body, err := s.body(r)
	if err != nil {
		return err
	}
	n, err := s.Exports.Task(body)
	if err != nil {
		return err
	}
	t, err := s.accept(r, n)
	if err != nil {
		return err
	}
	return ok(r, newSummaryBody(&t))
}
