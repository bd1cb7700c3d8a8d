package search

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/filter"
	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/search/retrieval"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/text"
)

// maxToldValues bounds the values of an attribute that a model is told.
const maxToldValues = 10

// maxToldBytes bounds one of them: longer ones are texts, not values.
const maxToldBytes = 100

// ChatIndexes implements the searcher of package chat.
func (s *Service) ChatIndexes(ctx context.Context, caller *auth.Caller, only []string) ([]retrieval.Index, error) {
	var out []retrieval.Index
	for _, ix := range s.visible(caller) {
		if only != nil && !slices.Contains(only, ix.UID()) {
			continue
		}
		_, rule, err := s.index(caller, ix.UID())
		if err != nil {
			if apierr.Is(err, indexerr.IndexNotFound) {
				continue // deleted just now
			}
			return nil, err
		}
		m := ix.Meta()
		facets, err := s.facetsFor(ctx, ix, rule)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			// The values help the model to filter; without them it still may.
			facets = nil
			for _, a := range m.Settings.FilterPatterns() {
				facets = append(facets, retrieval.Facet{Attribute: a})
			}
		}
		out = append(out, retrieval.Index{UID: ix.UID(), Description: m.Settings.Chat.Description, Filterable: facets})
	}
	return out, nil
}

// chatQuery is a search for q as the chat settings say. filter is an expression,
// blank for none.
func chatQuery(ix *index.Index, q, filter string) (query Query, err error) {
	query = newChatQuery(&ix.Meta().Settings.Chat.Search, q)
	if on := query.AttributesToSearchOn; on != nil && !slices.Contains(on, "*") {
		// What no document has is a mistake in a client's search, and nothing to
		// trouble a conversation with.
		query.AttributesToSearchOn = slices.DeleteFunc(slices.Clone(on), func(a string) bool { return !ix.Meta().Searches(a) })
	}
	if strings.TrimSpace(filter) != "" {
		if query.Filter, err = json.Marshal(filter); err != nil {
			return query, fmt.Errorf("encode filter: %w", err)
		}
	}
	return query, nil
}

// ChatSearch implements the searcher of package chat.
func (s *Service) ChatSearch(ctx context.Context, caller *auth.Caller, indexUID, q, filter string) (retrieval.Found, error) {
	ix, _, err := s.index(caller, indexUID)
	if err != nil {
		return retrieval.Found{}, err
	}
	own := ix.Meta().Settings
	query, err := chatQuery(ix, q, filter)
	if err != nil {
		return retrieval.Found{}, err
	}
	if own.Chat.Passages(q) {
		return s.findPassages(ctx, caller, indexUID, query, chooseFitting(&own.Chat))
	}
	whole := query
	if query.Hybrid == nil { // an embedder reads the question as it was asked
		whole.Q = namesFirst(q)
	}
	res, err := s.Search(ctx, caller, indexUID, whole)
	if err != nil {
		return retrieval.Found{}, err
	}
	r := settings.NewRenderer(&own)
	hits, said := make([]retrieval.Hit, len(res.Hits)), false
	for i, h := range res.Hits {
		text, err := r.Render(ctx, h.Document)
		if err != nil {
			return retrieval.Found{}, err
		}
		said = said || strings.TrimSpace(text) != ""
		hits[i] = retrieval.Hit{ID: h.ID, Text: text, Document: h.Document, Score: h.Score}
	}
	if !said && len(hits) > 0 && strings.TrimSpace(q) != "" {
		found, err := s.findPassages(ctx, caller, indexUID, query, chooseFitting(&own.Chat))
		found.Warning = "The index's documentTemplate makes nothing of what was found: these are its passages."
		return found, err
	}
	return retrieval.Found{Hits: hits}, nil
}

// namesFirst orders the words of a question for a search of whole documents, which loses words from the end where
// no document has all: names and numbers, then others, then those that only ask. What asks nothing, and what has
// quotes or excludes words, stays as it is.
func namesFirst(q string) string {
	words := text.SplitWords(q)
	_, asking := text.AskingWords(words)
	if len(asking) == 0 || strings.ContainsAny(q, `"-`) {
		return q
	}
	var order [3][]string
	for i, w := range words {
		word := q[w.Start:w.End]
		first, _ := utf8.DecodeRuneInString(word)
		at := 1
		switch {
		case asking[w.Term]:
			at = 2
		case unicode.IsDigit(first), i > 0 && unicode.IsUpper(first):
			at = 0
		}
		order[at] = append(order[at], word)
	}
	return strings.Join(slices.Concat(order[0], order[1], order[2]), " ")
}

// facetsFor returns the filterable attributes with their most frequent values,
// counted over what rule lets through.
func (s *Service) facetsFor(ctx context.Context, ix *index.Index, rule *filter.Node) ([]retrieval.Facet, error) {
	st, release, err := ix.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := rule.Check(&st.Meta.Settings); err != nil {
		return nil, err
	}
	key := fmt.Sprint(st.Meta.Settings.FilterableAttributes, st.Meta.Settings.DisplayedAttributes) + "\x00\x00" + rule.String()
	return index.Derive(ix, st, key, func() (facets []retrieval.Facet, err error) {
		err = index.Guard(func() (err error) {
			facets, err = s.told(st, rule)
			return err
		})
		if errors.Is(err, index.ErrDamaged) {
			ix.Suspect(st.Folder, err)
		}
		return facets, err
	})
}

// told works out facetsFor. Of an attribute that is not displayed the model is
// told that it may filter by it, and no values.
func (s *Service) told(st *index.State, rule *filter.Node) (out []retrieval.Facet, err error) {
	v, err := st.Folder.View(s.columns)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, v.Close()) }()
	docs := v.Live
	if rule != nil {
		if docs, err = rule.Documents(v); err != nil {
			return nil, err
		}
		docs.And(v.Live)
	}
	list, m := docs.ToArray(), st.Meta
	for i, f := range m.Fields {
		if m.FieldCounts[i] == 0 || !m.Settings.Filterable(f) {
			continue
		}
		if rule != nil {
			has, err := v.Existing(f)
			if err != nil {
				return nil, err
			}
			if !has.Intersects(docs) {
				continue // others have it, which is not for this caller to know
			}
		}
		facet := retrieval.Facet{Attribute: f, Values: []string{}}
		if m.Settings.Facetable(f) {
			if facet.Values, err = toldValues(v, f, list); err != nil {
				return nil, err
			}
		}
		out = append(out, facet)
	}
	slices.SortFunc(out, func(a, b retrieval.Facet) int { return strings.Compare(a.Attribute, b.Attribute) })
	return out, nil
}

// toldValues returns the most frequent values of a field among docs, but for
// long ones: these are texts.
func toldValues(v *bleveindex.View, field string, docs []uint32) ([]string, error) {
	values, err := v.CountValues(field, docs, nil)
	if err != nil {
		return nil, err
	}
	values = slices.DeleteFunc(values, func(c bleveindex.Count) bool { return len(c.Shown) > maxToldBytes })
	out := []string{}
	values = firstOf(values, maxToldValues, func(a, b *bleveindex.Count) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Key, b.Key))
	})
	for _, f := range shownValues(values, maxToldValues) {
		if !slices.Contains(out, f.Value) { // a number and a text may be written alike
			out = append(out, f.Value)
		}
	}
	return out, nil
}

// newChatQuery is a search of the chat for q.
func newChatQuery(p *settings.ChatSearchParameters, q string) Query {
	out := Query{Q: q, Limit: p.Limit, MatchingStrategy: p.MatchingStrategy, Sort: p.Sort, Distinct: p.Distinct, AttributesToSearchOn: p.AttributesToSearchOn, Hybrid: p.Hybrid}
	if p.RankingScoreThreshold != nil {
		out.RankingScoreThreshold = *p.RankingScoreThreshold
	}
	return out
}
