// Package indexapi answers the routes of indexes: their documents, files, settings
// and figures, and all ways to search them. It reads bodies and query parameters
// into what package search takes, and renders what that found.
package indexapi

import (
	"encoding/json"
	"time"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/api/httpapi/taskapi"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/base/feature"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/federate"
	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/search/reader"
	"github.com/parley-search/parley/host/internal/search/write"
)

// Deps is what a [Server] works with.
type Deps struct {
	Search   *search.Service
	Federate *federate.Service // answers several queries at once
	Features *feature.Service
	Tasks    *taskapi.Server // takes what changes an index
	Files    *reader.Reader
	// Counted has requests say whether they make an index: see [request.Call].
	Counted bool
	// FilesTime bounds how long reading the files of a request may take: a slot is held for it.
	FilesTime time.Duration
	// DatabaseSize is the bytes on disk, and those of them that are in use; nil:
	// not known.
	DatabaseSize func() (size, used int64)
}

// A Server answers the routes. Safe for concurrent use.
type Server struct {
	Deps
	uploads *request.Slots // of files
}

// New returns a Server.
func New(d Deps) *Server { return &Server{d, uploads()} }

// index returns the index uid of the path, or [indexerr.IndexNotFound] where the
// caller may not use it: for reads and writes alike.
func (s *Server) index(r *request.Call) (string, error) {
	uid := r.Param("uid")
	if err := index.CheckUID(uid); err != nil {
		return "", err
	}
	if _, ok := r.Caller.Index(uid); !ok {
		_, err := s.Search.Index(r.Caller, uid)
		return "", err
	}
	return uid, nil
}

type indexBody struct {
	UID        string    `json:"uid"`
	PrimaryKey *string   `json:"primaryKey"` // null: not known yet
	CreatedAt  time.Time `json:"createdAt"`
	UpdatedAt  time.Time `json:"updatedAt"`
}

func newIndexBody(i *search.Info) indexBody {
	b := indexBody{UID: i.UID, CreatedAt: i.CreatedAt, UpdatedAt: i.UpdatedAt}
	if i.PrimaryKey != "" {
		b.PrimaryKey = &i.PrimaryKey
	}
	return b
}

// newIndexRequest is the body of POST /indexes, and without uid of PATCH.
type newIndexRequest struct {
	UID        *string `json:"uid"`
	PrimaryKey string  `json:"primaryKey"`
}

var indexFields = apierr.Fields{"uid": indexerr.InvalidIndexUID, "primaryKey": indexerr.InvalidIndexPrimaryKey}

// ListIndexes answers GET /indexes with those that the caller may use.
func (s *Server) ListIndexes(r *request.Call) error {
	offset, limit, err := r.Query.Page(indexerr.InvalidIndexOffset, indexerr.InvalidIndexLimit)
	if err != nil {
		return err
	}
	infos, total := s.Search.Indexes(r.Caller, offset, limit)
	results := make([]indexBody, len(infos))
	for i := range infos {
		results[i] = newIndexBody(&infos[i])
	}
	return r.OK(request.NewList(results, offset, limit, total))
}

// CreateIndex answers POST /indexes.
func (s *Server) CreateIndex(r *request.Call) error {
	var b newIndexRequest
	if err := r.Decode(&b, indexFields); err != nil {
		return err
	}
	if b.UID == nil {
		return apierr.Newf(indexerr.MissingIndexUID, "`uid` is missing: send the name of the new index.")
	}
	n, err := write.CreateIndex(*b.UID, b.PrimaryKey)
	if err != nil {
		return err
	}
	if _, ok := r.Caller.Index(*b.UID); !ok {
		return boundElsewhere(*b.UID)
	}
	return s.Tasks.Enqueue(r, n)
}

func boundElsewhere(uid string) error {
	return apierr.Newf(apierr.InvalidAPIKey, "This API key is bound to other indexes than `%s`: use one whose `indexes` hold it.", uid)
}

// GetIndex answers GET /indexes/:uid.
func (s *Server) GetIndex(r *request.Call) error {
	uid, err := s.index(r)
	if err != nil {
		return err
	}
	info, err := s.Search.Index(r.Caller, uid)
	if err != nil {
		return err
	}
	return r.OK(newIndexBody(&info))
}

// PatchIndex answers PATCH /indexes/:uid.
func (s *Server) PatchIndex(r *request.Call) error {
	uid, err := s.index(r)
	if err != nil {
		return err
	}
	var b struct {
		PrimaryKey string          `json:"primaryKey"`
		UID        *string         `json:"uid"`
		CreatedAt  json.RawMessage `json:"createdAt"`
		UpdatedAt  json.RawMessage `json:"updatedAt"`
	}
	if err := r.Decode(&b, indexFields); err != nil {
		return err
	}
	switch {
	case b.CreatedAt != nil:
		return apierr.Newf(indexerr.ImmutableIndexCreatedAt, "`createdAt` cannot be changed: leave it out.")
	case b.UpdatedAt != nil:
		return apierr.Newf(indexerr.ImmutableIndexUpdatedAt, "`updatedAt` cannot be changed: leave it out.")
	}
	named := uid
	if b.UID != nil {
		named = *b.UID
	}
	n, err := write.UpdateIndex(uid, b.PrimaryKey, named)
	if err != nil {
		return err
	}
	if !r.Visible(named) {
		return boundElsewhere(named)
	}
	return s.Tasks.Enqueue(r, n)
}

// DeleteIndex answers DELETE /indexes/:uid.
func (s *Server) DeleteIndex(r *request.Call) error {
	uid, err := s.index(r)
	if err != nil {
		return err
	}
	n, err := write.DeleteIndex(uid)
	if err != nil {
		return err
	}
	return s.Tasks.Enqueue(r, n)
}

// IndexStats answers GET /indexes/:uid/stats.
func (s *Server) IndexStats(r *request.Call) error {
	uid, err := s.index(r)
	if err != nil {
		return err
	}
	show, err := readSizes(r)
	if err != nil {
		return err
	}
	st, err := s.Search.Stats(r.Caller, uid)
	if err != nil {
		return err
	}
	return r.OK(show.index(&st))
}

// swapRequest is one element of the body of POST /swap-indexes.
type swapRequest struct {
	Indexes []string `json:"indexes"`
	Rename  bool     `json:"rename"`
}

var swapFields = apierr.Fields{".indexes": indexerr.InvalidSwapIndexes, ".rename": indexerr.InvalidSwapRename}

// SwapIndexes answers POST /swap-indexes.
func (s *Server) SwapIndexes(r *request.Call) error {
	var body []swapRequest
	if err := r.Decode(&body, swapFields); err != nil {
		return err
	}
	var swaps []write.Swap
	for i, b := range body {
		if b.Indexes == nil {
			return apierr.Newf(indexerr.MissingSwapIndexes, "`[%d].indexes` is missing: send the uids of two indexes.", i)
		}
		if len(b.Indexes) != 2 {
			return apierr.Newf(indexerr.InvalidSwapIndexes, "`[%d].indexes` must be the uids of two indexes, but holds %d.", i, len(b.Indexes))
		}
		swaps = append(swaps, write.Swap{Indexes: [2]string(b.Indexes), Rename: b.Rename})
	}
	n, err := write.SwapIndexes(swaps)
	if err != nil {
		return err
	}
	for _, uid := range n.Indexes {
		if !r.Visible(uid) {
			_, err := s.Search.Index(r.Caller, uid)
			return err
		}
	}
	return s.Tasks.Enqueue(r, n)
}
