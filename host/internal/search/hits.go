package search

import "fmt"

// fill reads the documents of the hits. One that is gone since bleve saw it is
// left out, and one that a tenant's rule, asked of the document as it is now,
// does not let through.
func (s *Service) fill(res *Result, m *meta, list []scored, rule *node, q *Query) error {
	if len(list) == 0 {
		return nil
	}
	ids := make([]string, len(list))
	for i, h := range list {
		ids[i] = h.id
	}
	docs, err := s.opts.DB.Documents(m.Docs, ids)
	if err != nil {
		return fmt.Errorf("read hits: %w", err)
	}
	displayed, wanted := m.Settings.displayed(), newSelection(q.AttributesToRetrieve)
	for i, d := range docs {
		if d.Seq == 0 || rule != nil && !rule.matches(d.Body) {
			continue
		}
		res.Hits = append(res.Hits, Hit{ID: d.ID, Document: project(d.Body, displayed, wanted), Score: list[i].score})
	}
	return nil
}

// suspect has the folder built anew that a search found damaged.
func (ix *index) suspect(f *folder, why error) {
	if ix.state.Load().folder != f {
		return // replaced already
	}
	ix.service.mu.RLock()
	defer ix.service.mu.RUnlock()
	if ix.service.ctx.Err() == nil && ix.startRepair(ix.service.ctx, f) {
		ix.service.opts.Log(fmt.Sprintf("index %q is built anew from its documents", ix.uid), why)
	}
}
