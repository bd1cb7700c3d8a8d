package embedder

import (
	"container/list"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/parley-search/parley/host/internal/search/settings"
)

// A QueryCache keeps what embedders made of queries, those asked for last: a
// query that comes again asks nobody. Safe for concurrent use.
type QueryCache struct {
	mu    sync.Mutex
	max   int        // entries; 0: none is kept
	order *list.List // of *queryVector, the one used last in front
	byKey map[QueryKey]*list.Element
}

// A QueryKey is a query, put to an embedder as it is set.
type QueryKey struct {
	embedder [sha256.Size]byte
	query    string
}

type queryVector struct {
	key    QueryKey
	vector []float32 // never changed
}

// maxKeptQuery bounds the queries that are kept, in bytes.
const maxKeptQuery = 4 << 10

// NewQueryCache returns a cache of so many vectors; 0: it keeps none.
func NewQueryCache(entries int) *QueryCache {
	return &QueryCache{max: entries, order: list.New(), byKey: map[QueryKey]*list.Element{}}
}

// Get returns the vector of a query, nil where it is not kept.
func (c *QueryCache) Get(k QueryKey) []float32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[k]
	if !ok {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*queryVector).vector
}

// Put keeps the vector of a query, which is not to be changed.
func (c *QueryCache) Put(k QueryKey, vector []float32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byKey[k]; ok || c.max == 0 || len(k.query) > maxKeptQuery {
		return
	}
	c.byKey[k] = c.order.PushFront(&queryVector{k, vector})
	if c.order.Len() > c.max {
		delete(c.byKey, c.order.Remove(c.order.Back()).(*queryVector).key)
	}
}

// NewQueryKey returns the key of a query that e is asked about, whose vectors have dims
// numbers (0: not known). An embedder that is set otherwise is another one.
func NewQueryKey(name string, e settings.Embedder, dims int, query string) (QueryKey, error) {
	b, err := json.Marshal(struct {
		Embedder   settings.Embedder
		Dimensions int
	}{e, dims})
	if err != nil {
		return QueryKey{}, fmt.Errorf("tell embedder %s from others: %w", name, err)
	}
	return QueryKey{sha256.Sum256(b), query}, nil
}
