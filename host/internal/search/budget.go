package search

import (
	"context"
	"time"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/search/filter"
	"github.com/parley-search/parley/host/internal/search/rank"
)

// A Budget is what one request may spend on all of its queries. Not safe for
// concurrent use.
type Budget struct {
	conditions filter.Budget // of its filters
	filtering  time.Duration // spent on filters
	finding    time.Duration // spent on finding, ranking and showing hits, filters and facets among it
	counting   time.Duration // spent on facets
	searched   bool          // a joint search was answered
	before     time.Duration // spent on the queries before, see NextQuery
}

// NewBudget returns one of which nothing is spent.
func NewBudget() *Budget { return &Budget{conditions: *filter.NewBudget()} }

// NextQuery gives the next query the time of a search by itself, as far as the request has any left.
// What filters have spent of their conditions stays spent.
func (b *Budget) NextQuery() {
	b.before += b.finding
	b.filtering, b.finding, b.counting = 0, 0, 0
}

// requestTime is how much more time all queries of a request have than one that is alone.
const requestTime = 10

// checkTime refuses a query for which the ones before it, each with the time one, have left no time.
func (b *Budget) checkTime(one time.Duration) error {
	if b.before < requestTime*one {
		return nil
	}
	return apierr.Newf(apierr.BadRequest, "The queries before it took %v, and all of a request have %v: send fewer at once.", b.before.Round(time.Millisecond), requestTime*one)
}

// ofFilters is what the request may spend on conditions; nil for a nil b.
func (b *Budget) ofFilters() *filter.Budget {
	if b == nil {
		return nil
	}
	return &b.conditions
}

// withTime returns a context that ends with errCutoff once most of spent is used
// up. End it with the function, which adds to spent.
func withTime(ctx context.Context, most time.Duration, spent *time.Duration) (context.Context, func()) {
	start := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, most-*spent, rank.ErrCutoff)
	return ctx, func() {
		cancel()
		*spent += time.Since(start)
	}
}
