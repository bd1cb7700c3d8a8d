package search

import (
	"context"
	"fmt"

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
	ids := make([]string, len(list))
	for i, f := range list {
		var err error
		if ids[i], err = s.View.ID(f.Doc); err != nil {
			return err
		}
	}
	m, q := rd.state.Meta, s.plan.query
	docs, err := svc.opts.DB.Documents(m.Docs, ids)
	if err != nil {
		return fmt.Errorf("read hits: %w", err)
	}
	extras, err := s.Extras(list)
	if err != nil {
		return err
	}
	displayed, wanted := m.Settings.Displayed(), attribute.NewSelection(q.AttributesToRetrieve)
	format := highlight.NewFormatter(&s.plan.query.Format, s.plan.crops, displayed, wanted, rd.has(docs), s.NewMarker)
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
	for i, d := range docs {
		if s.Ctx.Err() != nil { // to mark a long text takes a while
			return context.Cause(s.Ctx)
		}
		if d.Seq == 0 || rd.rule != nil && !rd.rule.Matches(d.Body) {
			continue
		}
		h := Hit{ID: d.ID, Document: attribute.Project(d.Body, displayed, wanted), Score: list[i].Score}
		h.Formatted, h.Matches = format.Show(d.Body)
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
		res.Hits = append(res.Hits, h)
	}
	if q.RetrieveVectors && (displayed == nil || displayed.ShowsAll(vector.Field)) {
		return svc.showVectors(m, res.Hits)
	}
	return nil
}

// has returns what tells whether the index has an attribute; to a caller who may see some documents only,
// whether those of docs have it that the caller may see.
func (rd *reading) has(docs []storage.Document) func(attr string) bool {
	if rd.rule == nil {
		return rd.state.Meta.Has
	}
	return func(attr string) (has bool) {
		for _, d := range docs {
			if d.Seq != 0 && rd.rule.Matches(d.Body) {
				index.EachField(d.Body, func(path string) { has = has || attribute.Covers(attr, path) })
			}
		}
		return has
	}
}
