// Package abi is the contract between the host and its guests: names, numbers,
// wire types and the manifest. README.md in this folder is the specification
// for authors in any language; this package is the same contract in Go.
package abi

import "errors"

// Version is the contract's version: one number, raised by any change that a
// guest or a host can notice. A host runs every version from [MinVersion] up.
//
//   - 1: 2026-11-21: providers (encode, decode, error), collectors (observe,
//     flush, save, load), the manifest, log.
//   - 2: 2026-11-22: the same bytes. In the manifest auth, options and timeouts
//     in place of grants.secrets; in encode's input options, in its answer auth
//     and head; the framing awsEventStream; events of the host (":head"). A guest
//     sees no placeholder for a secret.
const Version = 2

// MinVersion is the oldest version that this host still runs.
const MinVersion = 1

// The exports of a guest. Numbers are WebAssembly core types; a result of type
// i64 is a [Span].
const (
	// FuncABI is () -> i32: the newest ABI version that the guest's code speaks.
	// The manifest's is this one or an older one.
	FuncABI = "parley_abi"
	// FuncInput is (size i32) -> i32: the address of an input region of at
	// least size bytes, valid until a larger one is asked for; 0 where the guest
	// refuses, which is a fault. The host writes nowhere else.
	FuncInput = "parley_input"
	// FuncEncode is (len i32) -> i64: an [EncodeRequest] as JSON in, an
	// [EncodeResponse] as JSON out.
	FuncEncode = "parley_encode"
	// FuncDecode is (len i32) -> i64: decode input in (see [AppendDecodeInput]),
	// decode output out (see [DecodeOutput]).
	FuncDecode = "parley_decode"
	// FuncError is (len i32) -> i64: an [ErrorRequest] as JSON in, a
	// [ProviderError] as JSON out.
	FuncError = "parley_error"
	// FuncObserve is (len i32) -> i32: records of events in (see package
	// abi/event); how many of them were taken.
	FuncObserve = "parley_observe"
	// FuncFlush is (len i32) -> i64: flags in (see [AppendFlushInput]), the
	// window's metric records out (see [AppendMetric]). Until it is told to
	// reset, and as long as nothing is observed, it answers the same bytes.
	FuncFlush = "parley_flush"
	// FuncSave is () -> i64: the collector's state, as it wishes.
	FuncSave = "parley_save"
	// FuncLoad is (len i32) -> i32: a state that this collector, or an older
	// version of it, has saved; 1 where it goes on from there, 0 where it cannot
	// and has changed nothing.
	FuncLoad = "parley_load"
	// FuncGuard is (len i32) -> i64: a [GuardCall] in (see [AppendGuardInput]), a state
	// and records of a guard out (see [GuardOutput]).
	FuncGuard = "parley_guard"
	// FuncInitialize is () -> (): called once, before anything else, where the
	// guest exports it.
	FuncInitialize = "_initialize"
	// Memory is the guest's one exported memory.
	Memory = "memory"
)

// The one import beside WASI's: parley.log(level i32, ptr i32, len i32), with
// level 0 debug, 1 info, 2 warn, 3 error.
const (
	ImportModule = "parley"
	ImportLog    = "log"
)

// Bounds of what crosses, in bytes. A guest that goes over one has a fault.
const (
	MaxManifest = 64 << 10
	MaxState    = 64 << 10
	MaxCarry    = 1 << 20 // of one round
	MaxInput    = 64 << 20
	MaxOutput   = 16 << 20
	MaxSaved    = 64 << 10 // what [FuncSave] answers
)

// ErrMalformed says that bytes that crossed do not have the form of the
// contract.
var ErrMalformed = errors.New("malformed")

// A Span is a guest's result: address<<32 | length, in its memory. 0 means
// nothing. With bit 31 set the payload is a declared error: u32 code and a
// UTF-8 message.
type Span uint64

const spanError = 1 << 31

// Address is where the payload begins.
func (s Span) Address() uint32 { return uint32(s >> 32) }

// Len is the payload's length in bytes.
func (s Span) Len() uint32 { return uint32(s) &^ spanError }

// Declared reports whether the payload is a declared error.
func (s Span) Declared() bool { return s&spanError != 0 }

// MakeSpan packs a result; declared marks it as a declared error.
func MakeSpan(address, length uint32, declared bool) Span {
	s := Span(address)<<32 | Span(length)
	if declared {
		s |= spanError
	}
	return s
}
