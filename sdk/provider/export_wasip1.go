package provider

import (
	"errors"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/internal/guestmem"
)

// The guest of this module. It is a package variable because exports have no receiver.
var registered Guest

// Register makes p the provider of this module. Call it once, from init.
func Register[S any](p Provider[S]) { registered = NewGuest(p) }

//go:wasmexport parley_abi
func exportABI() uint32 { return abi.Version }

//go:wasmexport parley_input
func exportInput(size uint32) uint32 { return guestmem.Reserve(size) }

//go:wasmexport parley_encode
func exportEncode(n uint32) uint64 { return packResult(registered.Encode(guestmem.Input(n))) }

//go:wasmexport parley_decode
func exportDecode(n uint32) uint64 { return packResult(registered.Decode(guestmem.Input(n))) }

//go:wasmexport parley_error
func exportError(n uint32) uint64 { return packResult(registered.Error(guestmem.Input(n))) }

// packResult packs what a call returned.
func packResult(b []byte, err error) uint64 {
	if err == nil {
		return guestmem.Pack(b)
	}
	code := uint32(abi.CodeFailed)
	if d, ok := errors.AsType[*DeclaredError](err); ok {
		code = d.Code
	}
	return guestmem.PackError(code, err.Error())
}
