package chattest

import (
	"context"
	"slices"
	"strings"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/chat"
)

// A Searcher searches texts for a word: index uid → its documents. The filter
// "bad" is refused, the query "crash" fails,
// "panic" panics, "hang" waits for the context's end.
type Searcher struct {
	Indexes   []chat.Index
	Documents map[string][]chat.Hit
	// Began, where not nil, is called with each search's q as it begins.
	Began func(ctx context.Context, q string)
}

// ChatIndexes implements [chat.Searcher].
func (s *Searcher) ChatIndexes(_ context.Context, caller *auth.Caller, only []string) ([]chat.Index, error) {
	var found []chat.Index
	for _, x := range s.Indexes {
		if _, ok := caller.Index(x.UID); ok && (only == nil || slices.Contains(only, x.UID)) {
			found = append(found, x)
		}
	}
	return found, nil
}

// ChatSearch implements [chat.Searcher].
func (s *Searcher) ChatSearch(ctx context.Context, _ *auth.Caller, uid, q, filter string) (chat.Found, error) {
	if s.Began != nil {
		s.Began(ctx, q)
	}
	switch {
	case filter == "bad":
		return chat.Found{}, apierr.Newf(searcherr.InvalidSearchFilter, "The filter has an error at column 1.")
	case q == "crash":
		return chat.Found{}, context.DeadlineExceeded
	case q == "panic":
		panic("a fault of the search")
	case q == "hang":
		<-ctx.Done()
		return chat.Found{}, ctx.Err()
	}
	var hits []chat.Hit
	for _, h := range s.Documents[uid] {
		if strings.Contains(h.Text, q) {
			hits = append(hits, h)
		}
	}
	return chat.Found{Hits: hits}, nil
}
