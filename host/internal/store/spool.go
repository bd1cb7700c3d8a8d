package store

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-search/parley/host/internal/telemetry"
)

// The keys of a spool, which is a database of its own.
//
//	state          => what the engine keeps of the window under way
//	dropped        => how many messages went undelivered, 8 bytes
//	m/<number, 8>  => spooled as JSON, in the order of sealing
const (
	spoolState   = "state"
	spoolDropped = "dropped"
	spoolMessage = "m/"
)

// Bounds of a spool. DirBound is what its folder may grow to, since Badger
// keeps what was deleted for a while: past it an empty spool is made anew.
const (
	SpoolBytes    = 10 << 20
	SpoolAge      = 7 * 24 * time.Hour
	spoolDirBound = 64 << 20
)

// A Spool implements [telemetry.Spool] in a small Badger database. Safe for
// concurrent use.
type Spool struct {
	dir      string
	dirBound int64

	mu      sync.Mutex
	db      *badger.DB
	entries []spoolEntry // in the order of their numbers
	next    uint64       // number of the next message
	bytes   int64
	dropped uint64
}

var _ telemetry.Spool = (*Spool)(nil)

// spooled is a message as it is kept.
type spooled struct {
	telemetry.Message
	Sealed time.Time
	Until  time.Time // of a message in quarantine: when it is dropped
}

// spoolEntry is what is known of a message without reading it.
type spoolEntry struct {
	number uint64
	id     string
	size   int64
	sealed time.Time
	until  time.Time
}

func messageKey(number uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte(spoolMessage), number)
}

// OpenSpool opens, or makes, the spool in dir.
func OpenSpool(dir string) (*Spool, error) {
	s := &Spool{dir: dir, dirBound: spoolDirBound}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make telemetry spool: %w", err)
	}
	// A swap that a crash cut short: the old folder is whole, the new one is not.
	if _, err := os.Stat(s.aside()); err == nil {
		if err := errors.Join(os.RemoveAll(dir), os.Rename(s.aside(), dir)); err != nil {
			return nil, fmt.Errorf("restore telemetry spool: %w", err)
		}
	}
	if err := s.open(); err != nil {
		return nil, err
	}
	if err := s.read(); err != nil {
		return nil, errors.Join(fmt.Errorf("read telemetry spool in %s: %w", dir, err), s.db.Close())
	}
	return s, nil
}

// open opens the database. Its values lie in its tables, not in Badger's log of
// values: the state is written anew each minute, and only tables are compacted
// by themselves.
func (s *Spool) open() error {
	o := badger.DefaultOptions(s.dir).WithLogger(nil).WithSyncWrites(true).
		WithMemTableSize(4 << 20).WithNumMemtables(1).WithValueLogFileSize(4 << 20).WithValueThreshold(512 << 10).
		WithBlockCacheSize(0).WithIndexCacheSize(0).WithNumLevelZeroTables(1).WithNumLevelZeroTablesStall(4).WithCompactL0OnClose(true)
	o.Compression = 0 // none: without it there is no cache to keep
	db, err := badger.Open(o)
	if err != nil {
		return fmt.Errorf("open telemetry spool in %s: %w", s.dir, err)
	}
	s.db = db
	return nil
}

// read finds what the database holds.
func (s *Spool) read() error {
	return s.db.View(func(txn *badger.Txn) error {
		if item, err := txn.Get([]byte(spoolDropped)); err == nil {
			b, err := item.ValueCopy(nil)
			if err != nil {
				return err
			}
			if len(b) == 8 {
				s.dropped = binary.BigEndian.Uint64(b)
			}
		} else if !errors.Is(err, badger.ErrKeyNotFound) {
			return err
		}
		it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte(spoolMessage), PrefetchValues: true, PrefetchSize: 10})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			var m spooled
			if err := it.Item().Value(func(b []byte) error { return json.Unmarshal(b, &m) }); err != nil {
				return err
			}
			number := binary.BigEndian.Uint64(it.Item().Key()[len(spoolMessage):])
			s.add(number, &m)
		}
		return nil
	})
}

func (s *Spool) add(number uint64, m *spooled) {
	e := spoolEntry{number, m.ID, int64(len(m.Body)), m.Sealed, m.Until}
	s.entries = append(s.entries, e)
	s.bytes += e.size
	s.next = number + 1
}

// State implements [telemetry.Spool].
func (s *Spool) State(context.Context) (state []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err = s.db.View(func(txn *badger.Txn) error {
		item, err := txn.Get([]byte(spoolState))
		if err != nil {
			return err
		}
		state, err = item.ValueCopy(nil)
		return err
	})
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read telemetry state: %w", err)
	}
	return state, nil
}

// Keep implements [telemetry.Spool].
func (s *Spool) Keep(_ context.Context, state []byte, add []telemetry.Message, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh := make([]spooled, len(add))
	size := s.bytes
	for i, m := range add {
		fresh[i] = spooled{Message: m, Sealed: now}
		size += int64(len(m.Body))
	}
	gone := s.overdue(size, now)
	dropped := s.dropped + uint64(len(gone))
	err := s.db.Update(func(txn *badger.Txn) error {
		for _, e := range gone {
			if err := txn.Delete(messageKey(e.number)); err != nil {
				return err
			}
		}
		for i := range fresh {
			b, err := json.Marshal(&fresh[i])
			if err != nil {
				return err
			}
			if err := txn.Set(messageKey(s.next+uint64(i)), b); err != nil {
				return err
			}
		}
		if len(gone) > 0 {
			if err := txn.Set([]byte(spoolDropped), binary.BigEndian.AppendUint64(nil, dropped)); err != nil {
				return err
			}
		}
		return txn.Set([]byte(spoolState), slices.Clone(state))
	})
	if err != nil {
		return fmt.Errorf("keep telemetry: %w", err)
	}
	s.dropped = dropped
	s.forget(gone)
	first := s.next
	for i := range fresh {
		s.add(first+uint64(i), &fresh[i])
	}
	return nil
}

// overdue returns what has to go: the oldest messages where all would have size
// bytes, and those that are too old or whose quarantine is over.
func (s *Spool) overdue(size int64, now time.Time) (gone []spoolEntry) {
	for _, e := range s.entries {
		if size > SpoolBytes || now.Sub(e.sealed) > SpoolAge || !e.until.IsZero() && now.After(e.until) {
			gone = append(gone, e)
			size -= e.size
		}
	}
	return gone
}

// forget takes entries out of what is known.
func (s *Spool) forget(gone []spoolEntry) {
	s.entries = slices.DeleteFunc(s.entries, func(e spoolEntry) bool {
		if slices.ContainsFunc(gone, func(g spoolEntry) bool { return g.number == e.number }) {
			s.bytes -= e.size
			return true
		}
		return false
	})
}

// Close closes the spool.
func (s *Spool) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("close telemetry spool: %w", err)
	}
	return nil
}
