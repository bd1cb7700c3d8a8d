package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/search/attribute"
	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/filter"
	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/storage"
	"github.com/parley-search/parley/host/internal/search/text"
)

// chosenDocuments returns the ids of a page of the documents of q.IDs, or of all, that
// cond (nil: all) lets through, sorted as q says and by when they came.
func (s *Service) chosenDocuments(ctx context.Context, m *index.Meta, cond *filter.Node, q DocumentsQuery, limit int) (ids []string, total int, err error) {
	rules, err := m.Settings.DocumentSort(q.Sort)
	if err != nil {
		return nil, 0, err
	}
	type found struct {
		id   string
		seq  uint64
		keys []bleveindex.SortKey
	}
	var list []found
	take := func(d storage.Document) error {
		if cond != nil && !cond.Matches(d.Body) {
			return nil
		}
		f := found{id: d.ID, seq: d.Seq}
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
			if c := a.keys[i].Compare(&b.keys[i], rules[i].Descending); c != 0 {
				return c
			}
		}
		return cmp.Compare(a.seq, b.seq)
	})
	for _, f := range list[min(q.Offset, len(list)):] {
		if len(ids) == limit {
			break
		}
		ids = append(ids, f.id)
	}
	return ids, len(list), nil
}

// eachOf calls f for those documents of the ids that are there, once each.
func (s *Service) eachOf(m *index.Meta, ids []string, f func(storage.Document) error) error {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	for part := range slices.Chunk(ids, bleveindex.BatchDocs) {
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

// documentKeys returns what a document is sorted by under each rule, as a
// column says of the same document.
func documentKeys(doc []byte, rules []settings.Criterion) []bleveindex.SortKey {
	at := map[string][][]byte{}
	rawjson.Walk("", doc, func(path string, v []byte) { at[path] = append(at[path], v) })
	keys := make([]bleveindex.SortKey, len(rules))
	for i := range rules {
		if rules[i].Kind == settings.GeoRule {
			keys[i] = placeKey(at, &rules[i])
		} else {
			keys[i] = valueKey(at[rules[i].Field], rules[i].Descending)
		}
	}
	return keys
}

func placeKey(at map[string][][]byte, r *settings.Criterion) bleveindex.SortKey {
	lat, okLat := attribute.LastCoordinate(at[attribute.GeoLat])
	lng, okLng := attribute.LastCoordinate(at[attribute.GeoLng])
	if !okLat || !okLng {
		return bleveindex.SortKey{Kind: 2}
	}
	return bleveindex.SortKey{Number: attribute.Distance(r.Lat, r.Lng, lat, lng)}
}

// valueKey is the key of the value that comes first: of several numbers the
// smallest, or the largest where they descend; without a number so of texts.
func valueKey(values [][]byte, descending bool) bleveindex.SortKey {
	k := bleveindex.SortKey{Kind: 2, Number: math.NaN()}
	for _, v := range values {
		c := bleveindex.SortKey{Kind: 2}
		if x, ok := rawjson.Number(v); ok {
			c = bleveindex.SortKey{Number: x}
		} else if value, ok := rawjson.ScalarText(v); ok {
			c = bleveindex.SortKey{Kind: 1, Text: text.FacetKey(value)}
		}
		if c.Compare(&k, descending) < 0 {
			k = c
		}
	}
	return k
}
