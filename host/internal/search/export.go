package search

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/search/filter"
	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/search/storage"
)

// An Exported is an index as another host is given it.
type Exported struct {
	UID        string
	PrimaryKey string // "": not known yet
	Documents  int
	// Settings is a body for PATCH …/settings. Keys and secret
	// headers of embedders are not in it: Keyless names those that the other host
	// has to be given, a key by its embedder ("e"), a header as "e.headers.X-A".
	Settings []byte
	Keyless  []string
}

// ExportIndexes returns all indexes, by uid.
func (s *Service) ExportIndexes() ([]Exported, error) {
	var list []Exported
	for _, ix := range s.indexes.All() {
		m := ix.Meta()
		e := Exported{UID: m.UID, PrimaryKey: m.PrimaryKey, Documents: m.Count}
		var err error
		if e.Settings, e.Keyless, err = m.Settings.Exported(); err != nil {
			return nil, fmt.Errorf("encode settings of index %q: %w", m.UID, err)
		}
		list = append(list, e)
	}
	return list, nil
}

// CheckExportFilter checks the form of a filter, as far as that can be done
// without an index.
func CheckExportFilter(raw json.RawMessage) error {
	if _, err := filter.Parse(raw, true, nil); err != nil {
		return filter.Refuse(err, apierr.InvalidExportIndexFilter)
	}
	return nil
}

// exportPart is how many documents are read, with their vectors, at a time.
const exportPart = 100

// errEnough ends a scan.
var errEnough = errors.New("enough")

// ExportDocuments calls take for each document behind the id after that filter
// (nil: all) lets through, in the order of ids, with its vectors in `_vectors`;
// looked counts the documents that were looked at since the last call. It ends
// early when take returns false; else end holds what was looked at since.
// A wrong filter is an [apierr.Error].
func (s *Service) ExportDocuments(ctx context.Context, uid, after string, raw json.RawMessage, take func(id string, document []byte, looked int) bool) (end int, err error) {
	ix := s.indexes.Find(uid)
	if ix == nil {
		return 0, index.NotFound(uid)
	}
	m := ix.Meta()
	cond, err := ix.ParseFilter(m, raw, apierr.InvalidExportIndexFilter, nil)
	if err != nil {
		return 0, err
	}
	looked := 0
	for {
		var ids []string
		var docs []json.RawMessage
		var counts []int
		err := s.opts.DB.ScanAfter(ctx, m.Docs, after, func(d storage.Document) error {
			after = d.ID
			looked++
			if cond != nil && !cond.Matches(d.Body) {
				return nil
			}
			ids, docs, counts = append(ids, d.ID), append(docs, bytes.Clone(d.Body)), append(counts, looked)
			looked = 0
			if len(ids) == exportPart {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			return 0, fmt.Errorf("read documents of index %q: %w", uid, err)
		}
		for i := range ids {
			if len(m.VectorSets) > 0 {
				if docs[i], err = s.withVectors(m, nil, ids[i], docs[i]); err != nil {
					return 0, err
				}
			}
			if !take(ids[i], docs[i], counts[i]) {
				return 0, nil
			}
		}
		if err == nil {
			return looked, nil
		}
	}
}
