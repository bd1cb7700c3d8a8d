package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-search/parley/host/internal/telemetry"
)

// Pending implements [telemetry.Spool].
func (s *Spool) Pending(_ context.Context, limit int) (all []telemetry.Message, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err = s.db.View(func(txn *badger.Txn) error {
		for _, e := range s.entries {
			if len(all) == limit {
				break
			}
			if !e.until.IsZero() {
				continue
			}
			m, err := readMessage(txn, e.number)
			if err != nil {
				return err
			}
			all = append(all, m.Message)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read telemetry spool: %w", err)
	}
	return all, nil
}

func readMessage(txn *badger.Txn, number uint64) (m spooled, err error) {
	item, err := txn.Get(messageKey(number))
	if err != nil {
		return m, err
	}
	err = item.Value(func(b []byte) error { return json.Unmarshal(b, &m) })
	return m, err
}

// Delete implements [telemetry.Spool].
func (s *Spool) Delete(_ context.Context, ids []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var gone []spoolEntry
	for _, e := range s.entries {
		if slices.Contains(ids, e.id) {
			gone = append(gone, e)
		}
	}
	err := s.db.Update(func(txn *badger.Txn) error {
		for _, e := range gone {
			if err := txn.Delete(messageKey(e.number)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("delete delivered telemetry: %w", err)
	}
	s.forget(gone)
	if len(s.entries) == 0 && s.dirSize() > s.dirBound {
		return s.renew()
	}
	return nil
}

// Quarantine implements [telemetry.Spool].
func (s *Spool) Quarantine(_ context.Context, id string, until time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.IndexFunc(s.entries, func(e spoolEntry) bool { return e.id == id })
	if at < 0 {
		return nil
	}
	err := s.db.Update(func(txn *badger.Txn) error {
		m, err := readMessage(txn, s.entries[at].number)
		if err != nil {
			return err
		}
		m.Until = until
		b, err := json.Marshal(&m)
		if err != nil {
			return err
		}
		return txn.Set(messageKey(s.entries[at].number), b)
	})
	if err != nil {
		return fmt.Errorf("put telemetry in quarantine: %w", err)
	}
	s.entries[at].until = until
	return nil
}

// Usage implements [telemetry.Spool].
func (s *Spool) Usage(context.Context) (telemetry.Usage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := telemetry.Usage{Bytes: s.bytes, Dropped: int64(s.dropped)}
	for _, e := range s.entries {
		if e.until.IsZero() {
			u.Pending++
		} else {
			u.Quarantined++
		}
	}
	return u, nil
}
