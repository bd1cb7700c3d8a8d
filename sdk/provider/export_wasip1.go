package provider

import (
	"errors"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/internal/guestmem"
)

// The guest of this module, and the region that the host writes to. They are
// package variables because exports have no receiver.
var (
	registered Guest
	input      []byte
	declared   []byte
)

// Register makes p the provider of this module. Call it once, from init.
func Register[S any](p Provider[S]) { registered = NewGuest(p) }

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

//go:wasmexport parley_encode
func exportEncode(n uint32) uint64 { return packResult(registered.Encode(input[:n])) }

//go:wasmexport parley_decode
func exportDecode(n uint32) uint64 { return packResult(registered.Decode(input[:n])) }

//go:wasmexport parley_error
func exportError(n uint32) uint64 { return packResult(registered.Error(input[:n])) }

// packResult packs what a call returned.
func packResult(b []byte, err error) uint64 {
	if err != nil {
		return packDeclared(err)
	}
	return uint64(abi.MakeSpan(guestmem.AddressOf(b), uint32(len(b)), false))
}

// packDeclared packs a declared error.
func packDeclared(err error) uint64 {
	code := uint32(abi.CodeFailed)
	if d, ok := errors.AsType[*DeclaredError](err); ok {
		code = d.Code
	}
	declared = append(declared[:0], byte(code), byte(code>>8), byte(code>>16), byte(code>>24))
	declared = append(declared, err.Error()...)
	return uint64(abi.MakeSpan(guestmem.AddressOf(declared), uint32(len(declared)), true))
}
