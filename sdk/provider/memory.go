package provider

import (
	"reflect"
	"unsafe"
)

// The package's unsafe code stands here and in memory_wasip1.go. A state is
// read and written as its bytes, which is sound for types without pointers
// alone; [hasPointers] is asked first.

// bytesOf returns the memory of *s.
func bytesOf[S any](s *S) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(s)), unsafe.Sizeof(*s))
}

// hasPointers reports whether values of type S hold pointers.
func hasPointers[S any]() bool { return typeHasPointers(reflect.TypeFor[S]()) }

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
