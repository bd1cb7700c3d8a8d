package httpapi

import (
	"encoding/json"
	"time"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/search"
)

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

var indexFields = apierr.Fields{"uid": apierr.InvalidIndexUID, "primaryKey": apierr.InvalidIndexPrimaryKey}

// listIndexes answers GET /indexes with those that the caller may use.
func (s *Server) listIndexes(r *call) error {
	offset, limit, err := r.query.page(apierr.InvalidIndexOffset, apierr.InvalidIndexLimit)
	if err != nil {
		return err
	}
	infos, total := s.Search.Indexes(r.caller, offset, limit)
	results := make([]indexBody, len(infos))
	for i := range infos {
		results[i] = newIndexBody(&infos[i])
	}
	return ok(r, list[indexBody]{results, offset, limit, total})
}

// createIndex answers POST /indexes.
func (s *Server) createIndex(r *call) error {
	var b newIndexRequest
	if err := s.decode(r, &b, indexFields); err != nil {
		return err
	}
	if b.UID == nil {
		return apierr.Newf(apierr.MissingIndexUID, "`uid` is missing: send the name of the new index.")
	}
	n, err := search.CreateIndex(*b.UID, b.PrimaryKey)
	if err != nil {
		return err
	}
	if _, ok := r.caller.Index(*b.UID); !ok {
		return apierr.Newf(apierr.InvalidAPIKey, "This API key is bound to other indexes than `%s`: use one whose `indexes` hold it.", *b.UID)
	}
	return s.enqueue(r, n)
}

// getIndex answers GET /indexes/:uid.
func (s *Server) getIndex(r *call) error {
	uid, err := s.index(r)
	if err != nil {
		return err
	}
	info, err := s.Search.Index(r.caller, uid)
	if err != nil {
		return err
	}
	return ok(r, newIndexBody(&info))
}

// patchIndex answers PATCH /indexes/:uid.
func (s *Server) patchIndex(r *call) error {
	uid, err := s.index(r)
	if err != nil {
		return err
	}
	var b struct {
		PrimaryKey string          `json:"primaryKey"`
		UID        json.RawMessage `json:"uid"`
		CreatedAt  json.RawMessage `json:"createdAt"`
		UpdatedAt  json.RawMessage `json:"updatedAt"`
	}
	if err := s.decode(r, &b, indexFields); err != nil {
		return err
	}
	switch {
	case b.UID != nil:
		return apierr.Newf(apierr.ImmutableIndexUID, "`uid` cannot be changed here: rename an index by POST /swap-indexes with `rename`.")
	case b.CreatedAt != nil:
		return apierr.Newf(apierr.ImmutableIndexCreatedAt, "`createdAt` cannot be changed: leave it away.")
	case b.UpdatedAt != nil:
		return apierr.Newf(apierr.ImmutableIndexUpdatedAt, "`updatedAt` cannot be changed: leave it away.")
	}
	n, err := search.UpdateIndex(uid, b.PrimaryKey)
	if err != nil {
		return err
	}
	return s.enqueue(r, n)
}

// deleteIndex answers DELETE /indexes/:uid.
func (s *Server) deleteIndex(r *call) error {
	uid, err := s.index(r)
	if err != nil {
		return err
	}
	n, err := search.DeleteIndex(uid)
	if err != nil {
		return err
	}
	return s.enqueue(r, n)
}

// indexStats answers GET /indexes/:uid/stats.
func (s *Server) indexStats(r *call) error {
	uid, err := s.index(r)
	if err != nil {
		return err
	}
	st, err := s.Search.Stats(r.caller, uid)
	if err != nil {
		return err
	}
	return ok(r, newIndexStats(&st))
}

// swapRequest is one element of the body of POST /swap-indexes.
type swapRequest struct {
	Indexes []string `json:"indexes"`
	Rename  bool     `json:"rename"`
}

var swapFields = apierr.Fields{".indexes": apierr.InvalidSwapIndexes, ".rename": apierr.InvalidSwapRename}

// swapIndexes answers POST /swap-indexes.
func (s *Server) swapIndexes(r *call) error {
	var body []swapRequest
	if err := s.decode(r, &body, swapFields); err != nil {
		return err
	}
	var swaps []search.Swap
	for i, b := range body {
		if b.Indexes == nil {
			return apierr.Newf(apierr.MissingSwapIndexes, "`[%d].indexes` is missing: send the uids of two indexes.", i)
		}
		if len(b.Indexes) != 2 {
			return apierr.Newf(apierr.InvalidSwapIndexes, "`[%d].indexes` must be the uids of two indexes, but holds %d.", i, len(b.Indexes))
		}
		swaps = append(swaps, search.Swap{Indexes: [2]string(b.Indexes), Rename: b.Rename})
	}
	n, err := search.SwapIndexes(swaps)
	if err != nil {
		return err
	}
	for _, uid := range n.Indexes {
		if !r.visible(uid) {
			_, err := s.Search.Index(r.caller, uid)
			return err
		}
	}
	return s.enqueue(r, n)
}
