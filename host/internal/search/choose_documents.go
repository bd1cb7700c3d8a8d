package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/parley-search/parley/host/internal/apierr"
)

// chosenDocuments returns a page of the documents of q.IDs, or of all, that
// cond (nil: all) lets through, sorted as q says and by id.
func (s *Service) chosenDocuments(ctx context.Context, m *meta, cond *node, q DocumentsQuery, limit int) (docs []Document, total int, err error) {
	rules, err := m.Settings.documentSort(q.Sort)
	if err != nil {
		return nil, 0, err
	}
	type found struct {
		id   string
		keys []sortKey
	}
	var list []found
	take := func(d Document) error {
		if cond != nil && !cond.matches(d.Body) {
			return nil
		}
		f := found{id: d.ID}
		if len(rules) > 0 {
			f.keys = documentKeys(d.Body, rules)
		}
		list = append(list, f)
		return nil
	}
	if q.IDs != nil {
		err = s.eachOf(m, q.IDs, take)
	} else {
		err = s.opts.DB.Scan(ctx, m.Docs, take)
	}
	if err != nil {
		return nil, 0, err
	}
	slices.SortFunc(list, func(a, b found) int {
		for i := range rules {
			if c := a.keys[i].compare(&b.keys[i], rules[i].descending); c != 0 {
				return c
			}
		}
		return cmp.Compare(a.id, b.id)
	})
	var ids []string
	for _, f := range list[min(q.Offset, len(list)):] {
		if len(ids) == limit {
			break
		}
		ids = append(ids, f.id)
	}
	read, err := s.opts.DB.Documents(m.Docs, ids)
	if err != nil {
		return nil, 0, fmt.Errorf("read documents: %w", err)
	}
	for _, d := range read {
		if d.Seq != 0 && (cond == nil || cond.matches(d.Body)) { // else it went, or changed, just now
			docs = append(docs, d)
		}
	}
	return docs, len(list), nil
}

// eachOf calls f for those documents of the ids that are there, once each.
func (s *Service) eachOf(m *meta, ids []string, f func(Document) error) error {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	for part := range slices.Chunk(ids, batchDocs) {
		docs, err := s.opts.DB.Documents(m.Docs, part)
		if err != nil {
			return fmt.Errorf("read documents: %w", err)
		}
		for _, d := range docs {
			if d.Seq == 0 {
				continue
			}
			if err := f(d); err != nil {
				return err
			}
		}
	}
	return nil
}

// documentSort reads the criteria that a listing is sorted by. Those of a
// search need the ranking rule sort; a listing has no other rules.
func (s *Settings) documentSort(criteria []string) ([]rule, error) {
	if len(criteria) > maxCriteria {
		return nil, apierr.Newf(apierr.InvalidDocumentSort, "sort has %d criteria; it may have at most %d.", len(criteria), maxCriteria)
	}
	var rules []rule
	for i, c := range criteria {
		r, err := parseCriterion(c)
		if err == nil {
			err = s.allowSort(&r)
		}
		if err != nil {
			return nil, apierr.Newf(apierr.InvalidDocumentSort, "sort[%d] is `%.100s`: %s.", i, c, err)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// documentKeys returns what a document is sorted by under each rule, as a
// column says of the same document.
func documentKeys(doc []byte, rules []rule) []sortKey {
	at := map[string][][]byte{}
	walk("", doc, func(path string, v []byte) { at[path] = append(at[path], v) })
	keys := make([]sortKey, len(rules))
	for i := range rules {
		if rules[i].kind == geoRule {
			keys[i] = placeKey(at, &rules[i])
		} else {
			keys[i] = valueKey(at[rules[i].field], rules[i].descending)
		}
	}
	return keys
}

func placeKey(at map[string][][]byte, r *rule) sortKey {
	lat, okLat := lastPart(at[geoLat])
	lng, okLng := lastPart(at[geoLng])
	if !okLat || !okLng {
		return sortKey{kind: 2}
	}
	return sortKey{number: distance(r.lat, r.lng, lat, lng)}
}

// valueKey is the key of the value that comes first: of several numbers the
// smallest, or the largest where they descend; without a number so of texts.
func valueKey(values [][]byte, descending bool) sortKey {
	k := sortKey{kind: 2, number: math.NaN()}
	for _, v := range values {
		c := sortKey{kind: 2}
		if x, ok := number(v); ok {
			c = sortKey{number: x}
		} else if text, ok := scalarText(v); ok {
			c = sortKey{kind: 1, text: facetKey(text)}
		}
		if c.compare(&k, descending) < 0 {
			k = c
		}
	}
	return k
}
