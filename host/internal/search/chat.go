package search

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/auth"
	"github.com/parley-search/parley/host/internal/chat"
)

// maxFacetValues bounds the values of an attribute that a model is told.
const maxFacetValues = 10

// maxFacetValueBytes bounds one of them: longer ones are texts, not values.
const maxFacetValueBytes = 100

// ChatIndexes implements [chat.Searcher].
func (s *Service) ChatIndexes(ctx context.Context, caller *auth.Caller, only []string) ([]chat.Index, error) {
	var out []chat.Index
	for _, ix := range s.visible(caller) {
		if only != nil && !slices.Contains(only, ix.uid) {
			continue
		}
		_, rule, err := s.index(caller, ix.uid)
		if err != nil {
			if apierr.Is(err, apierr.IndexNotFound) {
				continue // deleted just now
			}
			return nil, err
		}
		m := ix.meta()
		facets, err := ix.facetsFor(ctx, rule)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			// The values help the model to filter; without them it still may.
			facets = nil
			for _, a := range m.Settings.filterPatterns() {
				facets = append(facets, chat.Facet{Attribute: a})
			}
		}
		out = append(out, chat.Index{UID: ix.uid, Description: m.Settings.Chat.Description, Filterable: facets})
	}
	return out, nil
}

// ChatSearch implements [chat.Searcher].
func (s *Service) ChatSearch(ctx context.Context, caller *auth.Caller, indexUID, q, filter string) ([]chat.Hit, error) {
	ix, _, err := s.index(caller, indexUID)
	if err != nil {
		return nil, err
	}
	settings := ix.meta().Settings
	p := settings.Chat.Search
	query := Query{Q: q, Limit: p.Limit, MatchingStrategy: p.MatchingStrategy}
	if p.RankingScoreThreshold != nil {
		query.RankingScoreThreshold = *p.RankingScoreThreshold
	}
	if strings.TrimSpace(filter) != "" {
		if query.Filter, err = json.Marshal(filter); err != nil {
			return nil, fmt.Errorf("encode filter: %w", err)
		}
	}
	res, err := s.Search(ctx, caller, indexUID, query)
	if err != nil {
		return nil, err
	}
	r, err := newRenderer(&settings)
	if err != nil {
		return nil, fmt.Errorf("read the chat template of index %q: %w", indexUID, err)
	}
	hits := make([]chat.Hit, len(res.Hits))
	for i, h := range res.Hits {
		hits[i] = chat.Hit{ID: h.ID, Text: r.render(h.Document), Document: h.Document}
	}
	return hits, nil
}

// A facetCache keeps the facets of one state of the folder by the rule that
// they were worked out under: chats ask for the same ones again and again.
type facetCache struct {
	mu     sync.Mutex
	folder *folder
	next   uint32
	byRule map[string][]chat.Facet
}

// maxCachedRules bounds a facetCache.
const maxCachedRules = 64

// facetsFor returns the filterable attributes with their most frequent values,
// counted over what rule lets through.
func (ix *index) facetsFor(ctx context.Context, rule *node) ([]chat.Facet, error) {
	st, release, err := ix.serving(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := st.meta.Settings.allowFilter(rule); err != nil {
		return nil, err
	}
	key := fmt.Sprint(st.meta.Settings.FilterableAttributes) + "\x00\x00" + rule.String()
	c := &ix.facets
	c.mu.Lock()
	if c.folder != st.folder || c.next != st.meta.Next || len(c.byRule) >= maxCachedRules {
		c.folder, c.next, c.byRule = st.folder, st.meta.Next, map[string][]chat.Facet{}
	}
	facets, ok := c.byRule[key]
	c.mu.Unlock()
	if ok {
		return facets, nil
	}
	sr := &searcher{ctx: ctx}
	if facets, err = sr.facets(st, rule); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// Only where nothing changed meanwhile: the record is ahead of the folder
	// while a task is being applied.
	if c.folder == st.folder && c.next == st.meta.Next && ix.state.Load() == st && st.folder.next.Load() == st.meta.Next {
		c.byRule[key] = facets
	}
	return facets, nil
}

// facets works out facetsFor.
func (s *searcher) facets(st *state, rule *node) (out []chat.Facet, err error) {
	if s.view, err = st.folder.view(); err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, s.view.close()) }()
	universe := s.view.live
	if rule != nil {
		if universe, err = rule.documents(s.view); err != nil {
			return nil, err
		}
		universe.And(s.view.live)
	}
	for _, f := range st.facetFields() {
		values, err := s.facetValues(f, universe)
		if err != nil {
			return nil, err
		}
		out = append(out, chat.Facet{Attribute: f, Values: values})
	}
	return out, nil
}

// facetFields are the paths that can be filtered by and have values.
func (st *state) facetFields() []string {
	var out []string
	for i, f := range st.meta.Fields {
		if st.meta.FieldCounts[i] > 0 && st.meta.Settings.filterable(f) {
			out = append(out, f)
		}
	}
	slices.Sort(out)
	return out
}

// facetValues returns the most frequent values of a field among the documents.
func (s *searcher) facetValues(field string, docs *roaring.Bitmap) ([]string, error) {
	type value struct {
		count, best uint64 // best: of the way of writing that is shown
		shown       string
	}
	byKey := map[string]*value{}
	parts := make(map[*viewSegment]*roaring.Bitmap, len(s.view.segs))
	for i := range s.view.segs {
		parts[&s.view.segs[i]] = s.view.segs[i].part(docs)
	}
	n := 0
	err := s.view.eachTerm(fieldText+field, nil, nil, func(seg *viewSegment, term string, posting func() (*roaring.Bitmap, error)) error {
		if err := s.check(n); err != nil {
			return err
		}
		n++
		key, shown, _ := strings.Cut(term, "\x00")
		if key == "" || len(shown) > maxFacetValueBytes {
			return nil
		}
		b, err := posting()
		if err != nil {
			return err
		}
		count := b.AndCardinality(parts[seg])
		if count == 0 {
			return nil
		}
		v := byKey[key]
		if v == nil {
			v = &value{}
			byKey[key] = v
		}
		v.count += count
		if count > v.best {
			v.best, v.shown = count, shown
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	list := slices.SortedFunc(maps.Values(byKey), func(a, b *value) int {
		return cmp.Or(cmp.Compare(b.count, a.count), strings.Compare(a.shown, b.shown))
	})
	out := []string{}
	for _, v := range list[:min(len(list), maxFacetValues)] {
		out = append(out, v.shown)
	}
	return out, nil
}

// String writes n so that two filters that differ give different texts.
func (n *node) String() string {
	if n == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "(%d %q %q %q %v", n.kind, n.attr, n.op, n.values, n.nums)
	for _, k := range n.kids {
		b.WriteString(k.String())
	}
	b.WriteByte(')')
	return b.String()
}
