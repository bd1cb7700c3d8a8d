package httpapi

import (
	"encoding/json"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/search"
)

// listDocuments answers GET /indexes/:uid/documents.
func (s *Server) listDocuments(r *call) error {
	offset, limit, err := r.query.page(apierr.InvalidDocumentOffset, apierr.InvalidDocumentLimit)
	if err != nil {
		return err
	}
	q := search.DocumentsQuery{Offset: offset, Limit: &limit, Fields: r.query.list("fields")}
	if f, ok := r.query["filter"]; ok {
		q.Filter = encode(f)
	}
	return s.documents(r, q)
}

// fetchRequest is the body of POST /indexes/:uid/documents/fetch.
type fetchRequest struct {
	Offset int             `json:"offset"`
	Limit  *int            `json:"limit"`
	Fields []string        `json:"fields"`
	Filter json.RawMessage `json:"filter"`
}

var fetchFields = apierr.Fields{
	"offset": apierr.InvalidDocumentOffset,
	"limit":  apierr.InvalidDocumentLimit,
	"fields": apierr.InvalidDocumentFields,
	"filter": apierr.InvalidDocumentFilter,
}

// fetchDocuments answers POST /indexes/:uid/documents/fetch.
func (s *Server) fetchDocuments(r *call) error {
	var b fetchRequest
	if err := s.decode(r, &b, fetchFields); err != nil {
		return err
	}
	q := search.DocumentsQuery{Offset: b.Offset, Limit: b.Limit, Fields: allIfStar(b.Fields), Filter: b.Filter}
	return s.documents(r, q)
}

func (s *Server) documents(r *call, q search.DocumentsQuery) error {
	uid, err := s.index(r)
	if err != nil {
		return err
	}
	page, err := s.Search.Documents(s.ctx, r.caller, uid, q)
	if err != nil {
		return err
	}
	return ok(r, list[json.RawMessage]{page.Documents, page.Offset, page.Limit, page.Total})
}

// allIfStar returns nil, which is all fields, where "*" is among them.
func allIfStar(fields []string) []string {
	for _, f := range fields {
		if f == "*" {
			return nil
		}
	}
	return fields
}

// getDocument answers GET /indexes/:uid/documents/:id.
func (s *Server) getDocument(r *call) error {
	uid, err := s.index(r)
	if err != nil {
		return err
	}
	doc, err := s.Search.Document(s.ctx, r.caller, uid, r.param("id"), r.query.list("fields"))
	if err != nil {
		return err
	}
	return ok(r, doc)
}

// putDocuments answers POST /indexes/:uid/documents: a document that is there
// is replaced.
func (s *Server) putDocuments(r *call) error { return s.addDocuments(r, false) }

// patchDocuments answers PUT /indexes/:uid/documents: a document that is there
// keeps the fields that are not sent.
func (s *Server) patchDocuments(r *call) error { return s.addDocuments(r, true) }

func (s *Server) addDocuments(r *call, partial bool) error {
	uid, err := s.index(r)
	if err != nil {
		return err
	}
	body, err := s.body(r)
	if err != nil {
		return err
	}
	n, err := search.AddDocuments(uid, r.query["primaryKey"], partial, body)
	if err != nil {
		return err
	}
	return s.enqueue(r, n)
}

// deleteAllDocuments answers DELETE /indexes/:uid/documents.
func (s *Server) deleteAllDocuments(r *call) error {
	uid, err := s.index(r)
	if err != nil {
		return err
	}
	n, err := search.DeleteAllDocuments(uid)
	if err != nil {
		return err
	}
	return s.enqueue(r, n)
}

// deleteDocuments answers POST /indexes/:uid/documents/delete-batch: an array
// of ids, as strings or integers.
func (s *Server) deleteDocuments(r *call) error {
	uid, err := s.index(r)
	if err != nil {
		return err
	}
	var raw []json.RawMessage
	if err := s.decode(r, &raw, nil); err != nil {
		return err
	}
	ids := make([]string, len(raw))
	for i, v := range raw {
		if json.Unmarshal(v, &ids[i]) == nil && v[0] == '"' {
			continue
		}
		var n json.Number
		if json.Unmarshal(v, &n) != nil || v[0] == '"' || v[0] == 'n' {
			return apierr.Newf(apierr.InvalidDocumentID, "The id at position %d must be a string or an integer.", i)
		}
		ids[i] = n.String()
	}
	n, err := search.DeleteDocuments(uid, ids)
	if err != nil {
		return err
	}
	return s.enqueue(r, n)
}

// deleteDocument answers DELETE /indexes/:uid/documents/:id.
func (s *Server) deleteDocument(r *call) error {
	uid, err := s.index(r)
	if err != nil {
		return err
	}
	n, err := search.DeleteDocuments(uid, []string{r.param("id")})
	if err != nil {
		return err
	}
	return s.enqueue(r, n)
}
