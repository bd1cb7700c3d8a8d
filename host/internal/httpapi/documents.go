package httpapi

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/ingest"
)

// listDocuments answers GET /indexes/:uid/documents.
func (s *Server) listDocuments(r *call) error {
	offset, limit, err := r.query.page(apierr.InvalidDocumentOffset, apierr.InvalidDocumentLimit)
	if err != nil {
		return err
	}
	vectors, err := r.query.boolean("retrieveVectors", apierr.InvalidDocumentRetrieveVectors)
	if err != nil {
		return err
	}
	q := search.DocumentsQuery{RetrieveVectors: vectors, Offset: offset, Limit: &limit, Fields: r.query.list("fields"), IDs: r.query.list("ids"), Sort: splitSort(r.query["sort"])}
	if _, ok := r.query["ids"]; ok && q.IDs == nil {
		return apierr.Newf(apierr.InvalidDocumentIDs, "The query parameter `ids` must be ids with commas between; leave it away for all documents.")
	}
	if f, ok := r.query["filter"]; ok {
		q.Filter = encode(f)
	}
	return s.documents(r, q)
}

// fetchRequest is the body of POST /indexes/:uid/documents/fetch.
type fetchRequest struct {
	Offset int                `json:"offset"`
	Limit  *int               `json:"limit"`
	Fields []string           `json:"fields"`
	Filter json.RawMessage    `json:"filter"`
	IDs    *[]json.RawMessage `json:"ids"`
	Sort   []string           `json:"sort"`

	RetrieveVectors bool `json:"retrieveVectors"`
}

var fetchFields = apierr.Fields{
	"offset": apierr.InvalidDocumentOffset,
	"limit":  apierr.InvalidDocumentLimit,
	"fields": apierr.InvalidDocumentFields,
	"filter": apierr.InvalidDocumentFilter,
	"ids":    apierr.InvalidDocumentIDs,
	"sort":   apierr.InvalidDocumentSort,

	"retrieveVectors": apierr.InvalidDocumentRetrieveVectors,
}

// fetchDocuments answers POST /indexes/:uid/documents/fetch.
func (s *Server) fetchDocuments(r *call) error {
	var b fetchRequest
	if err := s.decode(r, &b, fetchFields); err != nil {
		return err
	}
	q := search.DocumentsQuery{Offset: b.Offset, Limit: b.Limit, Fields: allIfStar(b.Fields), Filter: b.Filter, Sort: b.Sort, RetrieveVectors: b.RetrieveVectors}
	if b.IDs != nil {
		var err error
		if q.IDs, err = documentIDs(*b.IDs, apierr.InvalidDocumentIDs); err != nil {
			return err
		}
	}
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
	vectors, err := r.query.boolean("retrieveVectors", apierr.InvalidDocumentRetrieveVectors)
	if err != nil {
		return err
	}
	doc, err := s.Search.Document(s.ctx, r.caller, uid, r.param("id"), r.query.list("fields"), vectors)
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
	if s.Telemetry != nil {
		_, err := s.Search.Index(r.caller, uid)
		r.creates = apierr.Is(err, apierr.IndexNotFound)
	}
	in, err := r.incoming()
	if err != nil {
		return err
	}
	in.Partial = partial
	body, err := s.openBody(r)
	if err != nil {
		return err
	}
	defer body.Close()
	n, err := s.Search.ReadDocuments(uid, in, body)
	if err != nil {
		return err
	}
	return s.enqueue(r, n)
}

// incoming says what the request says of its documents.
func (r *call) incoming() (in search.Incoming, err error) {
	t, err := contentType(r.Ctx, mimeJSON, mimeNDJSON, mimeCSV)
	if err != nil {
		return in, err
	}
	_, format, _ := strings.Cut(t, "/")
	in.Format, in.PrimaryKey = ingest.BodyFormat(format), r.query["primaryKey"]
	d, given := r.query["csvDelimiter"]
	switch {
	case !given:
	case in.Format != ingest.CSV:
		return in, apierr.Newf(apierr.InvalidDocumentCSVDelimiter, "`csvDelimiter` is for CSV, but the `Content-Type` is %.64q: leave it away, or send `Content-Type: text/csv`.", t)
	case len(d) != 1 || d[0] >= utf8.RuneSelf || strings.Contains("\r\n\"\x00", d):
		return in, apierr.Newf(apierr.InvalidDocumentCSVDelimiter, "`csvDelimiter` must be one ASCII character, not a quote or a line break, but is %.64q.", d)
	default:
		in.Delimiter = d[0]
	}
	return in, nil
}

// deleteByFilter answers POST /indexes/:uid/documents/delete.
func (s *Server) deleteByFilter(r *call) error {
	uid, err := s.index(r)
	if err != nil {
		return err
	}
	var b struct {
		Filter json.RawMessage `json:"filter"`
	}
	if err := s.decode(r, &b, fetchFields); err != nil {
		return err
	}
	if len(b.Filter) == 0 {
		return apierr.Newf(apierr.MissingDocumentFilter, "`filter` is missing: say which documents are to go.")
	}
	n, err := s.Search.DeleteByFilter(uid, b.Filter)
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
	ids, err := documentIDs(raw, apierr.InvalidDocumentID)
	if err != nil {
		return err
	}
	n, err := search.DeleteDocuments(uid, ids)
	if err != nil {
		return err
	}
	return s.enqueue(r, n)
}

// documentIDs returns ids that came as strings or integers.
func documentIDs(raw []json.RawMessage, code apierr.Code) ([]string, error) {
	ids := make([]string, len(raw))
	for i, v := range raw {
		if json.Unmarshal(v, &ids[i]) == nil && v[0] == '"' {
			continue
		}
		var n json.Number
		if json.Unmarshal(v, &n) != nil || v[0] == '"' || v[0] == 'n' {
			return nil, apierr.Newf(code, "The id at position %d must be a string or an integer.", i)
		}
		ids[i] = n.String()
	}
	return ids, nil
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
