// Package rawjson reads and edits JSON as it stands, for guests.
//
// A [Value] is the bytes of one JSON value inside its document. Nothing is
// copied or built up: looking up a member walks the bytes. That suits what
// providers do, which is to pick a few members out of a small event, or to
// change two members of a request and hand on the rest to the byte. It needs
// neither reflection nor fmt, which keep a module large and slow.
//
// [Parse] checks a whole document once; every other function relies on that
// and never fails. Bytes that were not checked must not be made into a Value.
package rawjson

import (
	"bytes"
	"strconv"
)

// A Value is one JSON value of a checked document, without space around it.
// The empty Value stands for one that is absent.
type Value []byte

// The kinds of [Value.Kind].
const (
	Absent = byte(0)
	Null   = byte('n')
	True   = byte('t')
	False  = byte('f')
	Number = byte('0')
	String = byte('"')
	Array  = byte('[')
	Object = byte('{')
)

// Kind says what v is.
func (v Value) Kind() byte {
	switch {
	case len(v) == 0:
		return Absent
	case v[0] <= '9' && v[0] != '"': // a digit or a minus
		return Number
	}
	return v[0]
}

// IsNull reports whether v is null or absent.
func (v Value) IsNull() bool { return len(v) == 0 || v[0] == Null }

// Get returns the first member of v called key, and the empty Value where v is
// no object or has none.
func (v Value) Get(key string) Value {
	for m := v.Members(); m.Next(); {
		if m.KeyIs(key) {
			return m.Value
		}
	}
	return nil
}

// Pick looks up all of keys in one walk: into[i] becomes what Get returns for
// keys[i].
func (v Value) Pick(into []Value, keys ...string) {
	clear(into)
	for m := v.Members(); m.Next(); {
		for i, key := range keys {
			if m.KeyIs(key) {
				if len(into[i]) == 0 {
					into[i] = m.Value
				}
				break
			}
		}
	}
}

// Path looks up keys one inside the other.
func (v Value) Path(keys ...string) Value {
	for _, k := range keys {
		v = v.Get(k)
	}
	return v
}

// Int returns v where it is a whole number that fits, or a string that holds
// one.
func (v Value) Int() (n int64, ok bool) {
	if v.Kind() == String {
		v = v[1 : len(v)-1]
	}
	// Most are a few digits, or the text of a code: neither needs a parser, nor
	// the error that one would make.
	const fits = 18
	for i, c := range v {
		switch {
		case c >= '0' && c <= '9' && i < fits:
			n = n*10 + int64(c-'0')
		case c > '9' && i == 0:
			return 0, false
		default:
			return v.parseInt()
		}
	}
	return n, len(v) > 0
}

// parseInt is Int for numbers that are long, or more than digits.
func (v Value) parseInt() (n int64, ok bool) {
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || f != float64(int64(f)) {
		return 0, false
	}
	return int64(f), true
}

// Text returns the text of a string: a part of v where it has no escapes, else
// memory of its own. It is read only. ok is false where v is no string.
func (v Value) Text() (text []byte, ok bool) {
	if v.Kind() != String {
		return nil, false
	}
	v = v[1 : len(v)-1]
	if bytes.IndexByte(v, '\\') < 0 {
		return v, true
	}
	return AppendUnescaped(nil, v), true
}

// AppendText appends the text of a string to dst. ok is false where v is no
// string, and dst as it was. The result is never a part of v, so it can be
// written over:
//
//	p.scratch, ok = v.AppendText(p.scratch[:0])
func (v Value) AppendText(dst []byte) (b []byte, ok bool) {
	if v.Kind() != String {
		return dst, false
	}
	return AppendUnescaped(dst, v[1:len(v)-1]), true
}

// Is reports whether v is the string text. It makes no string to compare.
func (v Value) Is(text string) bool {
	return v.Kind() == String && equalsText(v[1:len(v)-1], text)
}

// equalsText reports whether a string, given as it stands between its quotes, reads
// text.
func equalsText(s []byte, text string) bool {
	return string(s) == text || bytes.IndexByte(s, '\\') >= 0 && string(AppendUnescaped(nil, s)) == text
}

// String returns the text of a string, and "" where v is none.
func (v Value) String() string {
	text, _ := v.Text()
	return string(text)
}

// Members walks the members of an object:
//
//	for m := v.Members(); m.Next(); {
//		… m.Key, m.Value …
//	}
type Members struct {
	Key   []byte // as it stands between its quotes; see [Members.KeyIs]
	Value Value
	doc   Value
	at    int // in doc, behind the member before
}

// Members returns a walk over v's members, an empty one where v is not an object.
func (v Value) Members() Members {
	if v.Kind() != Object {
		return Members{}
	}
	return Members{doc: v, at: 1}
}

// Next goes to the next member and reports whether there is one.
func (m *Members) Next() bool {
	i, ok := nextItem(m.doc, m.at)
	if !ok {
		return false
	}
	end := stringEnd(m.doc, i)
	m.Key = m.doc[i+1 : end-1]
	i = crossSpace(m.doc, crossSpace(m.doc, end)+1) // behind the colon
	m.at = valueEnd(m.doc, i)
	m.Value = m.doc[i:m.at]
	return true
}

// nextItem returns where in a container the member or item begins that follows
// doc[i]; ok is false where there is none.
func nextItem(doc Value, i int) (at int, ok bool) {
	if i = crossSpace(doc, i); i < len(doc) && doc[i] == ',' {
		i = crossSpace(doc, i+1)
	}
	return i, i < len(doc)-1 // the last byte closes the container
}

// KeyIs reports whether the member is called key.
func (m *Members) KeyIs(key string) bool { return equalsText(m.Key, key) }

// Items walks the items of an array as [Members] does those of an object.
type Items struct {
	Value Value
	doc   Value
	at    int // in doc, behind the item before
}

// Items returns a walk over v's items, an empty one where v is no array.
func (v Value) Items() Items {
	if v.Kind() != Array {
		return Items{}
	}
	return Items{doc: v, at: 1}
}

// Next goes to the next item and reports whether there is one.
func (it *Items) Next() bool {
	i, ok := nextItem(it.doc, it.at)
	if !ok {
		return false
	}
	it.at = valueEnd(it.doc, i)
	it.Value = it.doc[i:it.at]
	return true
}

// Len counts the members of an object or the items of an array.
func (v Value) Len() (n int) {
	switch v.Kind() {
	case Object:
		for m := v.Members(); m.Next(); {
			n++
		}
	case Array:
		for it := v.Items(); it.Next(); {
			n++
		}
	}
	return n
}

// Empty reports whether v holds nothing: an object without a member, an array
// without an item, or what is neither.
func (v Value) Empty() bool {
	if k := v.Kind(); k != Object && k != Array {
		return true
	}
	_, ok := nextItem(v, 1)
	return !ok
}

// Offset says where in doc the value v of doc begins. Both must be uncut
// slices of one array, as all Values of one document are.
func Offset(doc []byte, v Value) int { return cap(doc) - cap(v) }
