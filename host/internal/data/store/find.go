package store

import (
	"context"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/dgraph-io/badger/v4"

	"github.com/parley-search/parley/host/internal/task"
)

// FindTasks implements [task.Log].
func (s *Store) FindTasks(_ context.Context, f *task.Filter) (uids []uint32, total int, err error) {
	err = s.db.View(func(tx *badger.Txn) error {
		set, err := find(tx, kindTask, f)
		if err != nil {
			return err
		}
		if len(f.UIDs) > 0 {
			set.And(roaring.BitmapOf(f.UIDs...))
		}
		if len(f.BatchUIDs) > 0 {
			if err := members(tx, set, f.BatchUIDs); err != nil {
				return err
			}
		}
		uids, total = page(set, f)
		return nil
	})
	return uids, total, err
}

// members leaves in set the tasks of these batches. Tasks are not found by their
// batch, but a batch knows when the first and the last of its own were accepted,
// and only tasks of that time are read.
func members(tx reader, set *roaring.Bitmap, batches []uint32) error {
	of := roaring.New()
	for _, uid := range batches {
		b, err := getBatch(tx, uid)
		if err != nil {
			return err
		}
		if b == nil {
			continue
		}
		near, err := between(tx, kindTask, dateEnqueued, task.Span{After: b.Oldest.Add(-1), Before: b.Newest.Add(1)})
		if err != nil {
			return err
		}
		near.And(set)
		for it := near.Iterator(); it.HasNext(); {
			t, err := getTask(tx, it.Next())
			if err != nil {
				return err
			}
			if t != nil && t.BatchUID != nil && *t.BatchUID == uid {
				of.Add(t.UID)
			}
		}
	}
	set.And(of)
	return nil
}

// FindBatches implements [task.Log].
func (s *Store) FindBatches(_ context.Context, f *task.Filter) (uids []uint32, total int, err error) {
	err = s.db.View(func(tx *badger.Txn) error {
		set, err := find(tx, kindBatch, f)
		if err != nil {
			return err
		}
		if len(f.BatchUIDs) > 0 {
			set.And(roaring.BitmapOf(f.BatchUIDs...))
		}
		if len(f.UIDs) > 0 {
			of := roaring.New()
			for _, uid := range f.UIDs {
				t, err := getTask(tx, uid)
				if err != nil {
					return err
				}
				if t != nil && t.BatchUID != nil {
					of.Add(*t.BatchUID)
				}
			}
			set.And(of)
		}
		uids, total = page(set, f)
		return nil
	})
	return uids, total, err
}

// find returns what f chooses by traits and dates.
func find(tx reader, kind string, f *task.Filter) (*roaring.Bitmap, error) {
	statuses := f.Statuses
	if len(statuses) == 0 {
		statuses = task.Statuses() // each record has one, so these are all
	}
	set, err := having(tx, kind, traitStatus, texts(statuses)...)
	if err != nil {
		return nil, err
	}
	var canceledBy []string
	for _, uid := range f.CanceledBy {
		canceledBy = append(canceledBy, decimal(uid))
	}
	for _, c := range []struct {
		trait  string
		values []string
	}{
		{traitType, texts(f.Types)}, {traitIndex, f.IndexUIDs}, {traitCanceledBy, canceledBy},
	} {
		if len(c.values) == 0 {
			continue
		}
		b, err := having(tx, kind, c.trait, c.values...)
		if err != nil {
			return nil, err
		}
		set.And(b)
	}
	for date, span := range map[string]task.Span{dateEnqueued: f.Enqueued, dateStarted: f.Started, dateFinished: f.Finished} {
		if span.IsZero() {
			continue
		}
		b, err := between(tx, kind, date, span)
		if err != nil {
			return nil, err
		}
		set.And(b)
	}
	return set, narrow(tx, kind, set, f.Visible)
}

// narrow takes out of set what visible does not let the caller see.
func narrow(tx reader, kind string, set *roaring.Bitmap, visible func(string) bool) error {
	if visible == nil {
		return nil
	}
	indexes, err := values(tx, kind, traitIndex)
	if err != nil {
		return err
	}
	var seen, unseen []string
	for _, uid := range indexes {
		if visible(uid) {
			seen = append(seen, uid)
		} else {
			unseen = append(unseen, uid)
		}
	}
	if !visible("") {
		b, err := having(tx, kind, traitIndex, seen...)
		if err != nil {
			return err
		}
		set.And(b)
	}
	b, err := having(tx, kind, traitIndex, unseen...)
	if err != nil {
		return err
	}
	set.AndNot(b)
	return nil
}

// page returns the part of set that is the page of f, and one more.
func page(set *roaring.Bitmap, f *task.Filter) (uids []uint32, total int) {
	total = int(set.GetCardinality())
	n := min(f.PageSize()+1, total)
	if f.PageSize() == 0 {
		return nil, total
	}
	uids = make([]uint32, 0, n)
	if f.Reverse {
		it := set.Iterator()
		if f.From != nil {
			it.AdvanceIfNeeded(*f.From)
		}
		for len(uids) < n && it.HasNext() {
			uids = append(uids, it.Next())
		}
		return uids, total
	}
	if f.From != nil {
		rest := set.Clone()
		rest.RemoveRange(uint64(*f.From)+1, 1<<32)
		set = rest
	}
	it := set.ReverseIterator()
	for len(uids) < n && it.HasNext() {
		uids = append(uids, it.Next())
	}
	return uids, total
}

func texts[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = string(v)
	}
	return out
}
