package indexapi

import (
	"encoding/json"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/search/render"
)

// renderFields are the codes of the body of POST /render-template.
var renderFields = apierr.Fields{"template": indexerr.InvalidRenderTemplate, "input": indexerr.InvalidRenderInput}

type renderBody struct {
	Template json.RawMessage `json:"template"`
	Rendered json.RawMessage `json:"rendered"` // null where there was no input
}

// RenderTemplate answers POST /render-template.
func (s *Server) RenderTemplate(r *request.Call) error {
	var q render.Query
	if err := r.Decode(&q, renderFields); err != nil {
		return err
	}
	res, err := q.Render(r.Base, s.Search, r.Caller, s.Features)
	if err != nil {
		return err
	}
	return r.OK(renderBody{res.Template, res.Rendered})
}
