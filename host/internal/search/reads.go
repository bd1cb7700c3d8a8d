package search

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/base/memory"
	"github.com/parley-search/parley/host/internal/search/attribute"
	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/filter"
	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/storage"
)

// Info is what a client sees of an index.
type Info struct {
	UID        string
	PrimaryKey string // "": not known yet
	CreatedAt  time.Time
	UpdatedAt  time.Time
}

// Stats are an index's figures.
type Stats struct {
	UID               string
	NumberOfDocuments int
	DocumentBytes     int64 // of all documents, as they are kept
	IsIndexing        bool  // it is being written, or built anew
	Embeddings        int   // vectors of its embedders
	Embedded          int   // documents that have at least one
	// FolderBytes is what the bleve folder takes of the disk, UsedBytes what of
	// it is in use: the rest goes when merges have been cleared away.
	FolderBytes, UsedBytes int64
	FieldDistribution      map[string]int // documents that have each field, by dotted path
	UpdatedAt              time.Time
}

// A DocumentsQuery is one page of documents.
type DocumentsQuery struct {
	Offset int
	Limit  *int // nil: 20
	Fields []string
	Filter json.RawMessage
	IDs    []string // nil: of all; one that is absent is no mistake
	Sort   []string // as the parameter of a search; nil: by id
	// RetrieveVectors shows vectors, in the field `_vectors`.
	RetrieveVectors bool
	// Show is given each document, an object, in their order. It keeps nothing of it.
	Show func(doc []byte) error
}

// DocumentsPage says which documents a [DocumentsQuery] gave.
type DocumentsPage struct {
	Offset, Limit int
	Total         int
}

func infoOf(m *index.Meta) Info {
	return Info{UID: m.UID, PrimaryKey: m.PrimaryKey, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt}
}

// Index returns an index that caller may use.
func (s *Service) Index(caller *auth.Caller, uid string) (Info, error) {
	ix, _, err := s.index(caller, uid)
	if err != nil {
		return Info{}, err
	}
	return infoOf(ix.Meta()), nil
}

// Indexes lists the indexes that caller may use, by uid. A limit below zero
// takes all. total counts them all.
func (s *Service) Indexes(caller *auth.Caller, offset, limit int) (list []Info, total int) {
	for _, ix := range s.visible(caller) {
		list = append(list, infoOf(ix.Meta()))
	}
	total = len(list)
	list = list[min(max(offset, 0), total):]
	if limit >= 0 {
		list = list[:min(limit, len(list))]
	}
	return list, total
}

// Count is how many indexes there are.
func (s *Service) Count() int {
	return len(s.indexes.All())
}

// visible returns the indexes that caller may use, by uid.
func (s *Service) visible(caller *auth.Caller) []*index.Index {
	return slices.DeleteFunc(s.indexes.All(), func(ix *index.Index) bool {
		_, ok := caller.Index(ix.UID())
		return !ok
	})
}

// Settings returns the settings of an index that caller may use.
func (s *Service) Settings(caller *auth.Caller, uid string) (settings.Settings, error) {
	ix, _, err := s.index(caller, uid)
	if err != nil {
		return settings.Settings{}, err
	}
	return ix.Meta().Settings, nil
}

// Stats returns the figures of an index that caller may use.
func (s *Service) Stats(caller *auth.Caller, uid string) (Stats, error) {
	ix, _, err := s.index(caller, uid)
	if err != nil {
		return Stats{}, err
	}
	return statsOf(ix), nil
}

// AllStats returns the figures of all indexes that caller may use, by uid.
func (s *Service) AllStats(caller *auth.Caller) []Stats {
	var list []Stats
	for _, ix := range s.visible(caller) {
		list = append(list, statsOf(ix))
	}
	return list
}

func statsOf(ix *index.Index) Stats {
	m := ix.Meta()
	fields := map[string]int{}
	for i, n := range m.FieldCounts {
		if n > 0 {
			fields[m.Fields[i]] = n
		}
	}
	st := Stats{
		UID: ix.UID(), NumberOfDocuments: m.Count, DocumentBytes: m.Bytes, IsIndexing: ix.Busy(), FieldDistribution: fields, UpdatedAt: m.UpdatedAt,
		Embeddings: m.Vectors.Vectors, Embedded: m.Vectors.Documents,
	}
	if f := ix.State().Folder; f != nil {
		if release, ok := f.Acquire(); ok {
			st.FolderBytes, st.UsedBytes = f.Size()
			release()
		}
	}
	return st
}

// Stale is what the folders take of the disk that is not in use any more.
func (s *Service) Stale() (bytes int64) {
	for _, st := range s.AllStats(auth.Everyone()) {
		bytes += st.FolderBytes - st.UsedBytes
	}
	return bytes
}

// VectorMemory is how much memory vectors take, and may take: those of the
// indexes that were searched by meaning last.
func (s *Service) VectorMemory() (bytes, most int64) { return s.spaces.Bytes(), s.spaces.Max }

// Document returns one document, narrowed to fields (dotted paths; nil: all);
// vectors shows its vectors too, in the field `_vectors`.
// A document that a tenant's filter hides is [indexerr.DocumentNotFound].
func (s *Service) Document(ctx context.Context, caller *auth.Caller, uid, id string, fields []string, vectors bool) (json.RawMessage, error) {
	ix, rule, err := s.index(caller, uid)
	if err != nil {
		return nil, err
	}
	m := ix.Meta()
	docs, err := s.opts.DB.Documents(m.Docs, []string{id})
	if err != nil {
		return nil, err
	}
	if docs[0].Seq == 0 || rule != nil && !rule.Matches(docs[0].Body) {
		return nil, apierr.Newf(indexerr.DocumentNotFound, "Document `%.511s` not found.", id)
	}
	loan := memory.Of(ctx)
	doc := attribute.Project(docs[0].Body, attribute.NewSelection(fields))
	if err := loan.TakeAnswer(len(doc)); err != nil || !vectors {
		return doc, err
	}
	return s.withVectors(m, loan, id, doc)
}

// Documents shows a page of documents, in the order in which they came first.
func (s *Service) Documents(ctx context.Context, caller *auth.Caller, uid string, q DocumentsQuery) (DocumentsPage, error) {
	ix, rule, err := s.index(caller, uid)
	if err != nil {
		return DocumentsPage{}, err
	}
	m := ix.Meta()
	limit := DefaultLimit
	if q.Limit != nil {
		limit = *q.Limit
	}
	if q.Offset < 0 {
		return DocumentsPage{}, apierr.Newf(indexerr.InvalidDocumentOffset, "offset is %d; it must be zero or more.", q.Offset)
	}
	if limit < 0 {
		return DocumentsPage{}, apierr.Newf(indexerr.InvalidDocumentLimit, "limit is %d; it must be zero or more.", limit)
	}
	asked, err := ix.ParseFilter(m, q.Filter, indexerr.InvalidDocumentFilter, nil)
	if err != nil {
		return DocumentsPage{}, err
	}
	page := DocumentsPage{Offset: q.Offset, Limit: limit}
	var ids []string
	sel := attribute.NewSelection(q.Fields)
	cond := filter.And(rule, asked)
	inStep := false
	if q.IDs == nil && len(q.Sort) == 0 {
		ids, page.Total, inStep, err = s.oldestDocuments(ix, cond, q.Offset, limit)
	}
	if !inStep && err == nil {
		// From the documents themselves: a listing is for looking after the data,
		// and bleve may be behind.
		ids, page.Total, err = s.chosenDocuments(ctx, m, cond, q, limit)
	}
	if err != nil {
		return DocumentsPage{}, err
	}
	loan := memory.Of(ctx)
	err = s.eachPart(m, loan, ids, func(_ int, d *storage.Document) error {
		if d.Seq == 0 || cond != nil && !cond.Matches(d.Body) {
			return nil // it went, or changed, just now
		}
		doc := attribute.Project(d.Body, sel)
		err := loan.TakeAnswer(len(doc))
		if err == nil && q.RetrieveVectors {
			doc, err = s.withVectors(m, loan, d.ID, doc)
		}
		if err != nil {
			return err
		}
		return q.Show(doc)
	})
	return page, err
}

// oldestDocuments returns the ids of a page of the documents that cond (nil: all) lets through,
// in the order in which they came first, and how many there are. The folder has that
// at hand, and need not read all documents; ok is false where it is not in step with
// them.
func (s *Service) oldestDocuments(ix *index.Index, cond *filter.Node, offset, limit int) (ids []string, total int, ok bool, err error) {
	st := ix.State()
	if st.Folder == nil || st.Folder.Next.Load() != st.Meta.Next || !st.Folder.Schema.Serves(settings.SchemaOf(&st.Meta.Settings)) || cond.Check(&st.Meta.Settings) != nil {
		return nil, 0, false, nil
	}
	release, ok := st.Folder.Acquire()
	if !ok {
		return nil, 0, false, nil
	}
	defer release()
	v, err := st.Folder.View(s.columns)
	if err != nil {
		return nil, 0, false, err
	}
	ids, total, err = oldestOf(v, cond, offset, limit)
	return ids, total, true, errors.Join(err, v.Close())
}

// oldestOf returns the ids of the page.
func oldestOf(v *bleveindex.View, cond *filter.Node, offset, limit int) (ids []string, total int, err error) {
	list := v.Live
	if cond != nil {
		if list, err = cond.Documents(v); err != nil {
			return nil, 0, err
		}
		list.And(v.Live)
	}
	ids, err = v.Oldest(list.ToArray(), offset, limit)
	return ids, int(list.GetCardinality()), err
}
