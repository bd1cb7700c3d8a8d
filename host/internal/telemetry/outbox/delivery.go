package outbox

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-search/parley/host/internal/telemetry"
)

// Pending implements [telemetry.Spool].
func (s *Spool) Pending(_ context.Context, limit int) ([]telemetry.Message, error) {
	return s.queued(limit, func(e entry) bool { return e.until.IsZero() })
}

// Quarantined implements [telemetry.Spool].
func (s *Spool) Quarantined(context.Context) ([]telemetry.Message, error) {
	return s.queued(math.MaxInt, func(e entry) bool { return !e.until.IsZero() })
}

func (s *Spool) queued(limit int, want func(entry) bool) (all []telemetry.Message, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err = s.db.View(func(txn *badger.Txn) error {
		found, err := s.queue.messages(txn, limit, want)
		for _, m := range found {
			all = append(all, m.Message)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read telemetry spool: %w", err)
	}
	return all, nil
}

// Windows implements [telemetry.Spool].
func (s *Spool) Windows(_ context.Context, limit int) (all []telemetry.Window, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	least, windows := uint64(math.MaxUint64), 0
	for _, e := range slices.Backward(s.past.entries) {
		if e.window == least {
			continue
		}
		if windows == limit {
			break
		}
		least = e.window
		windows++
	}
	err = s.db.View(func(txn *badger.Txn) error {
		found, err := s.past.messages(txn, math.MaxInt, func(e entry) bool { return e.window >= least })
		for _, m := range slices.Backward(found) {
			if len(all) == 0 || all[len(all)-1].Number != m.Window {
				all = append(all, telemetry.Window{Number: m.Window, Sealed: m.Sealed})
			}
			w := &all[len(all)-1]
			w.Messages = slices.Insert(w.Messages, 0, m.Message)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read telemetry's last windows: %w", err)
	}
	return all, nil
}

// Delete implements [telemetry.Spool].
func (s *Spool) Delete(_ context.Context, ids []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var gone []entry
	for _, e := range s.queue.entries {
		if slices.Contains(ids, e.id) {
			gone = append(gone, e)
		}
	}
	if err := s.update(func(txn *badger.Txn) error { return s.queue.delete(txn, gone) }); err != nil {
		return fmt.Errorf("delete delivered telemetry: %w", err)
	}
	s.queue.forget(gone)
	if len(s.queue.entries) == 0 && s.dirSize() > s.dirBound {
		return s.renew()
	}
	return nil
}

// Quarantine implements [telemetry.Spool].
func (s *Spool) Quarantine(_ context.Context, id string, until time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.IndexFunc(s.queue.entries, func(e entry) bool { return e.id == id })
	if at < 0 {
		return nil
	}
	number := s.queue.entries[at].number
	err := s.update(func(txn *badger.Txn) error {
		m, err := s.queue.message(txn, number)
		if err != nil {
			return err
		}
		m.Until = until
		b, err := json.Marshal(&m)
		if err != nil {
			return err
		}
		return txn.Set(s.queue.key(number), b)
	})
	if err != nil {
		return fmt.Errorf("put telemetry in quarantine: %w", err)
	}
	s.queue.entries[at].until = until
	return nil
}

// Note implements [telemetry.Spool].
func (s *Spool) Note(_ context.Context, d telemetry.Delivery) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var gone []entry
	if over := len(s.noted.entries) + 1 - maxDeliveries; over > 0 {
		gone = slices.Clone(s.noted.entries[:over])
	}
	err := s.update(func(txn *badger.Txn) error {
		b, err := json.Marshal(d)
		if err != nil {
			return err
		}
		if err := txn.Set(s.noted.key(s.noted.next), b); err != nil {
			return err
		}
		return s.noted.delete(txn, gone)
	})
	if err != nil {
		return fmt.Errorf("note a delivery of telemetry: %w", err)
	}
	s.noted.forget(gone)
	s.noted.add([]spooled{{}})
	return nil
}

// Deliveries implements [telemetry.Spool].
func (s *Spool) Deliveries(context.Context) (all []telemetry.Delivery, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err = s.db.View(func(txn *badger.Txn) error {
		for _, e := range s.noted.entries {
			b, err := valueOf(txn, string(s.noted.key(e.number)))
			if err != nil {
				return err
			}
			var d telemetry.Delivery
			if err := json.Unmarshal(b, &d); err != nil {
				return err
			}
			all = append(all, d)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read deliveries of telemetry: %w", err)
	}
	return all, nil
}

// Usage implements [telemetry.Spool].
func (s *Spool) Usage(context.Context) (telemetry.Usage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := telemetry.Usage{Bytes: s.queue.bytes, Dropped: int64(s.dropped)}
	for _, e := range s.queue.entries {
		if e.until.IsZero() {
			u.Pending++
		} else {
			u.Quarantined++
		}
	}
	return u, nil
}
