// Package guestmem holds what the SDKs share of a guest's memory: the unsafe code that
// reads and writes a value without pointers as its bytes, and the spans between host and
// exports.
package guestmem

import (
	"reflect"
	"unsafe"
)

// BytesOf returns the memory of *v. It is sound for types without pointers
// alone; ask [HasPointers] first.
func BytesOf[S any](v *S) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v))
}

// StringOf returns b as a string, without a copy: it is sound as long as nobody
// writes to b.
func StringOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// HasPointers reports whether values of type S hold pointers.
func HasPointers[S any]() bool { return typeHasPointers(reflect.TypeFor[S]()) }

func typeHasPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return t.Len() > 0 && typeHasPointers(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if typeHasPointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	case reflect.Chan, reflect.Func, reflect.Interface, reflect.Map, reflect.Pointer,
		reflect.Slice, reflect.String, reflect.UnsafePointer:
		return true
	}
	return false
}
