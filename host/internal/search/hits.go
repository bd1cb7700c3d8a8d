package search

import (
	"fmt"

	"github.com/parley-search/parley/host/internal/search/attribute"
	"github.com/parley-search/parley/host/internal/search/folder"
	"github.com/parley-search/parley/host/internal/search/highlight"
	"github.com/parley-search/parley/host/internal/search/vector"
)

// fill reads the documents of the hits. One that is gone since bleve saw it is
// left out, and one that a tenant's rule, asked of the document as it is now,
// does not let through.
func (s *searcher) fill(svc *Service, res *Result, rd *reading, list []found) error {
	if len(list) == 0 {
		return nil
	}
	ids := make([]string, len(list))
	for i, f := range list {
		var err error
		if ids[i], err = s.view.ID(f.doc); err != nil {
			return err
		}
	}
	m, q := rd.state.meta, s.plan.query
	docs, err := svc.opts.DB.Documents(m.Docs, ids)
	if err != nil {
		return fmt.Errorf("read hits: %w", err)
	}
	extras, err := s.extras(list)
	if err != nil {
		return err
	}
	displayed, wanted := m.Settings.Displayed(), attribute.NewSelection(q.AttributesToRetrieve)
	format, err := highlight.NewFormatter(&s.plan.query.Format, s.plan.crops, displayed, wanted, m.has, s.newMarker)
	if err != nil {
		return err
	}
	var orders [][]orderStep
	var values [][]string
	if q.federated != nil {
		if orders, err = s.orders(list); err != nil {
			return err
		}
		if values, err = s.values(q.federated.Distinct, list); err != nil {
			return err
		}
	}
	for i, d := range docs {
		if d.Seq == 0 || rd.rule != nil && !rd.rule.Matches(d.Body) {
			continue
		}
		h := Hit{ID: d.ID, Document: attribute.Project(d.Body, displayed, wanted), Score: list[i].score}
		h.Formatted, h.Matches = format.Show(d.Body)
		switch {
		case q.ShowRankingScoreDetails && list[i].byMeaning:
			h.Details = meaningDetails(&list[i])
		case q.ShowRankingScoreDetails:
			h.Details = s.details(&list[i], i, &extras)
		}
		if list[i].byMeaning && res.SemanticHits != nil {
			*res.SemanticHits++
		}
		h.Distance = extras.distance(i)
		if q.federated != nil {
			h.order, h.distinct, h.byMeaning = orders[i], values[i], list[i].byMeaning
			h.hidden = displayed != nil && !displayed.ShowsAll(q.federated.Distinct)
		}
		res.Hits = append(res.Hits, h)
	}
	if q.RetrieveVectors && (displayed == nil || displayed.ShowsAll(vector.Field)) {
		return svc.showVectors(m, res.Hits)
	}
	return nil
}

// suspect has the folder built anew that a search found damaged.
func (ix *index) suspect(f *folder.Folder, why error) {
	if ix.state.Load().folder != f {
		return // replaced already
	}
	ix.service.mu.RLock()
	defer ix.service.mu.RUnlock()
	if ix.service.ctx.Err() == nil && ix.startRepair(ix.service.ctx, f) {
		ix.service.opts.Log(fmt.Sprintf("index %q is built anew from its documents", ix.uid()), why)
	}
}
