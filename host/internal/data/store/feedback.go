package store

import (
	"cmp"
	"context"
	"crypto/sha256"
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

// senderBytes of the end of an ID are a hash of the key and of the caller that sent the feedback, half of them each.
const senderBytes = 4

// PutFeedback implements [workspace.Feedbacks].
func (s *Store) PutFeedback(_ context.Context, uid string, from workspace.Sender, f *workspace.Feedback) error {
	fresh, err := uuid.NewV7() // in the order of time
	if err != nil {
		return fmt.Errorf("keep feedback: %w", err)
	}
	key, caller := sha256.Sum256([]byte(from.Key)), sha256.Sum256([]byte(from.Caller))
	copy(fresh[len(fresh)-senderBytes:], slices.Concat(key[:senderBytes/2], caller[:senderBytes/2]))
	own := fresh.String()
	f.At = time.Now().UTC().Truncate(time.Second)
	known := f.ID
	err = s.update(func(tx txn) error {
		f.ID = known
		prefix := []byte(feedbackPrefix(uid))
		err := badger.ErrKeyNotFound
		if len(known) == len(own) && known[len(own)-2*senderBytes:] == own[len(own)-2*senderBytes:] {
			_, err = tx.Get(append(slices.Clone(prefix), known...))
		}
		if errors.Is(err, badger.ErrKeyNotFound) {
			f.ID = own
			if err := dropFeedback(tx, prefix, workspace.MaxFeedback-1); err != nil {
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

// dropFeedback deletes feedback until at most n are left: of the key with most of it, and of its callers the one with
// most, the oldest.
func dropFeedback(tx txn, prefix []byte, n int) error {
	var keys []string
	err := eachKey(tx, prefix, func(item *badger.Item) error {
		keys = append(keys, string(item.Key()))
		return nil
	})
	for err == nil && len(keys) > n {
		kept := keys
		for _, end := range []int{senderBytes, 0} { // of a key, and of a caller
			of := func(key string) string { return key[max(0, len(key)-2*senderBytes) : len(key)-end] }
			counts := map[string]int{}
			for _, k := range kept {
				counts[of(k)]++
			}
			most := slices.MaxFunc(kept, func(x, y string) int { return cmp.Compare(counts[of(x)], counts[of(y)]) })
			kept = slices.DeleteFunc(slices.Clone(kept), func(k string) bool { return of(k) != of(most) })
		}
		at := slices.Index(keys, kept[0])
		err = tx.Delete([]byte(keys[at]))
		keys = slices.Delete(keys, at, at+1)
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
