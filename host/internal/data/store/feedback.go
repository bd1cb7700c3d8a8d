package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/google/uuid"

	"github.com/parley-search/parley/host/internal/chat/workspace"
)

var _ workspace.Feedbacks = (*Store)(nil)

func feedbackPrefix(uid string) string { return prefixFeedback + uid + "/" }

// PutFeedback implements [workspace.Feedbacks].
func (s *Store) PutFeedback(_ context.Context, uid string, f *workspace.Feedback) error {
	fresh, err := uuid.NewV7() // in the order of time
	if err != nil {
		return fmt.Errorf("keep feedback: %w", err)
	}
	f.At = time.Now().UTC().Truncate(time.Second)
	known := f.ID
	err = s.update(func(tx txn) error {
		f.ID = known
		prefix := []byte(feedbackPrefix(uid))
		if _, err := tx.Get(append(slices.Clone(prefix), f.ID...)); known == "" || errors.Is(err, badger.ErrKeyNotFound) {
			f.ID = fresh.String()
			if err := dropOldest(tx, prefix, workspace.MaxFeedback-1); err != nil {
				return err
			}
		} else if err != nil {
			return err
		}
		value, err := json.Marshal(f)
		if err != nil {
			return err
		}
		return tx.Set(append(prefix, f.ID...), value)
	})
	if err != nil {
		return fmt.Errorf("keep feedback: %w", err)
	}
	return nil
}

// dropOldest deletes the first records of a prefix until at most n are left.
func dropOldest(tx txn, prefix []byte, n int) error {
	var keys [][]byte
	err := eachKey(tx, prefix, func(item *badger.Item) error {
		keys = append(keys, item.KeyCopy(nil))
		return nil
	})
	for _, key := range keys[:max(0, len(keys)-n)] {
		err = errors.Join(err, tx.Delete(key))
	}
	return err
}

// EachFeedback implements [workspace.Feedbacks].
func (s *Store) EachFeedback(ctx context.Context, uid string, do func(*workspace.Feedback) error) error {
	prefix := []byte(feedbackPrefix(uid))
	return s.db.View(func(tx *badger.Txn) error {
		o := badger.DefaultIteratorOptions
		o.Prefix, o.Reverse, o.PrefetchSize = prefix, true, 4
		it := tx.NewIterator(o)
		defer it.Close()
		for it.Seek(append(slices.Clone(prefix), 0xff)); it.Valid(); it.Next() {
			var f workspace.Feedback
			if err := it.Item().Value(func(v []byte) error { return json.Unmarshal(v, &f) }); err != nil {
				return fmt.Errorf("read feedback: %w", err)
			}
			if err := errors.Join(ctx.Err(), do(&f)); err != nil {
				return err
			}
		}
		return nil
	})
}

// DeleteFeedback implements [workspace.Feedbacks].
func (s *Store) DeleteFeedback(_ context.Context, uid, id string) error {
	key := []byte(feedbackPrefix(uid) + id)
	err := s.update(func(tx txn) error {
		if _, err := tx.Get(key); err != nil {
			return err
		}
		return tx.Delete(key)
	})
	if errors.Is(err, badger.ErrKeyNotFound) {
		return workspace.FeedbackNotFound(uid, id)
	}
	if err != nil {
		return fmt.Errorf("delete feedback: %w", err)
	}
	return nil
}
