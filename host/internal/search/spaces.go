package search

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/parley-search/parley/host/internal/search/vector"
)

// A spaceKey names vectors in memory.
type spaceKey struct {
	docs   string
	set    uint32
	dims   int
	binary bool
}

// spaces keeps in memory the vectors that were searched last, within a bound.
// What is beyond it is read from the database at each search. Safe for
// concurrent use.
type spaces struct {
	db  DB
	max int64 // bytes

	mu   sync.Mutex
	open map[spaceKey]*openSpace
}

// An openSpace is one space, or on its way to be one. It is there before its
// vectors are read, so that what is written meanwhile is not missed.
type openSpace struct {
	used time.Time // under spaces.mu

	mu     sync.Mutex // while it is read, and while it is changed
	loaded bool
	space  *vector.Space // nil: it is too large
}

// errTooLarge ends the reading of a space that is over the bound.
var errTooLarge = errors.New("the vectors are more than the memory for them")

func newSpaces(db DB, limit int64) *spaces {
	return &spaces{db: db, max: limit, open: map[spaceKey]*openSpace{}}
}

// get returns a space with all vectors of the key, or nil where they are more
// than fits.
func (s *spaces) get(ctx context.Context, k spaceKey) (*vector.Space, error) {
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
	space := vector.New(k.dims, k.binary)
	n := 0
	err := s.eachVectors(ctx, k, func(id string, v *docVectors) error {
		space.Put(id, v.seq, v.vectors)
		if n++; n%1024 == 0 && space.Bytes() > s.max {
			return errTooLarge
		}
		return nil
	})
	if space.Bytes() > s.max {
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
func (s *spaces) eachVectors(ctx context.Context, k spaceKey, f func(id string, v *docVectors) error) error {
	return s.db.ScanVectors(ctx, k.docs, k.set, func(id string, b []byte) error {
		v, err := decodeVectors(b)
		if err != nil {
			return fmt.Errorf("read vectors of document %q: %w", id, err)
		}
		if checkDimensions("", v.vectors, k.dims) != nil {
			return nil
		}
		return f(id, v)
	})
}

// nearest returns the k documents nearest to query, of those whose numbers are
// in allowed (nil: all).
func (s *spaces) nearest(ctx context.Context, key spaceKey, query []float32, k int, allowed *vector.Set) ([]vector.Neighbour, error) {
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
	if space != nil {
		return space.Nearest(query, k, allowed, stop)
	}
	top := vector.NewTop(k)
	err = s.eachVectors(ctx, key, func(id string, v *docVectors) error {
		if len(v.vectors) == 0 || !allowed.Has(v.seq) {
			return nil
		}
		one := vector.New(key.dims, key.binary)
		one.Put(id, v.seq, v.vectors)
		found, err := one.Nearest(query, 1, nil, stop)
		if err == nil {
			top.Add(id, v.seq, found[0].Score)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return top.List(), nil
}

// seqs returns the numbers of the documents that have vectors of a key.
func (s *spaces) seqs(ctx context.Context, k spaceKey) (*vector.Set, error) {
	space, err := s.get(ctx, k)
	if err != nil || space != nil {
		return space.Seqs(), err
	}
	out := new(vector.Set)
	err = s.eachVectors(ctx, k, func(_ string, v *docVectors) error {
		if len(v.vectors) > 0 {
			out.Add(v.seq)
		}
		return nil
	})
	return out, err
}

// put has all open spaces of a set know what was just written; v is nil where a
// document has none any more.
func (s *spaces) put(docs string, set uint32, id string, v *docVectors) {
	for k, o := range s.of(docs, set) {
		o.mu.Lock()
		switch {
		case !o.loaded || o.space == nil:
		case v == nil || checkDimensions("", v.vectors, k.dims) != nil:
			o.space.Delete(id)
		default:
			o.space.Put(id, v.seq, v.vectors)
			if o.space.Bytes() > s.max {
				o.space = nil
			}
		}
		o.mu.Unlock()
	}
}

// of returns the open spaces of a set.
func (s *spaces) of(docs string, set uint32) map[spaceKey]*openSpace {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[spaceKey]*openSpace{}
	for k, o := range s.open {
		if k.docs == docs && k.set == set {
			out[k] = o
		}
	}
	return out
}

// keep closes all spaces but those that keep says yes to.
func (s *spaces) keep(keep func(docs string, set uint32) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range s.open {
		if !keep(k.docs, k.set) {
			delete(s.open, k)
		}
	}
}

// bytes is about what all spaces take.
func (s *spaces) bytes() (sum int64) {
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
func (s *spaces) shrink(fresh *openSpace) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		var sum int64
		var oldest spaceKey
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
		if sum <= s.max || at.IsZero() {
			return
		}
		delete(s.open, oldest)
	}
}
