package search

import (
	"container/list"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/parley-search/parley/host/internal/search/settings"
)

// A queryVectors keeps what embedders made of queries, those asked for last: a
// query that comes again asks nobody. Safe for concurrent use.
type queryVectors struct {
	mu    sync.Mutex
	max   int        // entries; 0: none is kept
	order *list.List // of *queryVector, the one used last in front
	byKey map[queryVectorKey]*list.Element
}

// A queryVectorKey is a query, put to an embedder as it is set.
type queryVectorKey struct {
	embedder [sha256.Size]byte
	query    string
}

type queryVector struct {
	key    queryVectorKey
	vector []float32 // never changed
}

// maxKeptQuery bounds the queries that are kept, in bytes.
const maxKeptQuery = 4 << 10

func newQueryVectors(entries int) *queryVectors {
	return &queryVectors{max: entries, order: list.New(), byKey: map[queryVectorKey]*list.Element{}}
}

func (c *queryVectors) get(k queryVectorKey) []float32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[k]
	if !ok {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*queryVector).vector
}

func (c *queryVectors) put(k queryVectorKey, vector []float32) {
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

// queryVectorKey is that of query. An embedder that is set otherwise is another
// one.
func (m *semantics) queryVectorKey(query string) (queryVectorKey, error) {
	b, err := json.Marshal(struct {
		Embedder   settings.Embedder
		Dimensions int
	}{m.embedder, m.Space.Dims})
	if err != nil {
		return queryVectorKey{}, fmt.Errorf("tell embedder %s from others: %w", m.name, err)
	}
	return queryVectorKey{sha256.Sum256(b), query}, nil
}
