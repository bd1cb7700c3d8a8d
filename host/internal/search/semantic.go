package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/search/embedder"
	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/search/rank"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/vector"
)

// semantics are what a search by meaning goes by.
type semantics struct {
	rank.Meaning
	name     string
	embedder settings.Embedder
	text     string // that the vector is to be made of
}

// newSemantics checks the parameters about meaning; nil: the search is by words
// alone. What has no vector yet has still to be asked for one.
func newSemantics(ctx context.Context, m *index.Meta, q *Query) (*semantics, error) {
	if q.Hybrid == nil {
		if q.Vector != nil || q.Media != nil {
			return nil, apierr.Newf(searcherr.MissingSearchHybrid, "`vector` and `media` say nothing without `hybrid`: send the embedder whose vectors are to be compared.")
		}
		return nil, nil
	}
	// As in Meilisearch, an embedder counts only where one is needed.
	ratio := q.Hybrid.Ratio()
	if !(ratio >= 0 && ratio <= 1) {
		return nil, apierr.Newf(searcherr.InvalidSearchSemanticRatio, "`hybrid.semanticRatio` is %v; it must be 0 to 1.", ratio)
	}
	if q.Vector != nil && q.Media != nil {
		return nil, apierr.Newf(searcherr.InvalidSearchMediaAndVector, "`media` and `vector` both say what to look for: send one of them.")
	}
	e, ok := m.Settings.Embedders[q.Hybrid.Embedder]
	if q.Hybrid.Embedder != "" && (ratio == 0 || q.blank()) {
		return nil, nil
	}
	if !ok {
		return nil, unknownEmbedder(searcherr.InvalidSearchEmbedder, searcherr.InvalidSearchHybrid, "hybrid.embedder", q.Hybrid.Embedder)
	}
	set := m.VectorSets[q.Hybrid.Embedder]
	dims := cmp.Or(set.Dimensions, e.VectorDimensions())
	s := &semantics{name: q.Hybrid.Embedder, embedder: e}
	s.Ratio, s.Vector, s.Spread = ratio, q.Vector, e.API().Distribution
	s.Space = vector.Key{Docs: m.Docs, Set: set.ID, Dims: dims, Binary: e.BinaryQuantized}
	if q.Vector != nil && (len(q.Vector) == 0 || dims > 0 && len(q.Vector) != dims) {
		return nil, apierr.Newf(indexerr.InvalidVectorDimensions, "`vector` has %d numbers; those of embedder `%.100s` have %d.", len(q.Vector), s.name, dims)
	}
	blank := strings.TrimSpace(q.Q) == ""
	switch {
	case q.Vector == nil && e.Source == settings.UserProvided && q.Media == nil && s.Ratio < 1:
		return nil, nil // words are better than nothing, as while an embedder is down
	case q.Vector == nil && e.Source == settings.UserProvided:
		return nil, apierr.Newf(indexerr.VectorEmbeddingError, "Embedder `%.100s` makes no vectors of its own: send that of the query in `vector`.", s.name)
	case blank:
		s.Ratio = 1
	}
	if q.Vector == nil {
		asked, name := e.ForQueries(s.name)
		var err error
		if s.text, err = asked.QueryText(ctx, name, q.Q, q.Media); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// unknownEmbedder is the error of an embedder that is not there, or has no name.
func unknownEmbedder(unknown, missing apierr.Code, field, name string) error {
	if name == "" {
		return apierr.Newf(missing, "`%s` is missing: send the name of an embedder, see the setting embedders.", field)
	}
	return apierr.Newf(unknown, "`%s` is `%.100s`, which is no embedder of this index; see the setting embedders.", field, name)
}

// queryWait is how long a search waits for an embedder.
const queryWait = 5 * time.Second

// meaning makes the query's vector. It returns nil where the search goes on by
// words alone: they are at hand, and better than nothing while an embedder is
// down.
func (s *Service) meaning(ctx context.Context, rd *reading) (_ *semantics, err error) {
	m := rd.plan.semantics
	if m == nil || m.Vector != nil {
		return m, nil
	}
	key, err := embedder.NewQueryKey(m.name, m.embedder, m.Space.Dims, m.text)
	if err != nil {
		return nil, err
	}
	if v := s.queries.Get(key); v != nil {
		return m.with(v), nil
	}
	// Who waits for another host is in nobody's way.
	rd.leave()
	defer func() {
		var again error
		if rd.leave, again = s.gate.enter(ctx); again != nil {
			rd.leave = func() {}
		}
		err = errors.Join(err, again)
	}()
	embedder, name := m.embedder.ForQueries(m.name)
	late := apierr.Newf(indexerr.VectorEmbeddingError, "Embedder `%.100s` did not answer within %v.", name, queryWait)
	waiting, cancel := context.WithTimeoutCause(ctx, queryWait, late)
	defer cancel()
	made, err := s.embedders.EmbedTexts(waiting, name, embedder, m.Space.Dims, []string{m.text}, abi.InputQuery)
	if err != nil {
		if _, ok := errors.AsType[*apierr.Error](err); !ok || m.Ratio == 1 {
			return nil, err
		}
		s.opts.Log(fmt.Sprintf("a search of index %q used words only", rd.index.UID()), err)
		return nil, nil
	}
	s.queries.Put(key, made[0])
	return m.with(made[0]), nil
}

// with is m with the query's vector.
func (m *semantics) with(vector []float32) *semantics {
	with := *m
	with.Vector, with.Space.Dims = vector, len(vector)
	return &with
}
