package store

import (
	"encoding/binary"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/dgraph-io/badger/v4"

	"github.com/parley-search/parley/host/internal/task"
)

// The kinds of records that have traits.
const (
	kindTask  = "t"
	kindBatch = "b"
)

// The traits that records are found by.
const (
	traitStatus     = "s"
	traitType       = "y"
	traitIndex      = "i"
	traitCanceledBy = "c"
)

// The dates that records are found by.
const (
	dateEnqueued = "e"
	dateStarted  = "s"
	dateFinished = "f"
)

// Traits are all that a record is found by: a trait with its value ("sfailed"),
// and dates.
type traits struct {
	values map[string]bool
	dates  map[string]bool // a date with its time in 8 bytes
}

func newTraits() traits { return traits{map[string]bool{}, map[string]bool{}} }

func (t traits) date(name string, at time.Time) {
	if !at.IsZero() {
		t.dates[name+string(encodeTime(at))] = true
	}
}

// encodeTime is at as a part of a key.
func encodeTime(at time.Time) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(at.UnixNano()))
}

func taskTraits(t *task.Task) traits {
	tr := newTraits()
	tr.values[traitStatus+string(t.Status)] = true
	tr.values[traitType+string(t.Type)] = true
	for _, uid := range t.Concerns() {
		tr.values[traitIndex+uid] = true
	}
	if t.CanceledBy != nil {
		tr.values[traitCanceledBy+decimal(*t.CanceledBy)] = true
	}
	tr.date(dateEnqueued, t.EnqueuedAt)
	tr.date(dateStarted, t.StartedAt)
	tr.date(dateFinished, t.FinishedAt)
	return tr
}

// batchTraits are those of all tasks of b.
func batchTraits(b *task.Batch) traits {
	tr := newTraits()
	for s := range b.Statuses {
		tr.values[traitStatus+string(s)] = true
	}
	for t := range b.Types {
		tr.values[traitType+string(t)] = true
	}
	for uid := range b.Indexes {
		tr.values[traitIndex+uid] = true
	}
	for _, uid := range b.CanceledBy {
		tr.values[traitCanceledBy+decimal(uid)] = true
	}
	tr.date(dateEnqueued, b.Oldest)
	tr.date(dateEnqueued, b.Newest)
	tr.date(dateStarted, b.StartedAt)
	tr.date(dateFinished, b.FinishedAt)
	return tr
}

func decimal(uid uint32) string { return strconv.FormatUint(uint64(uid), 10) }

// A traitsChange gathers what changes in one transaction, so that each bitmap is
// written once.
type traitsChange struct {
	tx      txn
	kind    string
	bitmaps map[string]*roaring.Bitmap // by key
}

func newTraitsChange(tx txn, kind string) *traitsChange {
	return &traitsChange{tx, kind, map[string]*roaring.Bitmap{}}
}

// replace gives the record uid the traits now in place of before.
func (c *traitsChange) replace(uid uint32, before, now traits) error {
	for v := range before.values {
		if now.values[v] {
			continue
		}
		b, err := c.bitmap(v, uid)
		if err != nil {
			return err
		}
		b.Remove(uid & 0xffff)
	}
	for v := range now.values {
		if before.values[v] {
			continue
		}
		b, err := c.bitmap(v, uid)
		if err != nil {
			return err
		}
		b.Add(uid & 0xffff)
	}
	for d := range before.dates {
		if !now.dates[d] {
			if err := c.tx.Delete(numbered(prefixDate+c.kind+d, uid)); err != nil {
				return err
			}
		}
	}
	for d := range now.dates {
		if !before.dates[d] {
			if err := c.tx.Set(numbered(prefixDate+c.kind+d, uid), nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// bitmap returns the one that has uid, to be changed.
func (c *traitsChange) bitmap(value string, uid uint32) (*roaring.Bitmap, error) {
	key := string(binary.BigEndian.AppendUint16([]byte(prefixTrait+c.kind+value+"/"), uint16(uid>>16)))
	if b, ok := c.bitmaps[key]; ok {
		return b, nil
	}
	b := roaring.New()
	v, err := get(c.tx, []byte(key))
	if err == nil {
		err = b.UnmarshalBinary(v)
	}
	if err != nil && !errors.Is(err, badger.ErrKeyNotFound) {
		return nil, err
	}
	c.bitmaps[key] = b
	return b, nil
}

// write writes the bitmaps.
func (c *traitsChange) write() error {
	for key, b := range c.bitmaps {
		if b.IsEmpty() {
			if err := c.tx.Delete([]byte(key)); err != nil {
				return err
			}
			continue
		}
		b.RunOptimize()
		v, err := b.MarshalBinary()
		if err != nil {
			return err
		}
		if err := c.tx.Set([]byte(key), v); err != nil {
			return err
		}
	}
	return nil
}

// having returns the records that have one of the values of a trait.
func having(tx reader, kind, trait string, values ...string) (*roaring.Bitmap, error) {
	out := roaring.New()
	for _, value := range values {
		prefix := []byte(prefixTrait + kind + trait + value + "/")
		err := scan(tx, prefix, func(k, v []byte) (bool, error) {
			if len(k) != len(prefix)+2 {
				return true, nil // of a longer value that has a slash
			}
			part := roaring.New()
			if err := part.UnmarshalBinary(v); err != nil {
				return false, err
			}
			upper := uint32(binary.BigEndian.Uint16(k[len(prefix):])) << 16
			out.Or(roaring.AddOffset(part, upper))
			return true, nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// values lists the values that records have of a trait.
func values(tx reader, kind, trait string) (list []string, err error) {
	prefix := prefixTrait + kind + trait
	o := badger.DefaultIteratorOptions
	o.Prefix, o.PrefetchValues = []byte(prefix), false
	it := tx.NewIterator(o)
	defer it.Close()
	for it.Rewind(); it.Valid(); {
		value, _, _ := strings.Cut(string(it.Item().Key()[len(prefix):]), "/")
		list = append(list, value)
		it.Seek([]byte(prefix + value + "0")) // the character behind the slash
	}
	return list, nil
}

// between returns the records of which a date lies in a span.
func between(tx reader, kind, date string, span task.Span) (*roaring.Bitmap, error) {
	out := roaring.New()
	prefix := prefixDate + kind + date
	o := badger.DefaultIteratorOptions
	o.Prefix, o.PrefetchValues = []byte(prefix), false
	it := tx.NewIterator(o)
	defer it.Close()
	start := []byte(prefix)
	if !span.After.IsZero() {
		start = append(start, encodeTime(span.After.Add(1))...)
	}
	for it.Seek(start); it.Valid(); it.Next() {
		k := it.Item().Key()[len(prefix):]
		if !span.Before.IsZero() && string(k[:8]) >= string(encodeTime(span.Before)) {
			break
		}
		out.Add(binary.BigEndian.Uint32(k[8:]))
	}
	return out, nil
}
