package event

import (
	"encoding/binary"
	"errors"
	"unsafe"
)

// ErrMalformed says that bytes are no records.
var ErrMalformed = errors.New("malformed event record")

// A record: u16 kind, u16 fields, u32 0, then fields × u64. All numbers are
// little-endian, as the processors are for which a host is built; there a
// record's fields are the event's memory.

// HeadSize is the size of a record without its fields, in bytes.
const HeadSize = 8

// Size returns the size of E's record, in bytes.
func Size[E Type]() int {
	var e E
	return HeadSize + int(unsafe.Sizeof(e))
}

// Append appends the record of e to b.
func Append[E Type](b []byte, e *E) []byte {
	fields := memoryOf(e)
	b = binary.LittleEndian.AppendUint16(b, uint16(KindFor[E]()))
	b = binary.LittleEndian.AppendUint16(b, uint16(len(fields)/8))
	b = append(b, 0, 0, 0, 0)
	return append(b, fields...)
}

// A Record is one event, read in place.
type Record struct {
	Kind   Kind
	Fields []byte // a multiple of 8
}

// Next cuts the first record off b. ok is false at the end of b; b that does
// not begin with a whole record is [ErrMalformed].
func Next(b []byte) (r Record, rest []byte, ok bool, err error) {
	if len(b) == 0 {
		return r, nil, false, nil
	}
	if len(b) < HeadSize {
		return r, nil, false, ErrMalformed
	}
	end := HeadSize + 8*int(binary.LittleEndian.Uint16(b[2:]))
	if len(b) < end {
		return r, nil, false, ErrMalformed
	}
	return Record{Kind(binary.LittleEndian.Uint16(b)), b[HeadSize:end:end]}, b[end:], true, nil
}

// Read copies r into e, whose kind it must be; ok is false where it is
// another. Fields that r lacks are zero, those that E lacks are skipped.
func Read[E Type](r Record, e *E) (ok bool) {
	if r.Kind != KindFor[E]() {
		return false
	}
	m := memoryOf(e)
	clear(m[copy(m, r.Fields):])
	return true
}

// View returns r, whose kind must be that of E, without copying, where it has
// all of E's fields and lies in memory as E must; otherwise nil. The event is
// r's bytes and is good as long as they are. It does not ask for the kind,
// since whoever has many events to look at has asked already.
func View[E Type](r Record) *E {
	var e E
	if uintptr(len(r.Fields)) < unsafe.Sizeof(e) {
		return nil
	}
	p := unsafe.Pointer(unsafe.SliceData(r.Fields))
	if uintptr(p)%unsafe.Alignof(e) != 0 {
		return nil
	}
	return (*E)(p)
}

// Whole reports whether [View] gives r as the event that its kind says. What is
// of a kind that this version does not have is whole.
func Whole(r Record) bool {
	if int(r.Kind) >= len(sizes) {
		return true
	}
	return uintptr(len(r.Fields)) >= sizes[r.Kind] && uintptr(unsafe.Pointer(unsafe.SliceData(r.Fields)))%8 == 0
}

// Fill returns a copy of r that is whole: fields that it lacks, since it comes
// from an older host, are zero.
func Fill(r Record) Record {
	size := len(r.Fields)
	if int(r.Kind) < len(sizes) {
		size = max(size, int(sizes[r.Kind]))
	}
	words := make([]uint64, size/8)
	fields := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), size)
	copy(fields, r.Fields)
	return Record{r.Kind, fields}
}

// memoryOf returns the bytes of *e. Every event is made of 64-bit words alone; a
// test holds the catalogue to it.
func memoryOf[E Type](e *E) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(e)), unsafe.Sizeof(*e))
}
