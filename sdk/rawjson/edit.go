package rawjson

import (
	"bytes"
	"slices"

	"github.com/parley-search/parley/sdk/internal/guestmem"
)

// A Member is a member of an object under edit. As its value, its key may be a
// part of the document: it is good as long as the document's bytes are.
type Member struct {
	Key   string
	Value Value
}

// An Edit is an object whose members can be set and dropped. What is not
// touched comes out as it went in, byte by byte and in the same order.
//
// Its methods are not inlined: in a guest a loop costs by the function that it
// stands in.
type Edit []Member

// EditOf takes v's members; v may be absent, which is an empty object.
func EditOf(v Value) Edit {
	if v.Kind() != Object {
		return nil
	}
	return AppendMembers(make(Edit, 0, 12), v) // most requests have fewer, and growing is dear
}

// AppendMembers appends v's members to e, for callers that have memory to use
// again.
func AppendMembers(e Edit, v Value) Edit {
	for m := v.Members(); m.Next(); {
		key := m.Key
		if bytes.IndexByte(key, '\\') >= 0 {
			key = AppendUnescaped(nil, key)
		}
		e = append(e, Member{guestmem.StringOf(key), m.Value})
	}
	return e
}

// Get returns the member called key, the empty Value where there is none.
func (e Edit) Get(key string) Value {
	if i := e.index(key); i >= 0 {
		return e[i].Value
	}
	return nil
}

// Set gives the member called key a value; a new one goes to the end.
func (e *Edit) Set(key string, v Value) {
	if i := e.index(key); i >= 0 {
		(*e)[i].Value = v
		return
	}
	*e = append(*e, Member{key, v})
}

// Drop leaves out the members called keys.
func (e *Edit) Drop(keys ...string) {
	for _, key := range keys {
		if e.index(key) >= 0 {
			*e = slices.DeleteFunc(*e, func(m Member) bool { return m.Key == key })
		}
	}
}

// index returns where the first member called key stands, -1 where there is
// none.
//
//go:noinline
func (e Edit) index(key string) int {
	for i := range e {
		if e[i].Key == key {
			return i
		}
	}
	return -1
}

// Rename gives the member called from another name, unless to exists; then
// from is dropped.
func (e *Edit) Rename(from, to string) {
	if v := e.Get(from); len(v) > 0 {
		if len(e.Get(to)) == 0 {
			e.Set(to, v)
		}
		e.Drop(from)
	}
}

// Value returns the object, without the members that have no value.
func (e Edit) Value() Value {
	size := 2
	for i := range e {
		size += len(e[i].Key) + len(e[i].Value) + 4
	}
	return e.Append(make([]byte, 0, size))
}

// Append appends what [Edit.Value] returns to b.
func (e Edit) Append(b []byte) []byte {
	b = append(b, '{')
	between := ""
	for i := range e {
		m := &e[i]
		if len(m.Value) == 0 {
			continue
		}
		b = append(AppendString(append(b, between...), m.Key), ':')
		b = append(b, m.Value...)
		between = ","
	}
	return append(b, '}')
}

// With returns e with a member more, for an object in one expression:
// rawjson.Edit{}.With("text", rawjson.Quote(text)).Value().
func (e Edit) With(key string, v Value) Edit {
	e.Set(key, v)
	return e
}

// ListOf returns an array of items, but for those that have no value.
func ListOf(items ...Value) Value {
	b := Value{'['}
	for _, v := range items {
		if len(v) == 0 {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(b, v...)
	}
	return append(b, ']')
}
