package guestmem

import "github.com/parley-search/parley/abi"

// What the host and the exports of a module share. They are package variables because
// exports have no receiver.
var (
	input    []byte
	declared []byte
)

// Reserve returns where the host writes an input of so many bytes; 0: it is too large.
func Reserve(size uint32) uint32 {
	if size > abi.MaxInput {
		return 0
	}
	if len(input) < int(size) || len(input) == 0 {
		input = make([]byte, max(int(size), 16<<10))
	}
	return AddressOf(input)
}

// Input is what the host wrote there, of n bytes.
func Input(n uint32) []byte { return input[:n] }

// Pack packs the span of a result, which is to stay until the next call.
func Pack(b []byte) uint64 {
	if len(b) == 0 {
		return 0
	}
	return uint64(abi.MakeSpan(AddressOf(b), uint32(len(b)), false))
}

// PackError packs the span of a declared error.
func PackError(code uint32, message string) uint64 {
	declared = append(declared[:0], byte(code), byte(code>>8), byte(code>>16), byte(code>>24))
	declared = append(declared, message...)
	return uint64(abi.MakeSpan(AddressOf(declared), uint32(len(declared)), true))
}
