package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/base/memory"
	"github.com/parley-search/parley/host/internal/search/attribute"
	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/passage"
	"github.com/parley-search/parley/host/internal/search/rank"
	"github.com/parley-search/parley/host/internal/search/retrieval"
	"github.com/parley-search/parley/host/internal/search/vector"
)

// maxCandidates is how many documents a chat's search looks into for passages.
const maxCandidates = 250

// findPassages answers a search of the chat with the passages of documents that answer q. query holds
// what the index's chat settings say of a search. choose says which of them are shown.
func (s *Service) findPassages(ctx context.Context, caller *auth.Caller, uid string, query Query, choose chooser) (found retrieval.Found, err error) {
	chosen := query.MatchingStrategy != "" || query.RankingScoreThreshold > 0
	query.Limit = new(maxCandidates)
	err = s.reading(ctx, caller, uid, &query, func(rd *reading) (err error) {
		meaning, err := s.meaning(ctx, rd)
		if err != nil {
			return err
		}
		v, err := rd.state.Folder.View(s.columns)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, v.Close()) }()
		cut, end := withTime(ctx, rd.cutoff(), &rd.budget.finding)
		defer end()
		sr := s.searcher(ctx, cut, rd.plan, v)
		if err := sr.restrict(rd); err != nil {
			return err
		}
		question, candidates, err := sr.readQuestion(query.Q)
		if err != nil {
			return err
		}
		switch {
		case chosen:
			// The query says which documents match: these are looked into, and no others.
			if candidates, err = s.matchingDocuments(ctx, rd, v); err != nil {
				return err
			}
		case meaning != nil:
			if candidates, err = sr.addNearest(s.spaces, meaning, candidates); err != nil {
				return err
			}
		}
		found, err = s.showPassages(rd, sr, question, candidates, meaning, choose)
		return err
	})
	return found, err
}

// Bounds of what [Service.Passages] is asked for, in bytes.
const (
	minPassages = 500
	maxPassages = 64_000
)

// Passages returns the passages of documents that answer q.Q, as a search of the chat does: best first,
// of at most maxBytes in all; 0: as the index's chat settings say. Of q count what says which documents
// may be found and by which words. A blank q.Q has none.
func (s *Service) Passages(ctx context.Context, caller *auth.Caller, uid string, q Query, maxBytes int) (retrieval.Found, error) {
	if maxBytes != 0 && (maxBytes < minPassages || maxBytes > maxPassages) {
		return retrieval.Found{}, apierr.Newf(searcherr.InvalidSearchPassages, "passages.maxBytes is %d; it must be %d to %d.", maxBytes, minPassages, maxPassages)
	}
	ix, _, err := s.index(caller, uid)
	if err != nil {
		return retrieval.Found{}, err
	}
	own := ix.Meta().Settings.Chat
	own.Search.Limit = nil // of the chat
	if maxBytes != 0 {
		own.ResultBytes = maxBytes
	}
	return s.findPassages(ctx, caller, uid, Query{
		Q: q.Q, Filter: q.Filter, Distinct: q.Distinct, MatchingStrategy: q.MatchingStrategy, RankingScoreThreshold: q.RankingScoreThreshold,
		AttributesToSearchOn: q.AttributesToSearchOn, Locales: q.Locales, Vector: q.Vector, Media: q.Media, Hybrid: q.Hybrid,
	}, chooseFitting(&own))
}

// A candidate is a document that may have the answer.
type candidate struct {
	doc   uint32
	score float32 // what it has of the question's words
	near  float64 // in meaning, 0 to 1; at least a little where it was found so
}

// matchingDocuments are the hits of the search that rd is for.
func (s *Service) matchingDocuments(ctx context.Context, rd *reading, v *bleveindex.View) ([]candidate, error) {
	var list []candidate
	rd.plan.query.Show = func(h *Hit) error {
		n, err := v.Number(h.ID)
		if n != nil {
			list = append(list, candidate{doc: *n, score: float32(h.Score)})
		}
		return err
	}
	_, _, err := s.answerOn(ctx, rd, v)
	return list, err
}

// addNearest adds to candidates what is near the question in meaning.
func (s *searcher) addNearest(sp *vector.Memory, m *semantics, candidates []candidate) ([]candidate, error) {
	near, _, err := s.Near(sp, &m.Meaning)
	if err != nil {
		return nil, err
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, f := range near {
		low, high = min(low, f.Score), max(high, f.Score)
	}
	at := make(map[uint32]int, len(candidates))
	for i, c := range candidates {
		at[c.doc] = i
	}
	for _, f := range near {
		near := 1.0
		if high > low {
			near = max((f.Score-low)/(high-low), 0.01)
		}
		if i, ok := at[f.Doc]; ok {
			candidates[i].near = near
		} else {
			candidates = append(candidates, candidate{doc: f.Doc, near: near})
		}
	}
	return candidates, nil
}

// showPassages reads the candidates and returns the passages of them that choose chooses.
func (s *Service) showPassages(rd *reading, sr *searcher, q *passage.Question, candidates []candidate, meaning *semantics, choose chooser) (retrieval.Found, error) {
	m := rd.state.Meta
	ids := make([]string, len(candidates))
	for i, c := range candidates {
		var err error
		if ids[i], err = sr.View.ID(c.doc); err != nil {
			return retrieval.Found{}, err
		}
	}
	stored, give, err := s.readHeld(m, memory.Of(sr.Ctx), ids)
	defer give()
	if err != nil {
		return retrieval.Found{}, err
	}
	size := m.Settings.Chat.PassageLimit()
	displayed := m.Settings.Displayed()
	distinct := rank.DistinctSeen{Attribute: rd.plan.Distinct, Values: map[string]struct{}{}}
	reader := documentReader{&m.Settings, m.PrimaryKey, rd.plan.query.AttributesToSearchOn, size}
	var docs []passage.Document
	var shown []retrieval.Hit
	for _, i := range orderCandidates(candidates, stored) {
		d := stored[i]
		if d.Seq == 0 || rd.rule != nil && !rd.rule.Matches(d.Body) {
			continue
		}
		if distinct.Attribute != "" {
			fresh, err := distinct.Take(sr.View, candidates[i].doc)
			if err != nil {
				return retrieval.Found{}, err
			}
			if !fresh {
				continue
			}
		}
		body := attribute.Project(d.Body, displayed)
		doc := reader.read(d.ID, body)
		doc.Near = candidates[i].near
		doc.Found = float64(candidates[i].score)
		docs = append(docs, doc)
		shown = append(shown, retrieval.Hit{ID: d.ID, Document: body})
	}
	ratio := 0.0
	if meaning != nil {
		ratio = meaning.Ratio
	}
	ranked := passage.Rank(docs, q, size, ratio)
	fit := choose(ranked, docs, q)
	found := retrieval.Found{Coverage: new(passage.Coverage(fit)), Words: tellWords(q), NoRoom: len(ranked) - len(fit)}
	for i := range fit {
		p := &fit[i]
		h := shown[p.Doc]
		h.Title, h.URL, h.Text, h.Score = p.Title(&docs[p.Doc]), p.URL(&docs[p.Doc]), p.Text, p.Cover
		if len(p.Also) > 0 {
			h.Text += "\n" + alsoIn(p.Also, docs)
		}
		found.Hits = append(found.Hits, h)
	}
	return found, nil
}

// tellWords says what each word of a question is worth, the worthiest first.
func tellWords(q *passage.Question) (words []retrieval.Word) {
	whole := 0.0
	for i := range q.Terms {
		whole += q.Terms[i].Worth
	}
	for i := range q.Terms {
		t := &q.Terms[i]
		words = append(words, retrieval.Word{Word: t.Word, Worth: t.Worth / max(whole, math.SmallestNonzeroFloat64), Documents: t.Docs, FoundAs: slices.Sorted(maps.Keys(t.Forms))})
	}
	slices.SortStableFunc(words, func(x, y retrieval.Word) int { return cmp.Compare(y.Worth, x.Worth) })
	return words
}

// maxAlso bounds the places that are named where a passage is in several.
const maxAlso = 3

// alsoIn says where else a passage is.
func alsoIn(list []int, docs []passage.Document) string {
	names := make([]string, min(len(list), maxAlso))
	for i := range names {
		d := &docs[list[i]]
		names[i] = cmp.Or(d.Path, d.Title, d.ID)
	}
	more := ""
	if n := len(list) - len(names); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return "(The same is in " + strings.Join(names, ", ") + more + ".)"
}
