package store

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-search/parley/host/internal/access/limit"
)

var _ limit.Storage = (*Store)(nil)

// keepSpan is how long what a span counted stays behind its end, beside the span that
// follows it, whose usage names it: clocks may be set back.
const keepSpan = 48 * time.Hour

func (s *Store) spanKey(prefix string, who limit.Subject, span limit.Span) []byte {
	return s.own(fmt.Appendf(nil, "%s%s/%s:%d", prefix, who, span.Period, span.Start))
}

// spanEntry is a record that goes a while after span ended.
func spanEntry(key, value []byte, span limit.Span) *badger.Entry {
	e := badger.NewEntry(key, value)
	if end := span.End(); !end.IsZero() {
		next := span.Period.At(end)
		e = e.WithTTL(max(time.Until(next.End()), 0) + keepSpan)
	}
	return e
}

// Spent implements [limit.Storage].
func (s *Store) Spent(who limit.Subject, span limit.Span) (tokens int64, err error) {
	err = s.db.View(func(tx *badger.Txn) error {
		b, err := get(tx, s.spanKey(prefixSpent, who, span))
		if errors.Is(err, badger.ErrKeyNotFound) {
			return nil
		}
		if err == nil && len(b) != 8 {
			err = fmt.Errorf("a record of %d bytes, not 8", len(b))
		}
		if err == nil {
			tokens = int64(binary.BigEndian.Uint64(b)) //nolint:gosec // SetSpent wrote it
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("read what is spent: %w", err)
	}
	return tokens, nil
}

// SetSpent implements [limit.Storage].
func (s *Store) SetSpent(who limit.Subject, span limit.Span, tokens int64) error {
	err := s.updateOwn(func(tx txn) error {
		return tx.SetEntry(spanEntry(s.spanKey(prefixSpent, who, span), binary.BigEndian.AppendUint64(nil, uint64(tokens)), span)) //nolint:gosec // never negative
	})
	if err != nil {
		return fmt.Errorf("write what is spent: %w", err)
	}
	return nil
}

// AddCounts implements [limit.Storage].
func (s *Store) AddCounts(more []limit.Entry) error {
	err := s.updateOwn(func(tx txn) error {
		for _, e := range more {
			key := s.spanKey(prefixCounts, e.Subject, e.Span)
			sum, err := counts(tx, key)
			if err != nil {
				return err
			}
			b, err := json.Marshal(sum.Plus(e.Counts))
			if err != nil {
				return err
			}
			if err := tx.SetEntry(spanEntry(key, b, e.Span)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("add usage: %w", err)
	}
	return nil
}

func counts(tx reader, key []byte) (c limit.Counts, err error) {
	b, err := get(tx, key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return c, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	return c, err
}

// Counts implements [limit.Storage].
func (s *Store) Counts(entries []limit.Entry) error {
	err := s.db.View(func(tx *badger.Txn) (err error) {
		for i := range entries {
			if entries[i].Counts, err = counts(tx, s.spanKey(prefixCounts, entries[i].Subject, entries[i].Span)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read usage: %w", err)
	}
	return nil
}

// Forget implements [limit.Storage].
func (s *Store) Forget(who limit.Subject) error {
	err := s.updateOwn(func(tx txn) error {
		for _, prefix := range []string{prefixSpent, prefixCounts} {
			var keys [][]byte
			err := scan(tx, s.own([]byte(prefix+string(who)+"/")), func(key, _ []byte) (bool, error) {
				keys = append(keys, slices.Clone(key))
				return true, nil
			})
			for _, key := range keys {
				err = errors.Join(err, tx.Delete(key))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("forget usage of %s: %w", who, err)
	}
	return nil
}
