package search

import (
	"context"
	"fmt"
	"slices"

	"github.com/parley-search/parley/host/internal/base/memory"
	"github.com/parley-search/parley/host/internal/search/attribute"
	"github.com/parley-search/parley/host/internal/search/highlight"
	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/search/rank"
	"github.com/parley-search/parley/host/internal/search/storage"
	"github.com/parley-search/parley/host/internal/search/vector"
)

// fill reads the documents of the hits. One that is gone since bleve saw it is
// left out, and one that a tenant's rule, asked of the document as it is now,
// does not let through.
func (s *searcher) fill(svc *Service, res *Result, rd *reading, list []rank.Found) error {
	if len(list) == 0 {
		return nil
	}
	loan := memory.Of(s.Ctx)
	ids := make([]string, len(list))
	for i, f := range list {
		var err error
		if ids[i], err = s.View.ID(f.Doc); err != nil {
			return err
		}
	}
	m, q := rd.state.Meta, s.plan.query
	has, err := rd.has(svc, loan, ids)
	if err != nil {
		return err
	}
	extras, err := s.Extras(list)
	if err != nil {
		return err
	}
	displayed, wanted := m.Settings.Displayed(), attribute.NewSelection(q.AttributesToRetrieve)
	format := highlight.NewFormatter(&s.plan.query.Format, s.plan.crops, displayed, wanted, has, s.NewMarker, loan.TakeAnswer)
	var orders [][]rank.OrderStep
	var values [][]string
	if q.joint != nil {
		if orders, err = s.Orders(list); err != nil {
			return err
		}
		if values, err = s.Values(q.joint.Distinct, list); err != nil {
			return err
		}
	}
	vectors := q.RetrieveVectors && (displayed == nil || displayed.ShowsAll(vector.Field))
	var h Hit // of all of them one, for who is shown it keeps nothing of it
	return svc.eachPart(m, loan, ids, func(i int, d *storage.Document) error {
		if s.Ctx.Err() != nil { // to mark a long text takes a while
			return context.Cause(s.Ctx)
		}
		if d.Seq == 0 || rd.rule != nil && !rd.rule.Matches(d.Body) {
			return nil
		}
		h = Hit{ID: d.ID, Document: attribute.Project(d.Body, displayed, wanted), Score: list[i].Score}
		var err error
		if h.Formatted, h.Matches, err = format.Show(d.Body); err != nil {
			return err
		}
		switch {
		case q.ShowRankingScoreDetails && list[i].ByMeaning:
			h.Details = rank.MeaningDetails(&list[i])
		case q.ShowRankingScoreDetails:
			h.Details = s.Details(&list[i], i, &extras)
		}
		if list[i].ByMeaning && res.SemanticHits != nil {
			*res.SemanticHits++
		}
		h.Distance = extras.Distance(i)
		if q.joint != nil {
			h.Place = Place{Doc: list[i].Doc, Order: orders[i], Distinct: values[i], ByMeaning: list[i].ByMeaning}
			h.Place.Hidden = displayed != nil && !displayed.ShowsAll(q.joint.Distinct)
		}
		if err := loan.TakeAnswer(len(h.Document) + len(h.Details)); err != nil {
			return err
		}
		if vectors {
			if h.Document, err = svc.withVectors(m, loan, d.ID, h.Document); err != nil {
				return err
			}
		}
		if q.Show != nil {
			return q.Show(&h)
		}
		res.Hits = append(res.Hits, h)
		return nil
	})
}

// readAtOnce is how many documents are read before they are shown: an answer may
// have so many that they are not to be held as they were stored and as they are shown.
const readAtOnce = 32

// eachPart reads the documents of the ids, a part of them at a time, and calls f for
// each with its position. What is read belongs to f for that call alone.
func (s *Service) eachPart(m *index.Meta, loan *memory.Loan, ids []string, f func(i int, d *storage.Document) error) error {
	for first := 0; first < len(ids); first += readAtOnce {
		docs, err := s.opts.DB.Documents(m.Docs, ids[first:min(first+readAtOnce, len(ids))])
		if err != nil {
			return fmt.Errorf("read documents: %w", err)
		}
		size := 0
		for i := range docs {
			size += len(docs[i].Body)
		}
		if err := loan.Take(int64(size)); err != nil {
			return err
		}
		for i := range docs {
			if err := f(first+i, &docs[i]); err != nil {
				return err // the request ends, and with it the loan
			}
		}
		loan.Give(int64(size))
	}
	return nil
}

// textsOf is how much is made of a document that passages are found in, by its bytes: what of it
// is displayed, its members' texts, and what passages keep of them.
const textsOf = 4

// readHeld reads the documents of the ids, which are held all at once with what is made of
// their texts, until give is called; it is never nil.
func (s *Service) readHeld(m *index.Meta, loan *memory.Loan, ids []string) (docs []storage.Document, give func(), err error) {
	size := int64(0)
	give = func() { loan.Give(size) }
	for part := range slices.Chunk(ids, readAtOnce) {
		read, err := s.opts.DB.Documents(m.Docs, part)
		if err != nil {
			return nil, give, fmt.Errorf("read documents: %w", err)
		}
		n := int64(0)
		for i := range read {
			n += textsOf * int64(len(read[i].Body))
		}
		if err := loan.Take(n); err != nil {
			return nil, give, err
		}
		size += n
		docs = append(docs, read...)
	}
	return docs, give, nil
}

// has returns what tells whether the index has an attribute; to a caller who may see some documents only,
// whether those of ids have it that the caller may see.
func (rd *reading) has(svc *Service, loan *memory.Loan, ids []string) (has func(attr string) bool, err error) {
	if q := rd.plan.query; rd.rule == nil || len(q.Format.Highlight) == 0 && len(q.Format.Crop) == 0 {
		return rd.state.Meta.Has, nil
	}
	paths := map[string]bool{}
	err = svc.eachPart(rd.state.Meta, loan, ids, func(_ int, d *storage.Document) error {
		if d.Seq != 0 && rd.rule.Matches(d.Body) {
			index.EachField(d.Body, func(path string) { paths[path] = true })
		}
		return nil
	})
	return func(attr string) bool {
		for path := range paths {
			if attribute.Covers(attr, path) {
				return true
			}
		}
		return false
	}, err
}
