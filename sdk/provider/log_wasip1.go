package provider

import "github.com/parley-search/parley/sdk/internal/guestmem"

//go:wasmimport parley log
func importLog(level, ptr, size uint32)

// Log writes a line to the host's log. What a provider logs must hold no text
// of a user.
func Log(level Level, line string) {
	b := []byte(line)
	if len(b) > 0 {
		importLog(uint32(level), guestmem.AddressOf(b), uint32(len(b)))
	}
}
