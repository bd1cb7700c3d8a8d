package guard

import (
	"errors"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/internal/guestmem"
)

// The guest of this module. It is a package variable because exports have no receiver.
var registered *Guest

// Register makes g the guard of this module. Call it once, from init.
func Register(g Guard) { registered = NewGuest(g) }

//go:wasmexport parley_abi
func exportABI() uint32 { return abi.Version }

//go:wasmexport parley_input
func exportInput(size uint32) uint32 { return guestmem.Reserve(size) }

//go:wasmexport parley_guard
func exportGuard(n uint32) uint64 {
	b, err := registered.Check(guestmem.Input(n))
	if err == nil {
		return guestmem.Pack(b)
	}
	code := uint32(abi.CodeFailed)
	if d, ok := errors.AsType[*DeclaredError](err); ok {
		code = d.Code
	}
	return guestmem.PackError(code, err.Error())
}
