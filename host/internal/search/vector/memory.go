package vector

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parley-search/parley/host/internal/search/storage"
)

// A Key names vectors in memory.
type Key struct {
	Docs   string
	Set    uint32
	Dims   int
	Binary bool
}

// String tells a key from others.
func (k Key) String() string { return fmt.Sprintf("%s/%d/%d/%v", k.Docs, k.Set, k.Dims, k.Binary) }

// Memory keeps in memory the vectors that were searched last, within a bound.
// What is beyond it is read from the database at each search. Safe for
// concurrent use.
type Memory struct {
	db  storage.DB
	Max int64 // bytes

	mu   sync.Mutex
	open map[Key]*openSpace
}

// An openSpace is one space, or on its way to be one. It is there before its
// vectors are read, so that what is written meanwhile is not missed.
type openSpace struct {
	used time.Time // under spaces.mu

	mu     sync.Mutex // while it is read, and while it is changed
	loaded bool
	space  *Space // nil: it is too large
}

// errTooLarge ends the reading of a space that is over the bound.
var errTooLarge = errors.New("the vectors are more than the memory for them")

func NewMemory(db storage.DB, limit int64) *Memory {
	return &Memory{db: db, Max: limit, open: map[Key]*openSpace{}}
}

// get returns a space with all vectors of the key, or nil where they are more
// than fits.
func (s *Memory) get(ctx context.Context, k Key) (*Space, error) {
	s.mu.Lock()
	o := s.open[k]
	if o == nil {
		o = &openSpace{}
		s.open[k] = o
	}
	o.used = time.Now()
	s.mu.Unlock()

	o.mu.Lock()
	if o.loaded {
		defer o.mu.Unlock()
		return o.space, nil
	}
	space := New(k.Dims, k.Binary)
	n := 0
	err := s.eachVectors(ctx, k, func(id string, v *Document) error {
		space.Put(id, v.Seq, v.Vectors)
		if n++; n%1024 == 0 && space.Bytes() > s.Max {
			return errTooLarge
		}
		return nil
	})
	if space.Bytes() > s.Max {
		err = errTooLarge
	}
	switch {
	case errors.Is(err, errTooLarge):
		space = nil
	case err != nil:
		o.mu.Unlock()
		return nil, err
	}
	o.loaded, o.space = true, space
	o.mu.Unlock()
	s.shrink(o)
	return space, nil
}

// eachVectors calls f for the vectors of a key as the database has them, as far
// as they are of its dimensions.
func (s *Memory) eachVectors(ctx context.Context, k Key, f func(id string, v *Document) error) error {
	return s.db.ScanVectors(ctx, k.Docs, k.Set, func(id string, b []byte) error {
		v, err := Decode(b)
		if err != nil {
			return fmt.Errorf("read vectors of document %q: %w", id, err)
		}
		if CheckDimensions("", v.Vectors, k.Dims) != nil {
			return nil
		}
		return f(id, v)
	})
}

// Nearest returns the k documents nearest to query, of those whose numbers are
// in allowed (nil: all).
func (s *Memory) Nearest(ctx context.Context, key Key, query []float32, k int, allowed *Set) ([]Neighbour, error) {
	stop := func() error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return nil
	}
	space, err := s.get(ctx, key)
	if err != nil {
		return nil, err
	}
	if space == nil {
		return s.nearestStored(ctx, key, query, k, allowed, stop)
	}
	closer := min(2*k+20, mostExact)
	list, exact, err := space.Nearest(query, k, closer, allowed, stop)
	if err != nil || exact {
		return list[:min(k, len(list))], err
	}
	closer = min(closer, len(list))
	if err := s.score(key, query, list[:closer]); err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(n Neighbour) bool { return n.Score < 0 })
	return list[:min(k, len(list))], nil
}

// mostExact is how many of the nearest by codes are put in order by their vectors as
// the database has them.
const mostExact = 1000

// score gives neighbours the scores of their vectors as the database has them, and
// puts them in order; -1 to one that has none any more.
func (s *Memory) score(key Key, query []float32, list []Neighbour) error {
	// Read in the order of keys, which is that of the database.
	slices.SortFunc(list, func(a, b Neighbour) int { return strings.Compare(a.ID, b.ID) })
	ids := make([]string, len(list))
	for i := range list {
		ids[i] = list[i].ID
	}
	stored, err := s.db.Vectors(key.Docs, key.Set, ids)
	if err != nil {
		return fmt.Errorf("read vectors: %w", err)
	}
	query = Unit(query)
	for i, b := range stored {
		list[i].Score = -1
		if b == nil {
			continue
		}
		v, err := Decode(b)
		if err != nil {
			return fmt.Errorf("read vectors of document %q: %w", ids[i], err)
		}
		if v.Seq != list[i].Seq || CheckDimensions("", v.Vectors, key.Dims) != nil {
			continue
		}
		for _, vec := range v.Vectors {
			list[i].Score = max(list[i].Score, likeness(Dot(query, Unit(vec))))
		}
	}
	slices.SortFunc(list, func(a, b Neighbour) int { return before(&a, &b) })
	return nil
}

// nearestStored is Nearest of vectors that do not fit into memory.
func (s *Memory) nearestStored(ctx context.Context, key Key, query []float32, k int, allowed *Set, stop func() error) ([]Neighbour, error) {
	top := NewTop(k)
	err := s.eachVectors(ctx, key, func(id string, v *Document) error {
		if len(v.Vectors) == 0 || !allowed.Has(v.Seq) {
			return nil
		}
		one := New(key.Dims, key.Binary)
		one.Put(id, v.Seq, v.Vectors)
		found, _, err := one.Nearest(query, 1, 1, nil, stop)
		if err == nil {
			top.Add(id, v.Seq, found[0].Score)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return top.List(), nil
}

// Contents are the documents that have vectors of a key.
type Contents struct {
	Docs    int
	Version uint64 // another one whenever one has come or gone
	// Seqs returns their numbers, at this version or a later one.
	Seqs func() (*Set, error)
}

// Contents returns which documents have vectors of a key.
func (s *Memory) Contents(ctx context.Context, k Key) (Contents, error) {
	space, err := s.get(ctx, k)
	if err != nil {
		return Contents{}, err
	}
	if space != nil {
		n, version := space.Docs()
		return Contents{n, version, func() (*Set, error) { return space.Seqs(), nil }}, nil
	}
	out, n := new(Set), 0
	err = s.eachVectors(ctx, k, func(_ string, v *Document) error {
		if len(v.Vectors) > 0 {
			out.Add(v.Seq)
			n++
		}
		return nil
	})
	return Contents{n, rand.Uint64(), func() (*Set, error) { return out, nil }}, err
}

// Put has all open spaces of a set know what was just written; v is nil where a
// document has none any more.
func (s *Memory) Put(docs string, set uint32, id string, v *Document) {
	for k, o := range s.openOf(docs, set) {
		o.mu.Lock()
		switch {
		case !o.loaded || o.space == nil:
		case v == nil || CheckDimensions("", v.Vectors, k.Dims) != nil:
			o.space.Delete(id)
		default:
			o.space.Put(id, v.Seq, v.Vectors)
			if o.space.Bytes() > s.Max {
				o.space = nil
			}
		}
		o.mu.Unlock()
	}
}

// openOf returns the open spaces of a set.
func (s *Memory) openOf(docs string, set uint32) map[Key]*openSpace {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[Key]*openSpace{}
	for k, o := range s.open {
		if k.Docs == docs && k.Set == set {
			out[k] = o
		}
	}
	return out
}

// Keep closes all spaces but those that keep says yes to.
func (s *Memory) Keep(keep func(docs string, set uint32) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range s.open {
		if !keep(k.Docs, k.Set) {
			delete(s.open, k)
		}
	}
}

// Bytes is about what all spaces take.
func (s *Memory) Bytes() (sum int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.open {
		if !o.mu.TryLock() {
			continue // being read
		}
		if o.space != nil {
			sum += o.space.Bytes()
		}
		o.mu.Unlock()
	}
	return sum
}

// shrink closes spaces until the others fit, those not used for longest first,
// last of all the one just opened.
func (s *Memory) shrink(fresh *openSpace) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		var sum int64
		var oldest Key
		var at time.Time
		for k, o := range s.open {
			if !o.mu.TryLock() {
				continue // being read: it shrinks the others itself
			}
			if o.space != nil {
				sum += o.space.Bytes()
				if o != fresh && (at.IsZero() || o.used.Before(at)) {
					oldest, at = k, o.used
				}
			}
			o.mu.Unlock()
		}
		if sum <= s.Max || at.IsZero() {
			return
		}
		delete(s.open, oldest)
	}
}
