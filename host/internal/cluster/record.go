package cluster

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
)

// Format is the highest number of a record format that this build reads and
// writes. A node halts before a record of a higher one. A new field, a new kind
// or a new operation needs a new format, and a build writes that of the log, see
// [Position.Format]: so nodes of two builds share a log until an operator raises it
// by [Node.Raise].
//
// Format 2 has a code in each record, by which nodes know what a node of their cluster
// wrote. In a log of format 2, what has none is void.
const Format = 2

// formatSigned is the first format whose records have a code.
const formatSigned = 2

// A Kind says what a [Record] is for.
type Kind byte

const (
	// KindTxn is a transaction, or its last part.
	KindTxn Kind = 1
	// KindMore is a part of a transaction that more parts follow.
	KindMore Kind = 2
	// KindClaim begins a term. Its data is a [Claim] as JSON.
	KindClaim Kind = 3
)

// A Record is one message of the log:
//
//	u8 format | u8 kind | u64 log | u64 term | u64 n | u64 part | u64 prev | u64 chain | data | code | u32 checksum
//
// Numbers are big-endian. The checksum is CRC-32C of all bytes before it. From format 2
// on there is a code, of 16 bytes: that of all bytes before it under the [Key] of the
// cluster. The fields before data, the code and the checksum have the same place in every
// format, so that all nodes agree on which records are void.
type Record struct {
	Format byte
	Kind   Kind
	Log    uint64 // drawn at random by the first claim: a stream that was made again is another log
	Term   uint64 // of the leader that wrote it; a claim has the term that it begins
	N      uint64 // of the transaction within its term, from 1; 0 in a claim
	Part   uint64 // of the record within its transaction, from 0
	Prev   uint64 // sequence of the message right before it in the stream
	Chain  uint64 // sum over all records before it that are not void, see [sum]
	Data   []byte
}

// Signed reports whether the record has a code.
func (r *Record) Signed() bool { return r.Format >= formatSigned }

// A Claim says who leads the term that it begins. One with an empty ID resigns:
// nobody leads that term.
type Claim struct {
	ID      string `json:"id,omitempty"`
	URL     string `json:"url,omitempty"`     // where others send writes
	Version string `json:"version,omitempty"` // of the build
	Format  int    `json:"format,omitempty"`  // of the records from this one on; 0: 1
}

const (
	headLen = 2 + 6*8
	sumLen  = 4
)

// partBytes bounds the data of one record. A NATS server takes messages up to
// 1 MiB by default.
const partBytes = 512 << 10

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrDamaged is in the error of a record that is not what its writer wrote.
var ErrDamaged = errors.New("damaged record")

// Encode returns the record as a message of a cluster with the key k.
func (r *Record) Encode(k Key) []byte {
	b := make([]byte, 0, headLen+len(r.Data)+macLen+sumLen)
	b = append(b, r.Format, byte(r.Kind))
	for _, v := range [...]uint64{r.Log, r.Term, r.N, r.Part, r.Prev, r.Chain} {
		b = binary.BigEndian.AppendUint64(b, v)
	}
	b = append(b, r.Data...)
	if r.Signed() {
		b = append(b, k.MAC(macRecord, b)...)
	}
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// DecodeRecord reads a message of a cluster with the key k. Data is part of b. The error
// is [ErrDamaged] or [ErrUnverified]. A record of a higher format is not an error here,
// since it may be void.
func DecodeRecord(b []byte, k Key) (r Record, err error) {
	if len(b) < headLen+sumLen {
		return r, fmt.Errorf("%w: %d bytes, a record has %d or more", ErrDamaged, len(b), headLen+sumLen)
	}
	body := b[:len(b)-sumLen]
	if got, want := crc32.Checksum(body, castagnoli), checksum(b); got != want {
		return r, fmt.Errorf("%w: its checksum is %08x, its bytes have %08x", ErrDamaged, want, got)
	}
	if b[0] >= formatSigned {
		at := len(body) - macLen
		if at < headLen || !k.Verify(body[at:], macRecord, body[:at]) {
			return r, fmt.Errorf("%w: its code is not that of its bytes", ErrUnverified)
		}
		body = body[:at]
	}
	field := func(i int) uint64 { return binary.BigEndian.Uint64(b[2+8*i:]) }
	return Record{b[0], Kind(b[1]), field(0), field(1), field(2), field(3), field(4), field(5), body[headLen:]}, nil
}

// checksum returns the last field of an encoded record.
func checksum(b []byte) uint32 {
	if len(b) < sumLen {
		return 0 // it is none
	}
	return binary.BigEndian.Uint32(b[len(b)-sumLen:])
}

// sum returns the chain after the encoded record b: FNV-1a over the chain
// before, the head and the checksum of b. It finds replicas that disagree; against
// forgery there is the code.
func sum(before uint64, b []byte) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for i := range 8 {
		h = (h ^ (before >> (56 - 8*i) & 0xff)) * prime
	}
	for _, c := range b[:headLen] {
		h = (h ^ uint64(c)) * prime
	}
	for _, c := range b[len(b)-sumLen:] {
		h = (h ^ uint64(c)) * prime
	}
	return h
}

func decodeClaim(data []byte) (c Claim, err error) {
	if err := json.Unmarshal(data, &c); err != nil {
		return c, fmt.Errorf("%w: claim: %w", ErrDamaged, err)
	}
	return c, nil
}
