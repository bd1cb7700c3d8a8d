package httpapi

import (
	"bytes"

	"github.com/gofiber/fiber/v2"
)

// metricsType is the text form that Prometheus reads.
const metricsType = "text/plain; version=0.0.4; charset=utf-8"

// getMetrics answers GET /metrics.
func (s *Server) getMetrics(r *call) error {
	var b bytes.Buffer
	if s.Metrics != nil {
		if err := s.Metrics(&b); err != nil {
			return err
		}
	}
	r.Set(fiber.HeaderContentType, metricsType)
	return r.Send(b.Bytes())
}
