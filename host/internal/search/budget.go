package search

import (
	"context"
	"time"

	"github.com/parley-search/parley/host/internal/search/filter"
	"github.com/parley-search/parley/host/internal/search/rank"
)

// A Budget is what one request may spend on all of its queries. Not safe for
// concurrent use.
type Budget struct {
	conditions filter.Budget // of its filters
	filtering  time.Duration // spent on filters
	finding    time.Duration // spent on finding and ranking hits, filters among it
	counting   time.Duration // spent on facets
	searched   bool          // a joint search was answered
}

// NewBudget returns one of which nothing is spent.
func NewBudget() *Budget { return &Budget{conditions: *filter.NewBudget()} }

// ResetTime gives the next query all the time there is. What filters have spent
// stays spent.
func (b *Budget) ResetTime() { b.filtering, b.finding, b.counting = 0, 0, 0 }

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
