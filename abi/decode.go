package abi

import "encoding/binary"

// Flags of a decode call.
const (
	FlagFirst     = 1 << 0 // first call of the response
	FlagLast      = 1 << 1 // the response has ended: flush what is held back
	FlagCancelled = 1 << 2 // ended by the client or by a fault, not by the provider; no host sets it yet
	FlagPatterns  = 1 << 3 // the host takes a [RecordPattern]
)

// An Event is one framed event of a response: an SSE event's type and data, or
// one JSON value (type empty).
type Event struct {
	Type string
	Data []byte
}

// AppendDecodeInput appends the input of a decode call to b, all numbers little-endian:
//
//	u32 len, state | u8 flags, 3 zero bytes | u32 count | count × (u32 len, type | u32 len, data)
func AppendDecodeInput(b, state []byte, flags byte, events []Event) []byte {
	b = appendBytes(b, state)
	b = append(b, flags, 0, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(events)))
	for _, e := range events {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(e.Type)))
		b = append(b, e.Type...)
		b = appendBytes(b, e.Data)
	}
	return b
}

// DecodeInput is a decode call's input, read in place: its slices are parts of
// what it was parsed from.
type DecodeInput struct {
	State []byte
	Flags byte
	rest  []byte
	left  uint32
}

// ParseDecodeInput reads the head of b; [DecodeInput.Next] reads the events.
func ParseDecodeInput(b []byte) (DecodeInput, error) {
	var in DecodeInput
	var ok bool
	if in.State, b, ok = cutBytes(b); !ok || len(b) < 8 {
		return in, ErrMalformed
	}
	in.Flags, in.left, in.rest = b[0], binary.LittleEndian.Uint32(b[4:]), b[8:]
	return in, nil
}

// Next returns the next event; ok is false after the last one or where the
// input ends early.
func (in *DecodeInput) Next() (typ, data []byte, ok bool) {
	if in.left == 0 {
		return nil, nil, false
	}
	in.left--
	if typ, in.rest, ok = cutBytes(in.rest); !ok {
		return nil, nil, false
	}
	data, in.rest, ok = cutBytes(in.rest)
	return typ, data, ok
}

// DecodeOutput cuts a decode call's output in two: the new state (u32 len,
// bytes) and the records after it.
func DecodeOutput(b []byte) (state, records []byte, err error) {
	state, records, ok := cutBytes(b)
	if !ok || len(state) > MaxState {
		return nil, nil, ErrMalformed
	}
	return state, records, nil
}

func appendBytes(b, v []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(v))), v...)
}

func cutBytes(b []byte) (v, rest []byte, ok bool) {
	if len(b) < 4 {
		return nil, nil, false
	}
	n := binary.LittleEndian.Uint32(b)
	if uint64(n) > uint64(len(b)-4) {
		return nil, nil, false
	}
	return b[4 : 4+n : 4+n], b[4+n:], true
}
