package bleveindex

import (
	"container/list"
	"slices"
	"sync"
)

// A ColumnCache keeps what was made of the segments of all folders: columns, and
// what their dictionaries have for words of queries. Safe for concurrent use.
type ColumnCache struct {
	columns *recent
	words   *recent
}

// ColumnBytes bounds what a service keeps of columns, and wordBytes of words.
const (
	ColumnBytes = 256 << 20
	wordBytes   = 32 << 20
)

// NewColumnCache returns a cache that keeps limit bytes of columns.
func NewColumnCache(limit int) *ColumnCache {
	return &ColumnCache{columns: newRecent(limit), words: newRecent(wordBytes)}
}

// Forget drops what is kept of a folder.
func (c *ColumnCache) Forget(folder string) {
	c.columns.retain(folder, nil)
	c.words.retain(folder, nil)
}

// A recent keeps what was used last of things made of segments, up to a number of
// bytes. Safe for concurrent use.
type recent struct {
	mu        sync.Mutex
	max       int // bytes
	bytes     int
	order     *list.List // of *made, the one used last in front
	bySegment map[segmentKey]map[string]*list.Element
}

// A segmentKey names a segment: folders have names of their own, and segments of
// a folder never a number twice.
type segmentKey struct {
	folder  string
	segment uint64
}

// A made thing is one that was made of a segment, and its name among those.
type made struct {
	of    segmentKey
	name  string
	value any
	bytes int
}

func newRecent(limit int) *recent {
	return &recent{max: limit, order: list.New(), bySegment: map[segmentKey]map[string]*list.Element{}}
}

func (r *recent) get(of segmentKey, name string) (any, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.bySegment[of][name]
	if !ok {
		return nil, false
	}
	r.order.MoveToFront(e)
	return e.Value.(*made).value, true
}

// put adds a thing, and forgets those that were not used for longest. Of a segment
// that is new here, it forgets those of the folder's segments that are not among
// live.
func (r *recent) put(m *made, live []uint64) {
	if m.bytes > r.max {
		return
	}
	r.mu.Lock()
	_, known := r.bySegment[m.of]
	if !known {
		r.bySegment[m.of] = map[string]*list.Element{}
	}
	if _, ok := r.bySegment[m.of][m.name]; !ok {
		r.bySegment[m.of][m.name] = r.order.PushFront(m)
		r.bytes += m.bytes
	}
	for r.bytes > r.max {
		r.remove(r.order.Back())
	}
	r.mu.Unlock()
	if !known {
		r.retain(m.of.folder, live)
	}
}

// retain forgets what is kept of a folder but for the live ones of its segments.
func (r *recent) retain(folder string, live []uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for of, things := range r.bySegment {
		if of.folder == folder && !slices.Contains(live, of.segment) {
			for _, e := range things {
				r.remove(e)
			}
		}
	}
}

func (r *recent) remove(e *list.Element) {
	m := r.order.Remove(e).(*made)
	things := r.bySegment[m.of]
	if delete(things, m.name); len(things) == 0 {
		delete(r.bySegment, m.of)
	}
	r.bytes -= m.bytes
}

// Keep returns what build made of the segment's words under a name, this time or
// before. It is kept as long as the bytes that build says it takes are to spare, so
// it must not lie in mapped files, and be only for reading.
func (v *View) Keep(seg *Segment, name string, build func() (any, int, error)) (any, error) {
	return v.keptIn(v.columns.words, seg, name, build)
}

// keptIn returns what r has of the segment by a name; where it has nothing, build
// makes it, and says how many bytes it takes.
func (v *View) keptIn(r *recent, seg *Segment, name string, build func() (any, int, error)) (any, error) {
	of := v.segmentKey(seg)
	if x, ok := r.get(of, name); ok {
		return x, nil
	}
	x, bytes, err := build()
	if err != nil {
		return nil, err
	}
	live := make([]uint64, len(v.Segs))
	for i := range v.Segs {
		live[i] = v.Segs[i].snap.Id()
	}
	r.put(&made{of, name, x, bytes}, live)
	return x, nil
}

func (v *View) segmentKey(seg *Segment) segmentKey { return segmentKey{v.folder, seg.snap.Id()} }
