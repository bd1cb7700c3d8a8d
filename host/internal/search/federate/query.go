package federate

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/index"
)

// maxQueries bounds the queries of one multi-search.
const maxQueries = 1000

// CheckCount refuses a multi-search of more queries than are taken at once.
func CheckCount(queries int) error {
	if queries > maxQueries {
		return apierr.Newf(apierr.BadRequest, "`queries` has %d queries; at most %d are taken at once.", queries, maxQueries)
	}
	return nil
}

// A Query is one query of a multi-search.
type Query struct {
	IndexUID string
	search.Query
	// Raw is the query as it was sent, an object, for one that goes to a remote.
	Raw json.RawMessage
	// Performance: the query says whether the parts of its search are shown, which only
	// the federation may say.
	Performance bool
	// Options say how the query takes part in a federation; nil: as the zero
	// value does. Without a federation there must be none.
	Options *QueryOptions
}

// MultiSearch answers queries one by one, each under what caller may do in its
// index: each is called before query i is, and what it returns with what the query found. The
// first that fails is the answer: its error names its position. All of them have one time, see
// [search.Budget].
func (s *Service) MultiSearch(ctx context.Context, caller *auth.Caller, queries []Query, each func(i int) (found func(*search.Result) error)) error {
	if err := checkQueries(queries); err != nil {
		return err
	}
	for i := range queries {
		if queries[i].Options != nil {
			return apierr.Newf(searcherr.InvalidMultiSearchOptions, "`queries[%d].federationOptions` is for a federated search: add `federation` to the body, or leave the options out.", i)
		}
	}
	b := search.NewBudget()
	for i := range queries {
		q := &queries[i]
		b.NextQuery()
		q.Budget = b
		found := each(i)
		res, err := s.opts.Indexes.Search(ctx, caller, q.IndexUID, q.Query)
		if err != nil {
			return inQuery(i, err)
		}
		if err := found(res); err != nil {
			return err
		}
	}
	return nil
}

// checkQueries checks what holds for queries with and without a federation.
func checkQueries(queries []Query) error {
	if err := CheckCount(len(queries)); err != nil {
		return err
	}
	for i := range queries {
		if queries[i].IndexUID == "" {
			return apierr.Newf(indexerr.MissingIndexUID, "`queries[%d].indexUid` is missing: send the name of the index to search.", i)
		}
		if err := index.CheckUID(queries[i].IndexUID); err != nil {
			return inQuery(i, err)
		}
	}
	return nil
}

// inQuery has an error that a client sees name the query that it is about.
func inQuery(i int, err error) error {
	e := apierr.From(err)
	if e.Code == apierr.Internal {
		return err
	}
	c := *e
	c.Message = fmt.Sprintf("`queries[%d]`: %s", i, e.Message)
	return &c
}
