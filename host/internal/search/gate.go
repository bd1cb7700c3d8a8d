package search

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
)

// A gate lets so many searches run at once, and so many wait: beyond that one
// is refused at once rather than late. Safe for concurrent use.
type gate struct {
	slots   chan struct{}
	waiting atomic.Int64
	most    int64 // that may wait
}

// retryAfter is what a refused client is told to wait.
const retryAfter = 10 * time.Second

func newGate(running, waiting int) *gate {
	return &gate{slots: make(chan struct{}, running), most: int64(waiting)}
}

// enter waits for a slot; call leave when done. The error is an
// [searcherr.TooManySearchRequests], or ctx's.
func (g *gate) enter(ctx context.Context) (leave func(), err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	select {
	case g.slots <- struct{}{}:
		return g.leave, nil
	default:
	}
	defer g.waiting.Add(-1)
	if g.waiting.Add(1) > g.most {
		return nil, &apierr.Error{
			Code: searcherr.TooManySearchRequests, RetryAfter: retryAfter,
			Message: fmt.Sprintf("%d searches are waiting already, as many as --experimental-search-queue-size lets: try again in a while.", g.most),
		}
	}
	select {
	case g.slots <- struct{}{}:
		return g.leave, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (g *gate) leave() { <-g.slots }
