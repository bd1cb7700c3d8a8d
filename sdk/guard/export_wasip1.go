package guard

import (
	"errors"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/internal/guestmem"
)

// The guest of this module, and the region that the host writes to. They are package
// variables because exports have no receiver.
var (
	registered *Guest
	input      []byte
	declared   []byte
)

// Register makes g the guard of this module. Call it once, from init.
func Register(g Guard) { registered = NewGuest(g) }

//go:wasmexport parley_abi
func exportABI() uint32 { return abi.Version }

//go:wasmexport parley_input
func exportInput(size uint32) uint32 {
	if size > abi.MaxInput {
		return 0
	}
	if len(input) < int(size) || len(input) == 0 {
		input = make([]byte, max(int(size), 16<<10))
	}
	return guestmem.AddressOf(input)
}

//go:wasmexport parley_guard
func exportGuard(n uint32) uint64 {
	b, err := registered.Check(input[:n])
	if err == nil {
		return uint64(abi.MakeSpan(guestmem.AddressOf(b), uint32(len(b)), false))
	}
	code := uint32(abi.CodeFailed)
	if d, ok := errors.AsType[*DeclaredError](err); ok {
		code = d.Code
	}
	declared = append(declared[:0], byte(code), byte(code>>8), byte(code>>16), byte(code>>24))
	declared = append(declared, err.Error()...)
	return uint64(abi.MakeSpan(guestmem.AddressOf(declared), uint32(len(declared)), true))
}
