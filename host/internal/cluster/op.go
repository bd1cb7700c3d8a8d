package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// An OpKind says what an [Op] does.
type OpKind byte

const (
	// OpSet sets a key to a value.
	OpSet OpKind = 1
	// OpDelete deletes a key.
	OpDelete OpKind = 2
	// OpDeletePrefix deletes all keys that begin with Key.
	OpDeletePrefix OpKind = 3
	// OpSetUntil sets a key to a value that goes at a time.
	OpSetUntil OpKind = 4
)

// An Op changes one key of the database, or deletes all that begin with one. In
// a record it is
//
//	u8 kind | uvarint length, key | uvarint length, value (set) | uvarint until (set until)
type Op struct {
	Kind  OpKind
	Key   []byte
	Value []byte // of OpSet and OpSetUntil
	Until uint64 // of OpSetUntil: seconds of Unix time
}

// What one transaction may hold. A transaction that is in the log must fit into
// one of the database of every node, beside the position, whatever memory the
// node has: so these numbers are part of the format. Badger's own bounds follow
// from its memtable and are above them, see package store.
const (
	// MaxOps is how many operations a transaction has at most.
	MaxOps = 5000
	// MaxBytes bounds the sum of [Op.Cost].
	MaxBytes = 560 << 10
	// MaxData bounds the encoded operations, which a node that reads them in
	// parts keeps in memory: the largest plugin, with what stands around it.
	MaxData = 65 << 20

	// largeValue is a size from which Badger keeps a value in its value log for
	// sure, where it does not count. See package store for the exact one.
	largeValue = 256 << 10
)

// ErrTooLarge is the error of a transaction that no record may hold.
var ErrTooLarge = errors.New("too much for one transaction of the log")

// Cost is what the operation counts towards [MaxBytes].
func (o *Op) Cost() int {
	n := len(o.Key) + 100
	if len(o.Value) < largeValue {
		n += len(o.Value)
	}
	return n
}

func (o *Op) sets() bool { return o.Kind == OpSet || o.Kind == OpSetUntil }

// encodeOps returns the data of a transaction. The error is [ErrTooLarge].
func encodeOps(ops []Op) ([]byte, error) {
	cost, size := 0, 0
	for i := range ops {
		o := &ops[i]
		cost += o.Cost()
		size += 1 + 3*binary.MaxVarintLen64 + len(o.Key) + len(o.Value)
	}
	if len(ops) > MaxOps || cost > MaxBytes || size > MaxData {
		return nil, fmt.Errorf("%w: %d operations, %d bytes", ErrTooLarge, len(ops), size)
	}
	b := make([]byte, 0, size)
	for i := range ops {
		o := &ops[i]
		b = append(b, byte(o.Kind))
		b = append(binary.AppendUvarint(b, uint64(len(o.Key))), o.Key...)
		if o.sets() {
			b = append(binary.AppendUvarint(b, uint64(len(o.Value))), o.Value...)
		}
		if o.Kind == OpSetUntil {
			b = binary.AppendUvarint(b, o.Until)
		}
	}
	return b, nil
}

// decodeOps reads the data of a transaction. Keys and values are parts of b.
// The error is [ErrDamaged]: the checksum held, and still nobody can apply it.
func decodeOps(b []byte) (ops []Op, err error) {
	number := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			err = fmt.Errorf("%w: operation %d: no number", ErrDamaged, len(ops))
			return 0
		}
		b = b[n:]
		return v
	}
	field := func() []byte {
		n := number()
		if n > uint64(len(b)) && err == nil {
			err = fmt.Errorf("%w: operation %d: a field of %d bytes, of which there are %d", ErrDamaged, len(ops), n, len(b))
		}
		if err != nil {
			return nil
		}
		f := b[:n:n]
		b = b[n:]
		return f
	}
	for len(b) > 0 {
		o := Op{Kind: OpKind(b[0])}
		if o.Kind < OpSet || o.Kind > OpSetUntil {
			return nil, fmt.Errorf("%w: operation %d: kind %d, which format %d does not have", ErrDamaged, len(ops), o.Kind, Format)
		}
		b = b[1:]
		o.Key = field()
		if o.sets() {
			o.Value = field()
		}
		if o.Kind == OpSetUntil {
			if o.Until = number(); o.Until > math.MaxInt64 && err == nil {
				err = fmt.Errorf("%w: operation %d: until %d", ErrDamaged, len(ops), o.Until)
			}
		}
		if err != nil {
			return nil, err
		}
		ops = append(ops, o)
	}
	return ops, nil
}
