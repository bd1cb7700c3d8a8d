package outbox

import (
	"encoding/binary"
	"encoding/json"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-search/parley/host/internal/telemetry"
)

// spooled is a message as it is kept.
type spooled struct {
	telemetry.Message
	Sealed time.Time
	Until  time.Time // of a message in quarantine: when it is dropped
}

// A shelf is the values below one prefix of a spool, numbered as they come,
// with what has to be known of each without reading it.
type shelf struct {
	prefix  string
	entries []entry // in the order of their numbers
	next    uint64  // number of the next one
	bytes   int64   // of the messages' bodies
}

type entry struct {
	number uint64
	id     string
	window uint64
	size   int64
	sealed time.Time
	until  time.Time
}

func (f *shelf) key(number uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte(f.prefix), number)
}

// read finds what lies on f; what has the number end or more does not count.
func (f *shelf) read(txn *badger.Txn, end uint64) error {
	it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte(f.prefix), PrefetchValues: true, PrefetchSize: 10})
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		number := binary.BigEndian.Uint64(it.Item().Key()[len(f.prefix):])
		if number >= end {
			break
		}
		var m spooled
		if err := it.Item().Value(func(b []byte) error { return json.Unmarshal(b, &m) }); err != nil {
			return err
		}
		f.next = number
		f.add([]spooled{m})
	}
	return nil
}

// lay writes messages under the numbers to come.
func (f *shelf) lay(batch *badger.WriteBatch, all []spooled) error {
	for i := range all {
		b, err := json.Marshal(&all[i])
		if err != nil {
			return err
		}
		if err := batch.Set(f.key(f.next+uint64(i)), b); err != nil {
			return err
		}
	}
	return nil
}

// add makes known what was written.
func (f *shelf) add(all []spooled) {
	for _, m := range all {
		f.entries = append(f.entries, entry{f.next, m.ID, m.Window, int64(len(m.Body)), m.Sealed, m.Until})
		f.bytes += int64(len(m.Body))
		f.next++
	}
}

// delete removes entries; [shelf.forget] is to follow.
func (f *shelf) delete(txn *badger.Txn, gone []entry) error {
	for _, e := range gone {
		if err := txn.Delete(f.key(e.number)); err != nil {
			return err
		}
	}
	return nil
}

// forget takes entries out of what is known.
func (f *shelf) forget(gone []entry) {
	f.entries = slices.DeleteFunc(f.entries, func(e entry) bool {
		if slices.ContainsFunc(gone, func(g entry) bool { return g.number == e.number }) {
			f.bytes -= e.size
			return true
		}
		return false
	})
}

// overdue returns what has to go from a queue to which more comes: the oldest
// while all would be too much, and those that are too old or whose quarantine is
// over.
func (f *shelf) overdue(more []spooled, now time.Time) (gone []entry) {
	size := f.bytes + sizeOfBodies(more)
	for _, e := range f.entries {
		if size > MaxBytes || now.Sub(e.sealed) > MaxAge || !e.until.IsZero() && now.After(e.until) {
			gone = append(gone, e)
			size -= e.size
		}
	}
	return gone
}

// old returns what has to go from the last windows where one more is sealed:
// all of a window goes, or none.
func (f *shelf) old(more []spooled, now time.Time) (gone []entry) {
	if len(more) == 0 {
		return nil
	}
	windows := 1
	for i, e := range f.entries {
		if i == 0 || e.window != f.entries[i-1].window {
			windows++
		}
	}
	size := f.bytes + sizeOfBodies(more)
	for i, e := range f.entries {
		first := i == 0 || e.window != f.entries[i-1].window
		if first && windows <= maxWindows && size <= maxPastBytes && now.Sub(e.sealed) <= MaxAge {
			break
		}
		if first {
			windows--
		}
		gone = append(gone, e)
		size -= e.size
	}
	return gone
}

func sizeOfBodies(all []spooled) (size int64) {
	for _, m := range all {
		size += int64(len(m.Body))
	}
	return size
}

// messages returns the messages of f that want asks for, limit at most.
func (f *shelf) messages(txn *badger.Txn, limit int, want func(entry) bool) (all []spooled, err error) {
	for _, e := range f.entries {
		if len(all) == limit {
			break
		}
		if !want(e) {
			continue
		}
		m, err := f.message(txn, e.number)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

func (f *shelf) message(txn *badger.Txn, number uint64) (m spooled, err error) {
	item, err := txn.Get(f.key(number))
	if err != nil {
		return m, err
	}
	err = item.Value(func(b []byte) error { return json.Unmarshal(b, &m) })
	return m, err
}
