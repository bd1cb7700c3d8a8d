package indexapi

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/api/httpapi/taskapi"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/ingest"
	"github.com/parley-search/parley/host/internal/search/write"
)

// ListDocuments answers GET /indexes/:uid/documents.
func (s *Server) ListDocuments(r *request.Call) error {
	offset, limit, err := r.Query.Page(indexerr.InvalidDocumentOffset, indexerr.InvalidDocumentLimit)
	if err != nil {
		return err
	}
	vectors, err := r.Query.Boolean("retrieveVectors", indexerr.InvalidDocumentRetrieveVectors)
	if err != nil {
		return err
	}
	q := search.DocumentsQuery{RetrieveVectors: vectors, Offset: offset, Limit: &limit, Fields: r.Query.List("fields"), IDs: r.Query.List("ids"), Sort: splitSort(r.Query["sort"])}
	if _, ok := r.Query["ids"]; ok && q.IDs == nil {
		return apierr.Newf(indexerr.InvalidDocumentIDs, "The query parameter `ids` must be ids with commas between; leave it out for all documents.")
	}
	if f, ok := r.Query["filter"]; ok {
		q.Filter = request.Encode(f)
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
	"offset": indexerr.InvalidDocumentOffset,
	"limit":  indexerr.InvalidDocumentLimit,
	"fields": indexerr.InvalidDocumentFields,
	"filter": indexerr.InvalidDocumentFilter,
	"ids":    indexerr.InvalidDocumentIDs,
	"sort":   indexerr.InvalidDocumentSort,

	"retrieveVectors": indexerr.InvalidDocumentRetrieveVectors,
}

// FetchDocuments answers POST /indexes/:uid/documents/fetch.
func (s *Server) FetchDocuments(r *request.Call) error {
	var b fetchRequest
	if err := r.Decode(&b, fetchFields); err != nil {
		return err
	}
	q := search.DocumentsQuery{Offset: b.Offset, Limit: b.Limit, Fields: allIfStar(b.Fields), Filter: b.Filter, Sort: b.Sort, RetrieveVectors: b.RetrieveVectors}
	if b.IDs != nil {
		var err error
		if q.IDs, err = documentIDs(*b.IDs, indexerr.InvalidDocumentIDs); err != nil {
			return err
		}
	}
	return s.documents(r, q)
}

func (s *Server) documents(r *request.Call, q search.DocumentsQuery) error {
	uid, err := s.index(r)
	if err != nil {
		return err
	}
	answer := r.NewDocuments(`{"results":[`)
	q.Show = func(doc []byte) error {
		answer.Add(doc)
		return nil
	}
	page, err := s.Search.Documents(r.Base, r.Caller, uid, q)
	if err != nil {
		return err
	}
	if err := answer.CloseList(request.List[json.RawMessage]{Offset: page.Offset, Limit: page.Limit, Total: page.Total}); err != nil {
		return err
	}
	return answer.End()
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

// GetDocument answers GET /indexes/:uid/documents/:id.
func (s *Server) GetDocument(r *request.Call) error {
	uid, err := s.index(r)
	if err != nil {
		return err
	}
	vectors, err := r.Query.Boolean("retrieveVectors", indexerr.InvalidDocumentRetrieveVectors)
	if err != nil {
		return err
	}
	doc, err := s.Search.Document(r.Base, r.Caller, uid, r.Param("id"), r.Query.List("fields"), vectors)
	if err != nil {
		return err
	}
	return r.OK(doc)
}

// PutDocuments answers POST /indexes/:uid/documents: a document that is there
// is replaced.
func (s *Server) PutDocuments(r *request.Call) error { return s.addDocuments(r, false) }

// PatchDocuments answers PUT /indexes/:uid/documents: a document that is there
// keeps the fields that are not sent.
func (s *Server) PatchDocuments(r *request.Call) error { return s.addDocuments(r, true) }

func (s *Server) addDocuments(r *request.Call, partial bool) error {
	uid, err := s.index(r)
	if err != nil {
		return err
	}
	if s.Counted {
		_, err := s.Search.Index(r.Caller, uid)
		r.Creates = apierr.Is(err, indexerr.IndexNotFound)
	}
	in, err := readIncoming(r)
	if err != nil {
		return err
	}
	in.Partial, in.Lend = partial, r.Loan.TakeBody
	body, err := r.OpenBody()
	if err != nil {
		return err
	}
	defer body.Close()
	n, err := s.Search.ReadDocuments(uid, in, body)
	if err != nil {
		return err
	}
	return s.Tasks.Enqueue(r, n)
}

// readIncoming says what the request says of its documents.
func readIncoming(r *request.Call) (in write.Incoming, err error) {
	t, err := r.ContentType(request.MIMEJSON, request.MIMENDJSON, request.MIMECSV)
	if err != nil {
		return in, err
	}
	_, format, _ := strings.Cut(t, "/")
	in.Format, in.PrimaryKey = ingest.BodyFormat(format), r.Query["primaryKey"]
	if in.SkipCreation, err = r.Query.Boolean("skipCreation", apierr.BadRequest); err != nil {
		return in, err
	}
	d, given := r.Query["csvDelimiter"]
	switch {
	case !given:
	case in.Format != ingest.CSV:
		return in, apierr.Newf(indexerr.InvalidDocumentCSVDelimiter, "`csvDelimiter` is for CSV, but the `Content-Type` is %.64q: leave it out, or send `Content-Type: text/csv`.", t)
	case len(d) != 1 || d[0] >= utf8.RuneSelf || strings.Contains("\r\n\"\x00", d):
		return in, apierr.Newf(indexerr.InvalidDocumentCSVDelimiter, "`csvDelimiter` must be one ASCII character, not a quote or a line break, but is %.64q.", d)
	default:
		in.Delimiter = d[0]
	}
	return in, nil
}

// TaskDocuments answers GET /tasks/:uid/documents with what a task that waits, or is
// under way, was sent with: a document a line.
func (s *Server) TaskDocuments(r *request.Call) error {
	uid, err := taskapi.UID(r)
	if err != nil {
		return err
	}
	w, err := s.Tasks.Tasks.PendingWork(r.Base, uid, r.Visible)
	if err != nil {
		return err
	}
	answer := r.NewLines()
	if err := write.EachDocument(w, func(doc []byte) { answer.Add(doc) }); err != nil {
		return err
	}
	return answer.End()
}

// DeleteByFilter answers POST /indexes/:uid/documents/delete.
func (s *Server) DeleteByFilter(r *request.Call) error {
	uid, err := s.index(r)
	if err != nil {
		return err
	}
	var b struct {
		Filter json.RawMessage `json:"filter"`
	}
	if err := r.Decode(&b, fetchFields); err != nil {
		return err
	}
	if len(b.Filter) == 0 {
		return apierr.Newf(indexerr.MissingDocumentFilter, "`filter` is missing: say which documents are to go.")
	}
	n, err := s.Search.DeleteByFilter(uid, b.Filter)
	if err != nil {
		return err
	}
	return s.Tasks.Enqueue(r, n)
}

// DeleteAllDocuments answers DELETE /indexes/:uid/documents.
func (s *Server) DeleteAllDocuments(r *request.Call) error {
	uid, err := s.index(r)
	if err != nil {
		return err
	}
	n, err := write.DeleteAllDocuments(uid)
	if err != nil {
		return err
	}
	return s.Tasks.Enqueue(r, n)
}

// DeleteDocuments answers POST /indexes/:uid/documents/delete-batch: an array
// of ids, as strings or integers.
func (s *Server) DeleteDocuments(r *request.Call) error {
	uid, err := s.index(r)
	if err != nil {
		return err
	}
	var raw []json.RawMessage
	if err := r.Decode(&raw, nil); err != nil {
		return err
	}
	ids, err := documentIDs(raw, indexerr.InvalidDocumentID)
	if err != nil {
		return err
	}
	n, err := write.DeleteDocuments(uid, ids)
	if err != nil {
		return err
	}
	return s.Tasks.Enqueue(r, n)
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

// DeleteDocument answers DELETE /indexes/:uid/documents/:id.
func (s *Server) DeleteDocument(r *request.Call) error {
	uid, err := s.index(r)
	if err != nil {
		return err
	}
	n, err := write.DeleteDocuments(uid, []string{r.Param("id")})
	if err != nil {
		return err
	}
	return s.Tasks.Enqueue(r, n)
}
