package collector

import (
	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/internal/guestmem"
)

// The guest of this module. It is a package variable because exports have no receiver.
var registered Guest

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
func exportInput(size uint32) uint32 { return guestmem.Reserve(size) }

//go:wasmexport parley_observe
func exportObserve(n uint32) uint32 { return registered.Observe(guestmem.Input(n)) }

//go:wasmexport parley_flush
func exportFlush(n uint32) uint64 { return guestmem.Pack(registered.Flush(guestmem.Input(n))) }

//go:wasmexport parley_save
func exportSave() uint64 { return guestmem.Pack(registered.Save()) }

//go:wasmexport parley_load
func exportLoad(n uint32) uint32 {
	if registered.Load(guestmem.Input(n)) {
		return 1
	}
	return 0
}
