package conformance

import (
	"errors"
	"fmt"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// A breach is a failure that has a remedy of its own, whichever check met it.
type breach struct {
	err    error
	cause  string // what failures with one remedy share
	remedy string
}

func (b *breach) Error() string { return b.err.Error() }
func (b *breach) Unwrap() error { return b.err }

// explain returns what a failure has in common with others of the same cause, and
// what to do about it: by its class where it has one, else as the check that met it
// advises.
func (c *check) explain(err error) (cause, remedy string) {
	if f, ok := errors.AsType[*wasm.Fault](err); ok {
		at := f.Place
		if at == "" && f.Kind == wasm.FaultTrap {
			at = f.Detail
		}
		return fmt.Sprint(f.Kind, f.Export, at), faultRemedy(f)
	}
	if b, ok := errors.AsType[*breach](err); ok {
		return b.cause, b.remedy
	}
	return err.Error(), c.remedy
}

// faultRemedy says what to do about a call that did not end as a call must.
func faultRemedy(f *wasm.Fault) string {
	at := f.Place
	if at == "" {
		at = "the place that a build with its names in it shows"
	}
	switch f.Kind {
	case wasm.FaultFuel:
		return "Do less in one call at " + at + ", or give `limits.fuelPerCall` in the manifest more room; `parley plugin bench` shows what calls spend."
	case wasm.FaultDeadline:
		return "Look for a loop without an end, or work that grows faster than its input, at " + at + "."
	case wasm.FaultMemory:
		return "Keep fewer copies at a time at " + at + ", or ask for more with `limits.memoryMiB` in the manifest: a plugin gets 16 MiB."
	case wasm.FaultStack:
		return "Bound how deep the calls nest at " + at + ": a recursion that follows its input needs a limit."
	case wasm.FaultInput:
		return "Let `parley_input` return a region within the memory, as large as was asked for: abi/README.md, section Exports."
	case wasm.FaultBounds, wasm.FaultOutput:
		return "Return where the answer lies and how long it is, within the memory and the limits: abi/README.md, sections Spans and Limits."
	case wasm.FaultError:
		return "Give a declared error its code and its text: abi/README.md, section Spans."
	case wasm.FaultExit:
		return "Do not end the process: declare an error instead."
	}
	return "Mend " + at + ": look at the length, the index or the value there before it is used, and declare an error where it does not fit."
}

// answerSections are those of abi/README.md that say what an export answers.
var answerSections = map[string]string{abi.FuncEncode: "Encode", abi.FuncDecode: "Decode", abi.FuncError: "Error"}

// wrongAnswer is the breach of an answer that a host cannot use.
func wrongAnswer(export, input string, err error) error {
	rule, _, _ := strings.Cut(err.Error(), ", got ")
	return &breach{
		err:    fmt.Errorf("%s of %s gave an answer that cannot be used: %w", export, input, err),
		cause:  export + rule,
		remedy: "Write the answer as abi/README.md says, section " + answerSections[export] + ".",
	}
}

// wrongStream is the breach of a rule for a response as a whole.
func wrongStream(name, rule string) error {
	return &breach{
		err: fmt.Errorf("%s: %s", name, rule), cause: rule,
		remedy: "Hold the records to abi/README.md, section Decode, above all its rules for a response as a whole.",
	}
}

// wrongMetric is the breach of a metric that the manifest does not allow.
func wrongMetric(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &breach{
		err: err, cause: err.Error(),
		remedy: "Mend what flush writes of that metric, or what the manifest says of it: kind, range, labels, `noData`. abi/README.md, section Flush.",
	}
}
