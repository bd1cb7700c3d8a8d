// Package plugin makes provider plugins of WebAssembly modules: it reads and
// checks what a module says of itself, calls it as package chat wishes, keeps
// several versions side by side, and builds and packs new ones.
package plugin

import (
	"errors"
	"fmt"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// MaxModule bounds a plugin's file, in bytes.
const MaxModule = 64 << 20

// ErrExists says that a set holds another plugin of the same name and version.
var ErrExists = errors.New("another plugin of this name and version is loaded")

// An export is what a kind of plugin must offer.
type export struct {
	name, signature string
	optional        bool
}

// exports is what each kind must offer, beside its memory.
var exports = map[string][]export{
	abi.KindProvider: {
		{name: abi.FuncInitialize, signature: "() -> ()", optional: true},
		{name: abi.FuncABI, signature: "() -> i32"},
		{name: abi.FuncInput, signature: "(i32) -> i32"},
		{name: abi.FuncEncode, signature: "(i32) -> i64"},
		{name: abi.FuncDecode, signature: "(i32) -> i64"},
		{name: abi.FuncError, signature: "(i32) -> i64"},
	},
	abi.KindCollector: {
		{name: abi.FuncInitialize, signature: "() -> ()", optional: true},
		{name: abi.FuncABI, signature: "() -> i32"},
		{name: abi.FuncInput, signature: "(i32) -> i32"},
		{name: abi.FuncObserve, signature: "(i32) -> i32"},
		{name: abi.FuncFlush, signature: "(i32) -> i64"},
		{name: abi.FuncSave, signature: "() -> i64", optional: true},
		{name: abi.FuncLoad, signature: "(i32) -> i32", optional: true},
	},
	abi.KindGuard: {
		{name: abi.FuncInitialize, signature: "() -> ()", optional: true},
		{name: abi.FuncABI, signature: "() -> i32"},
		{name: abi.FuncInput, signature: "(i32) -> i32"},
		{name: abi.FuncGuard, signature: "(i32) -> i64"},
	},
}

// CheckForm refuses bytes that are no core module.
func CheckForm(module []byte) error {
	switch {
	case len(module) > MaxModule:
		return fmt.Errorf("the module has %d MiB, and a plugin at most %d", len(module)>>20, MaxModule>>20)
	case abi.IsComponent(module):
		return errors.New("this is a WebAssembly component, and plugins are core modules: build it for a core target (such as wasm32-wasip1), then run `parley plugin pack FILE --manifest manifest.json`")
	case !abi.IsModule(module):
		return fmt.Errorf("this is not a WebAssembly module (it begins with %q): make one with `parley plugin build DIR`", module[:min(len(module), 8)])
	}
	return nil
}

// checkExports refuses a module that lacks what its kind must offer.
func checkExports(s *wasm.Shape, kind string) error {
	for _, e := range exports[kind] {
		switch got, ok := s.Func(e.name); {
		case !ok && !e.optional:
			return fmt.Errorf("it lacks the export %s %s, which a %s must have", e.name, e.signature, kind)
		case ok && got != e.signature:
			return fmt.Errorf("its export %s is %s and must be %s", e.name, got, e.signature)
		}
	}
	_, saves := s.Func(abi.FuncSave)
	_, loads := s.Func(abi.FuncLoad)
	if kind == abi.KindCollector && saves != loads {
		return fmt.Errorf("it has one of the exports %s and %s: a collector has both or neither", abi.FuncSave, abi.FuncLoad)
	}
	return nil
}
