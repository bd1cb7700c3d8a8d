package folder

import (
	"container/list"
	"fmt"
	"slices"
	"sync"
)

// A ColumnCache keeps columns of all indexes, those used last. Safe for
// concurrent use.
type ColumnCache struct {
	mu    sync.Mutex
	max   int // bytes
	bytes int
	order *list.List // of *cachedColumn, the one used last in front
	byKey map[columnKey]*list.Element
}

// A columnKey names a field of a segment: folders have names of their own, and
// segments of a folder never a number twice.
type columnKey struct {
	folder  string
	segment uint64
	field   string
}

type cachedColumn struct {
	key    columnKey
	column any
	bytes  int
}

// ColumnBytes bounds what a service keeps of columns.
const ColumnBytes = 256 << 20

func NewColumnCache(limit int) *ColumnCache {
	return &ColumnCache{max: limit, order: list.New(), byKey: map[columnKey]*list.Element{}}
}

func (c *ColumnCache) get(k columnKey) (any, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[k]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*cachedColumn).column, true
}

// put adds a column, and forgets those of the folder's segments that are not
// among live, and then the ones not used for longest.
func (c *ColumnCache) put(k columnKey, col any, bytes int, live []uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byKey[k]; ok || bytes > c.max {
		return
	}
	for old := range c.byKey {
		if old.folder == k.folder && !slices.Contains(live, old.segment) {
			c.remove(c.byKey[old])
		}
	}
	c.byKey[k] = c.order.PushFront(&cachedColumn{k, col, bytes})
	c.bytes += bytes
	for c.bytes > c.max {
		c.remove(c.order.Back())
	}
}

// Forget drops what is kept of a folder.
func (c *ColumnCache) Forget(folder string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, e := range c.byKey {
		if k.folder == folder {
			c.remove(e)
		}
	}
}

func (c *ColumnCache) remove(e *list.Element) {
	col := c.order.Remove(e).(*cachedColumn)
	delete(c.byKey, col.key)
	c.bytes -= col.bytes
}

// cached returns a column of the segment, made by build, which also says how
// many bytes it takes.
func (v *View) cached(seg *Segment, field string, build func() (any, int, error)) (any, error) {
	k := v.columnKey(seg, field)
	if c, ok := v.columns.get(k); ok {
		return c, nil
	}
	c, bytes, err := build()
	if err != nil {
		return nil, fmt.Errorf("make column %s: %w", field, err)
	}
	live := make([]uint64, len(v.Segs))
	for i := range v.Segs {
		live[i] = v.Segs[i].snap.Id()
	}
	v.columns.put(k, c, bytes, live)
	return c, nil
}

func (v *View) columnKey(seg *Segment, field string) columnKey {
	return columnKey{v.folder, seg.snap.Id(), field}
}
