package collector

import (
	"encoding/binary"
	"hash"
	"hash/fnv"
	"reflect"
)

// A saved state: u32 number of the struct's fields, u32 hash of their names and
// forms, then the struct's bytes. A version whose struct begins with the same
// fields can go on with it.
const stateHead = 8

func appendHead[S any](b []byte) []byte {
	t := reflect.TypeFor[S]()
	n := countFields(t)
	b = binary.LittleEndian.AppendUint32(b, uint32(n))
	return binary.LittleEndian.AppendUint32(b, hashLayout(t, n))
}

// countLoadable says how many bytes behind the head of state are the first fields of
// S; ok is false where they are the fields of something else.
func countLoadable[S any](state []byte) (size int, ok bool) {
	if len(state) < stateHead {
		return 0, false
	}
	t := reflect.TypeFor[S]()
	n := int(binary.LittleEndian.Uint32(state))
	if n > countFields(t) || binary.LittleEndian.Uint32(state[4:]) != hashLayout(t, n) {
		return 0, false
	}
	switch {
	case n > 0 && t.Kind() == reflect.Struct:
		last := t.Field(n - 1)
		size = int(last.Offset + last.Type.Size())
	case n > 0:
		size = int(t.Size())
	}
	return size, size <= len(state)-stateHead
}

// countFields returns how many parts t has that a later version may add to.
func countFields(t reflect.Type) int {
	if t.Kind() == reflect.Struct {
		return t.NumField()
	}
	return 1
}

// hashLayout hashes the first n fields of t.
func hashLayout(t reflect.Type, n int) uint32 {
	h := fnv.New32a()
	if t.Kind() != reflect.Struct {
		writeForm(h, t)
		return h.Sum32()
	}
	for i := range n {
		writeField(h, t.Field(i))
	}
	return h.Sum32()
}

func writeField(h hash.Hash32, f reflect.StructField) {
	writeText(h, f.Name)
	writeText(h, " ")
	writeForm(h, f.Type)
}

func writeForm(h hash.Hash32, t reflect.Type) {
	switch t.Kind() {
	case reflect.Struct:
		writeText(h, "{")
		for i := range t.NumField() {
			writeField(h, t.Field(i))
		}
		writeText(h, "}")
	case reflect.Array:
		writeText(h, "[")
		h.Write(binary.LittleEndian.AppendUint32(nil, uint32(t.Len())))
		writeText(h, "]")
		writeForm(h, t.Elem())
	default:
		writeText(h, t.Kind().String())
	}
}

func writeText(h hash.Hash32, s string) { _, _ = h.Write([]byte(s)) } // a hash takes all
