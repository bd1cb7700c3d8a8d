package search

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/search/attribute"
	"github.com/parley-search/parley/host/internal/search/filter"
	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/search/retrieval"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// A Summary is what a program reads of an index before it searches it.
type Summary struct {
	UID         string
	Description string // of the chat settings
	PrimaryKey  string // "": not known yet
	Documents   int    // that the caller may see
	Filterable  []string
	Sortable    []string
}

// Summaries describes the indexes that caller may use, by uid.
func (s *Service) Summaries(ctx context.Context, caller *auth.Caller) ([]Summary, error) {
	list := []Summary{}
	for _, ix := range s.visible(caller) {
		_, rule, err := s.index(caller, ix.UID())
		if apierr.Is(err, indexerr.IndexNotFound) {
			continue // deleted just now
		}
		if err != nil {
			return nil, err
		}
		m := ix.Meta()
		sum := Summary{
			UID: ix.UID(), Description: m.Settings.Chat.Description, PrimaryKey: m.PrimaryKey, Documents: m.Count,
			Filterable: m.Settings.FilterPatterns(), Sortable: slices.Clone(m.Settings.SortableAttributes),
		}
		if rule != nil {
			if sum.Documents, err = s.countUnder(ctx, ix, rule); err != nil {
				return nil, err
			}
		}
		list = append(list, sum)
	}
	return list, nil
}

// countUnder counts the documents that rule lets through.
func (s *Service) countUnder(ctx context.Context, ix *index.Index, rule *filter.Node) (n int, err error) {
	st, release, err := ix.Acquire(ctx)
	if err != nil {
		return 0, err
	}
	defer release()
	if err := rule.Check(&st.Meta.Settings); err != nil {
		return 0, err
	}
	err = index.Guard(func() (err error) {
		v, err := st.Folder.View(s.columns)
		if err != nil {
			return err
		}
		defer func() { err = cmp.Or(err, v.Close()) }()
		docs, err := rule.Documents(v)
		if err != nil {
			return err
		}
		n = int(docs.AndCardinality(v.Live))
		return nil
	})
	if errors.Is(err, index.ErrDamaged) {
		ix.Suspect(st.Folder, err)
	}
	return n, err
}

// FindTexts searches an index for q as the chat does, and returns at most limit
// documents, best first, each with at most size bytes of text: those that answer
// q, or its beginning by the chat template. filter is an expression, blank for none.
func (s *Service) FindTexts(ctx context.Context, caller *auth.Caller, uid, q, filter string, limit, size int) ([]retrieval.Hit, error) {
	ix, _, err := s.index(caller, uid)
	if err != nil {
		return nil, err
	}
	query, err := chatQuery(ix, q, filter)
	if err != nil {
		return nil, err
	}
	own := ix.Meta().Settings
	if own.Chat.Passages(q) {
		found, err := s.findPassages(ctx, caller, uid, query, chooseBest(limit, size))
		return found.Hits, err
	}
	query.Limit = &limit
	res, err := s.Search(ctx, caller, uid, query)
	if err != nil {
		return nil, err
	}
	own.Chat.MaxBytes = size
	r := settings.NewRenderer(&own)
	hits := make([]retrieval.Hit, len(res.Hits))
	for i, h := range res.Hits {
		text, err := r.Render(ctx, h.Document)
		if err != nil {
			return nil, err
		}
		hits[i] = retrieval.Hit{ID: h.ID, Text: text, Document: h.Document, Score: h.Score}
	}
	return hits, nil
}

// ReadText returns one document as a text of at most size bytes. One that a
// tenant's filter hides is [indexerr.DocumentNotFound].
func (s *Service) ReadText(ctx context.Context, caller *auth.Caller, uid, id string, size int) (retrieval.Hit, error) {
	ix, _, err := s.index(caller, uid)
	if err != nil {
		return retrieval.Hit{}, err
	}
	body, err := s.Document(ctx, caller, uid, id, nil, false)
	if err != nil {
		return retrieval.Hit{}, err
	}
	own := ix.Meta().Settings
	own.Chat.MaxBytes = size
	shown := attribute.Project(body, own.Displayed())
	text, err := settings.NewRenderer(&own).Render(ctx, shown)
	return retrieval.Hit{ID: id, Text: text, Document: shown}, err
}
