package bleveindex

import (
	"sync/atomic"

	"github.com/parley-search/parley/host/internal/base/contain"
)

// spread calls do with each number below n, once, from as many goroutines as
// there are threads, the caller's among them, and returns when all is done. A panic is
// the caller's.
func spread(threads, n int, do func(i int)) {
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			do(i)
		}
	}
	var others contain.Group
	for range min(threads, n) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
}
