package collector

import (
	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/internal/guestmem"
)

// The guest of this module, and the region that the host writes to. They are
// package variables because exports have no receiver.
var (
	registered Guest
	input      []byte
)

// Register makes c the collector of this module. Call it once, from init.
func Register[S any, C interface {
	*S
	Collector
}](c C) {
	registered = NewGuest[S](c)
}

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

//go:wasmexport parley_observe
func exportObserve(n uint32) uint32 { return registered.Observe(input[:n]) }

//go:wasmexport parley_flush
func exportFlush(n uint32) uint64 { return packSpan(registered.Flush(input[:n])) }

//go:wasmexport parley_save
func exportSave() uint64 { return packSpan(registered.Save()) }

//go:wasmexport parley_load
func exportLoad(n uint32) uint32 {
	if registered.Load(input[:n]) {
		return 1
	}
	return 0
}

func packSpan(b []byte) uint64 {
	if len(b) == 0 {
		return 0
	}
	return uint64(abi.MakeSpan(guestmem.AddressOf(b), uint32(len(b)), false))
}
