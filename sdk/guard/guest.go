package guard

import (
	"encoding/binary"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/match"
	"github.com/parley-search/parley/sdk/rawjson"
)

// A Guest is a guard as the host sees it: bytes in, bytes out. The export of a module
// calls it, and so do plain-Go tests. What a call returns is good until the next one.
type Guest struct {
	guard  Guard
	in     In
	out    Out
	output []byte
	// options are the last ones that were seen to be JSON.
	options string
}

// NewGuest returns g as the host sees it.
func NewGuest(g Guard) *Guest { return &Guest{guard: g} }

// A DeclaredError is the error of a call, as it crosses.
type DeclaredError struct {
	Code    uint32 // abi.CodeMalformed and so on
	Message string
}

func (e *DeclaredError) Error() string { return e.Message }

var errInput = &DeclaredError{abi.CodeMalformed, "guard input is malformed"}

// The marks of a state, in the byte in front of the guard's own.
const (
	answerAfterWord = 1 << iota
	reasoningAfterWord
)

// Check takes what abi.AppendGuardInput writes, and returns what abi.GuardOutput reads.
func (g *Guest) Check(b []byte) ([]byte, error) {
	call, err := abi.ParseGuardInput(b)
	if err != nil {
		return nil, errInput
	}
	in, out := &g.in, &g.out
	*in = In{Stage: Stage(call.Stage), First: call.Flags&abi.GuardFirst != 0, Last: call.Flags&abi.GuardLast != 0, Items: in.Items[:0], options: call.Options}
	for {
		item, ok := call.Next()
		if !ok {
			break
		}
		in.Items = append(in.Items, item)
	}
	if !call.Whole() {
		return nil, errInput
	}
	if g.options != string(call.Options) {
		if _, ok := rawjson.Parse(call.Options); !ok {
			return nil, errInput
		}
		g.options = string(call.Options)
	}
	marks := byte(0)
	if len(call.State) > 0 {
		marks, in.State = call.State[0], call.State[1:]
	}
	mark := byte(answerAfterWord)
	if in.Stage == Reasoning {
		mark = reasoningAfterWord
	}
	if in.Stage.IsStream() {
		if in.First {
			marks &^= mark
		}
		in.AfterWord = marks&mark != 0
	}
	*out = Out{records: out.records[:0], held: -1, state: in.State, stream: in.Stage.IsStream()}
	if in.Stage >= Question && in.Stage <= Reasoning { // else of a later version
		if err := g.guard.Check(in, out); err != nil {
			return nil, &DeclaredError{abi.CodeFailed, err.Error()}
		}
	}
	if in.Stage.IsStream() && !out.blocked && len(in.Items) > 0 {
		released := len(in.Text())
		if out.held >= 0 {
			released = out.held
		}
		if released > 0 {
			out.records = abi.AppendRelease(out.records, released)
		}
		marks &^= mark
		if match.EndsInWord(in.Text()[:released], in.AfterWord) {
			marks |= mark
		}
	}
	g.output = g.output[:0]
	if marks == 0 && len(out.state) == 0 {
		g.output = append(g.output, 0, 0, 0, 0)
	} else {
		g.output = binary.LittleEndian.AppendUint32(g.output, uint32(1+len(out.state)))
		g.output = append(append(g.output, marks), out.state...)
	}
	g.output = append(g.output, out.records...)
	return g.output, nil
}
