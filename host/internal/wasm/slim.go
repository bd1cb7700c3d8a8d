package wasm

import (
	"os"
	"reflect"
	"unsafe"

	"github.com/tetratelabs/wazero/api"
)

// slim lets go of what wazero keeps of a compiled module and has no more use
// for: the bodies of its functions, and the machine code in memory of its own,
// of which a guest mostly runs a tenth. The code goes into a file, which is
// mapped over the place where it lies.
//
// wazero offers neither, so both are found by the names that its fields have.
// Where a version has other names, and where the system does not let a file be
// run, everything stays as it was; TestSlim tells.
func (m *Module) slim(instance api.Module) {
	of := reflect.ValueOf(instance)
	if functions := field(of, "Source", "CodeSection"); functions.Kind() == reflect.Slice {
		for i := range functions.Len() {
			if body := field(functions.Index(i), "Body"); body.CanSet() {
				body.SetZero()
			}
		}
	}
	in := field(of, "Engine", "parent", "executables", "executable")
	if in.Kind() != reflect.Slice || in.Type().Elem().Kind() != reflect.Uint8 || in.Len() == 0 || uintptr(in.UnsafePointer())%uintptr(os.Getpagesize()) != 0 {
		return
	}
	code := unsafe.Slice((*byte)(in.UnsafePointer()), in.Len())
	f, err := m.runtime.hold(code)
	if err != nil {
		return
	}
	defer f.Close() // the mapping stays
	// The same bytes at the same place, in one step: a call under way beside
	// this one does not notice.
	if err := mapOver(code, f, true); err == nil {
		m.code.Store(&code)
	}
}

// field follows names from v through pointers and interfaces; the zero value
// where there is no such way.
func field(v reflect.Value, names ...string) reflect.Value {
	for _, name := range names {
		for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		if v.Kind() != reflect.Struct {
			return reflect.Value{}
		}
		v = v.FieldByName(name)
	}
	return v
}
