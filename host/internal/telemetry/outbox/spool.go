// Package outbox keeps messages of telemetry on disk until they are delivered, and the
// last windows for their reader.
package outbox

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dustin/go-humanize"

	"github.com/parley-search/parley/host/internal/base/badgerdir"
	"github.com/parley-search/parley/host/internal/telemetry"
)

// The keys of a spool, which is a database of its own.
//
//	epoch          => a random text, of this spool alone
//	state          => what the engine keeps of the window under way
//	next           => numbers of the next message under m/ and under w/, 8 bytes each
//	dropped        => how many messages went undelivered, 8 bytes
//	m/<number, 8>  => spooled as JSON, in the order of sealing: to be delivered
//	w/<number, 8>  => spooled as JSON, in the order of sealing: of the last windows
//	d/<number, 8>  => telemetry.Delivery as JSON, in the order of time
//
// A message whose number is not below next was never sealed: a crash came
// before the state that goes with it.
const (
	keyEpoch       = "epoch"
	keyState       = "state"
	keyNext        = "next"
	keyDropped     = "dropped"
	prefixMessage  = "m/"
	prefixPast     = "w/"
	prefixDelivery = "d/"
)

// Bounds of a spool. The age is by the machine's clock: set forward by more
// than that, it ends what waits, which is counted, as a host does that was off for
// so long. Set back, it leaves the bound of bytes. maxDirBytes is what its folder may grow to, since Badger
// keeps what was deleted for a while: past it an empty spool is made anew.
const (
	MaxBytes    = 10 << 20
	MaxAge      = 7 * 24 * time.Hour
	maxDirBytes = 64 << 20
	// What is kept of windows that are over, delivered or not, and of deliveries.
	maxWindows    = 48
	maxPastBytes  = 4 << 20
	maxDeliveries = 500
	// reserve must be free on the disk for any change, since Badger writes
	// through mapped files: a disk that is full then ends the process.
	reserve = 16 << 20
)

// A Spool implements [telemetry.Spool] in a small Badger database. Safe for
// concurrent use.
type Spool struct {
	dir      string
	dirBound int64

	free func() (uint64, error) // bytes that the disk has left

	// Damage is why a new spool was made, and the one before set aside; nil: it was not.
	Damage error

	badgerdir.Log

	mu      sync.Mutex
	db      *badger.DB
	queue   shelf // to be delivered
	past    shelf // of the last windows
	noted   shelf // deliveries; what is known of each is its number
	dropped uint64
	epoch   string
}

var _ telemetry.Spool = (*Spool)(nil)

// Open opens, or makes, the spool in dir.
func Open(dir string) (*Spool, error) {
	s := &Spool{
		dir: dir, dirBound: maxDirBytes, free: badgerdir.FreeBelow(dir),
		queue: shelf{prefix: prefixMessage}, past: shelf{prefix: prefixPast}, noted: shelf{prefix: prefixDelivery},
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make telemetry spool: %w", err)
	}
	// A swap that a crash cut short: the old folder is whole, the new one is not.
	if _, err := os.Stat(s.aside()); err == nil {
		if err := errors.Join(os.RemoveAll(dir), os.Rename(s.aside(), dir)); err != nil {
			return nil, fmt.Errorf("restore telemetry spool: %w", err)
		}
	}
	if err := s.room(); err != nil {
		return nil, fmt.Errorf("open telemetry spool: %w", err)
	}
	err := s.open()
	if damage, is := errors.AsType[*badgerdir.DamageError](err); is {
		s.Damage = fmt.Errorf("%s: %w", damage.File, damage.Err)
		if err = errors.Join(os.RemoveAll(dir+".damaged"), os.Rename(dir, dir+".damaged")); err == nil {
			err = s.open()
		}
	}
	if err != nil {
		return nil, err
	}
	err = s.read()
	if err == nil {
		err = s.begin()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read telemetry spool in %s: %w", dir, err), s.db.Close())
	}
	return s, nil
}

// open opens the database. Its values lie in its tables, not in Badger's log of
// values: the state is written anew each minute, and only tables are compacted
// by themselves.
func (s *Spool) open() error {
	o := badger.DefaultOptions(s.dir).WithLogger(&s.Log).WithSyncWrites(true).
		WithMemTableSize(4 << 20).WithNumMemtables(1).WithValueLogFileSize(4 << 20).WithValueThreshold(512 << 10).
		WithBlockCacheSize(0).WithIndexCacheSize(0).WithNumLevelZeroTables(1).WithNumLevelZeroTablesStall(4).WithCompactL0OnClose(true)
	o.Compression = 0 // none: without it there is no cache to keep
	if err := badgerdir.Prepare(s.dir); err != nil {
		return fmt.Errorf("open telemetry spool in %s: %w", s.dir, err)
	}
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
		dropped, err := valueOf(txn, keyDropped)
		if err != nil {
			return err
		}
		if len(dropped) == 8 {
			s.dropped = binary.BigEndian.Uint64(dropped)
		}
		epoch, err := valueOf(txn, keyEpoch)
		if err != nil {
			return err
		}
		s.epoch = string(epoch)
		sealed := [2]uint64{math.MaxUint64, math.MaxUint64}
		next, err := valueOf(txn, keyNext)
		if err != nil {
			return err
		}
		if len(next) == 16 {
			sealed = [2]uint64{binary.BigEndian.Uint64(next), binary.BigEndian.Uint64(next[8:])}
		}
		return errors.Join(s.queue.read(txn, sealed[0]), s.past.read(txn, sealed[1]), s.noted.read(txn, math.MaxUint64))
	})
}

// begin gives a spool that has none its epoch.
func (s *Spool) begin() error {
	if s.epoch != "" {
		return nil
	}
	epoch := rand.Text()
	err := s.db.Update(func(txn *badger.Txn) error { return txn.Set([]byte(keyEpoch), []byte(epoch)) })
	if err == nil {
		s.epoch = epoch
	}
	return err
}

// Epoch tells this spool from any that was in its place before: numbers of windows begin
// again in each.
func (s *Spool) Epoch() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.epoch
}

// valueOf returns a copy of what stands at key, or nil.
func valueOf(txn *badger.Txn, key string) ([]byte, error) {
	item, err := txn.Get([]byte(key))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return item.ValueCopy(nil)
}

// room is an error where the disk is too full for any change.
func (s *Spool) room() error {
	free, err := s.free()
	if err != nil || free >= reserve {
		return nil // what is not known is found out by writing
	}
	return fmt.Errorf("the disk has only %s left, of which %s are kept free", badgerdir.Left(free), humanize.IBytes(reserve))
}

// update changes the database in one step.
func (s *Spool) update(change func(txn *badger.Txn) error) error {
	if err := s.room(); err != nil {
		return err
	}
	return s.db.Update(change)
}

// State implements [telemetry.Spool].
func (s *Spool) State(context.Context) (state []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err = s.db.View(func(txn *badger.Txn) error {
		state, err = valueOf(txn, keyState)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read telemetry state: %w", err)
	}
	return state, nil
}

// Keep implements [telemetry.Spool]. Messages are written first, in as many
// steps as it takes; the last step makes them count, together with the state
// that has forgotten their window.
func (s *Spool) Keep(_ context.Context, state []byte, sealed []telemetry.Message, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var queue, past []spooled
	for _, m := range sealed {
		past = append(past, spooled{Message: m, Sealed: now})
		if m.Outbound {
			queue = append(queue, spooled{Message: m, Sealed: now})
		}
	}
	gone := s.queue.overdue(queue, now)
	old := s.past.old(past, now)
	dropped := s.dropped + uint64(len(gone))
	err := s.lay(queue, past)
	if err == nil {
		err = s.update(func(txn *badger.Txn) error {
			next := binary.BigEndian.AppendUint64(nil, s.queue.next+uint64(len(queue)))
			next = binary.BigEndian.AppendUint64(next, s.past.next+uint64(len(past)))
			return errors.Join(s.queue.delete(txn, gone), s.past.delete(txn, old),
				txn.Set([]byte(keyDropped), binary.BigEndian.AppendUint64(nil, dropped)),
				txn.Set([]byte(keyNext), next),
				txn.Set([]byte(keyState), slices.Clone(state)))
		})
	}
	if err != nil {
		return fmt.Errorf("keep telemetry: %w", err)
	}
	s.dropped = dropped
	s.queue.forget(gone)
	s.queue.add(queue)
	s.past.forget(old)
	s.past.add(past)
	return nil
}

// lay writes messages that do not count yet.
func (s *Spool) lay(queue, past []spooled) error {
	if len(past) == 0 {
		return nil
	}
	if err := s.room(); err != nil {
		return err
	}
	batch := s.db.NewWriteBatch()
	defer batch.Cancel()
	if err := errors.Join(s.queue.lay(batch, queue), s.past.lay(batch, past)); err != nil {
		return err
	}
	return batch.Flush()
}

// Close closes the spool.
func (s *Spool) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := badgerdir.CheckClosing(s.free); err != nil {
		return fmt.Errorf("close telemetry spool: %w", err)
	}
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("close telemetry spool: %w", err)
	}
	return nil
}
