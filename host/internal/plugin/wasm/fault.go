package wasm

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/tetratelabs/wazero/sys"
)

var (
	// ErrClosed says that the module or its runtime is closed.
	ErrClosed = errors.New("module is closed")
	// ErrInputTooLarge says that a call's input is over [Limits].Input. The
	// guest was not called.
	ErrInputTooLarge = errors.New("input is too large")
)

// A FaultKind says what a guest did.
type FaultKind int

// The kinds of [Fault].
const (
	FaultTrap     FaultKind = iota // its code trapped: a panic, a bad access
	FaultExit                      // it left the process
	FaultDeadline                  // it did not end in time
	FaultMemory                    // it trapped after it was denied more memory
	FaultInput                     // it gave no input region, or one outside its memory
	FaultBounds                    // its answer lies outside its memory
	FaultOutput                    // its answer is over the limit
	FaultError                     // its declared error has not the form of one
	FaultBreaker                   // it was not called: too many faults of late, by any client's input
	FaultClient                    // it was not called: too many faults of late by this client's input
	FaultFuel                      // it spent more than its fuel
	FaultStack                     // its calls nest too deep; where the limiter does not see that, a trap in the end
	faultKinds
)

var faultNames = [faultKinds]string{"trap", "exit", "deadline", "memory", "input", "bounds", "output", "error", "breaker", "client", "fuel", "stack"}

func (k FaultKind) String() string { return faultNames[k] }

// A Fault is a call that went wrong in a way that leaves the instance unfit
// for another one; the host has done away with it.
type Fault struct {
	Kind   FaultKind
	Module string
	Export string
	// Detail is what is known: of a trap its cause, of an exit its code.
	Detail string
	// Place is where in its code: a function, with file and line where the module or
	// its runtime knows them; empty if unknown.
	Place string
	// Output is the beginning of what the guest wrote to stdout and stderr
	// during the call.
	Output string
	// RetryAfter, of FaultBreaker and FaultClient, says when a call may be tried again.
	RetryAfter time.Duration
	Err        error // what wazero says, with the guest's stack; may be nil
}

func (f *Fault) Error() string {
	s := fmt.Sprintf("%s in %s of %s", f.Kind, f.Export, f.Module)
	if f.Place != "" {
		s += ", at " + f.Place
	}
	s += ": " + f.Detail
	if f.Output != "" {
		s += fmt.Sprintf("; it wrote %q", f.Output)
	}
	return s
}

// Unwrap returns wazero's error.
func (f *Fault) Unwrap() error { return f.Err }

// Transient reports whether the same call, made again on another instance, may
// well succeed: a deadline would only be waited for twice, and fuel or stack spent
// twice.
func (f *Fault) Transient() bool {
	switch f.Kind {
	case FaultDeadline, FaultFuel, FaultStack, FaultBreaker, FaultClient:
		return false
	}
	return true
}

// costly reports whether a fault takes more than an instance: all the time that a call
// has, or every instance there could be.
func (f *Fault) costly() bool { return f.Kind == FaultDeadline || f.ofStart() }

// ofStart reports whether no instance could be started for the call.
func (f *Fault) ofStart() bool { return f.Export == abi.FuncInitialize }

// A GuestError is an error that the guest declared. Nothing is wrong with the
// guest.
type GuestError struct {
	Code    uint32
	Message string // at most 4 KiB of valid UTF-8
}

func (e *GuestError) Error() string { return fmt.Sprintf("guest error %d: %s", e.Code, e.Message) }

// An exitError is how proc_exit leaves the guest.
type exitError struct{ code uint32 }

func (e exitError) Error() string { return fmt.Sprintf("the guest exited with code %d", e.code) }

// contain makes a panic the error of the function that defers it. What panics in a
// guest or in a host function is an error of wazero's already; this is for wazero
// itself, which must not end the host either.
func contain(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("wazero panicked: %v\n%s", r, debug.Stack())
	}
}

// fault explains err, with which the call of export ended.
func (i *instance) fault(export string, err error) *Fault {
	f := &Fault{Kind: FaultTrap, Module: i.module.name, Export: export, Output: i.output.text(), Err: err}
	f.Place = clip(findPlace(f.Output, err), 256)
	if exit, ok := errors.AsType[exitError](err); ok {
		f.Kind, f.Detail = FaultExit, exit.Error()
		return f
	}
	if exit, ok := errors.AsType[*sys.ExitError](err); ok {
		switch exit.ExitCode() {
		case sys.ExitCodeDeadlineExceeded, sys.ExitCodeContextCanceled:
			f.Kind, f.Detail = FaultDeadline, fmt.Sprintf("no end after %s", i.timeout)
			return f
		}
	}
	if stop, ok := errors.AsType[stopError](err); ok {
		switch f.Kind = stop.kind; f.Kind {
		case FaultFuel:
			f.Detail = fmt.Sprintf("no end after %d units of fuel", i.module.limits.Fuel)
		case FaultStack:
			f.Detail = fmt.Sprintf("its calls nest deeper than %d MiB of stack: a recursion without end, or one that goes as deep as its input does; bound how deep it goes", maxDepth>>20)
		default:
			f.Detail = fmt.Sprintf("no end after %s", i.timeout)
		}
		return f
	}
	f.Detail, _, _ = strings.Cut(err.Error(), "\n")
	f.Detail = clip(f.Detail, 512)
	if i.linear.refused {
		f.Kind = FaultMemory
		f.Detail = fmt.Sprintf("denied more than %d MiB of memory, then: %s", i.module.limits.Memory>>20, f.Detail)
	}
	return f
}

// clip returns at most n bytes of s, as valid UTF-8.
func clip(s string, n int) string {
	if len(s) > n {
		s = s[:n] + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
