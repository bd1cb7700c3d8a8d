package provider

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/internal/guestmem"
	"github.com/parley-search/parley/sdk/rawjson"
)

// A Guest is a provider as the host sees it: bytes in, bytes out. The exports
// of a module call it, and so do plain-Go tests. It serves one call at a time,
// and what a call returns is good until the next one.
type Guest interface {
	// Encode takes an abi.EncodeRequest as JSON and returns an
	// abi.EncodeResponse as JSON.
	Encode(in []byte) ([]byte, error)
	// Decode takes and returns what abi.AppendDecodeInput and abi.DecodeOutput
	// describe.
	Decode(in []byte) ([]byte, error)
	// Error takes an abi.ErrorRequest as JSON and returns an
	// abi.ProviderError as JSON.
	Error(in []byte) ([]byte, error)
}

// A DeclaredError is the error of a Guest's call, as it crosses.
type DeclaredError struct {
	Code    uint32 // abi.CodeMalformed and so on
	Message string
}

func (e *DeclaredError) Error() string { return e.Message }

// NewGuest returns p as the host sees it. It panics where S has pointers in it,
// which is an error of the plugin's program.
func NewGuest[S any](p Provider[S]) Guest {
	if guestmem.HasPointers[S]() {
		panic("provider: the state of a provider must not have pointers in it")
	}
	g := &guest[S]{provider: p, output: make([]byte, 0, largeRoom)}
	g.patterned, _ = p.(Patterned[S])
	g.settings.json, g.head.json = make([]byte, 0, smallRoom), make([]byte, 0, smallRoom)
	g.out.records = make([]byte, 0, smallRoom)
	return g
}

// What buffers have room for from the start. An instance is brought back to how
// it began before each answer, so what an ordinary one needs more would be made
// anew each time.
const (
	smallRoom = 1 << 10
	largeRoom = 16 << 10
)

type guest[S any] struct {
	provider  Provider[S]
	patterned Patterned[S] // the provider, where it is one; else nil
	request   Request
	settings  lastSettings
	head      lastHead
	state     S
	out       Out
	output    []byte
}

func (g *guest[S]) Encode(in []byte) ([]byte, error) {
	if err := g.parseRequest(in); err != nil {
		return nil, err
	}
	h, err := g.describe(&g.request)
	if err != nil {
		if refused, ok := errors.AsType[*refusal](err); ok {
			return nil, &DeclaredError{abi.CodeRefused, refused.sentence}
		}
		if declared, ok := errors.AsType[*DeclaredError](err); ok {
			return nil, declared
		}
		return nil, &DeclaredError{abi.CodeFailed, err.Error()}
	}
	g.output = g.head.appendHTTPRequest(g.output[:0], &h)
	return g.output, nil
}

// describe asks the provider for the request of r's op.
func (g *guest[S]) describe(r *Request) (HTTPRequest, error) {
	switch r.Op {
	case abi.OpChat:
		return g.provider.Encode(r)
	case abi.OpModels:
		if p, ok := g.provider.(ModelLister); ok {
			return p.Models(r)
		}
	case abi.OpEmbed:
		if p, ok := g.provider.(Embedder); ok {
			return p.Embed(r)
		}
	}
	return HTTPRequest{}, &DeclaredError{abi.CodeMalformed, "this plugin does no " + r.Op}
}

// Decode's state is a byte of marks, the provider's own struct, and the memo.
// Before the first event it is empty.
//
// It is in parts since a branch costs, in a guest, by the function that it stands
// in.
func (g *guest[S]) Decode(in []byte) ([]byte, error) {
	input, err := abi.ParseDecodeInput(in)
	if err != nil {
		return nil, errInput
	}
	if err := g.load(input.State); err != nil {
		return nil, err
	}
	events := 0
	for ; ; events++ {
		typ, data, ok := input.Next()
		if !ok {
			break
		}
		g.decode(Event{Type: typ, Data: data})
	}
	if input.Flags&abi.FlagLast != 0 {
		g.decode(Event{End: true, Cancelled: input.Flags&abi.FlagCancelled != 0})
	} else if input.Flags&abi.FlagPatterns != 0 && g.patterned != nil && events > 0 {
		g.patterned.Pattern(&g.state, &g.out)
	}
	if len(g.out.Memo) > MaxMemo {
		return nil, errMemo
	}
	g.store()
	return g.output, nil
}

// What may be wrong with a decode call.
var (
	errInput = &DeclaredError{abi.CodeMalformed, "decode input is malformed"}
	errState = &DeclaredError{abi.CodeMalformed, "the state is of another version of this plugin"}
	errMemo  = &DeclaredError{abi.CodeFailed, "the memo of the state is too long"}
)

// load reads the state that a decode call begins with.
func (g *guest[S]) load(b []byte) error {
	state := guestmem.BytesOf(&g.state)
	g.out.Memo, g.out.records, g.out.marks = nil, g.out.records[:0], 0
	if len(b) == 0 {
		clear(state)
		return nil
	}
	n := 1 + len(state)
	if len(b) < n {
		return errState
	}
	g.out.marks = b[0]
	copy(state, b[1:])
	g.out.Memo = b[n:]
	return nil
}

// store makes the output of a decode call: the state, and the records.
func (g *guest[S]) store() {
	state, o := guestmem.BytesOf(&g.state), &g.out
	size := 1 + len(state) + len(o.Memo)
	b := slices.Grow(g.output[:0], 4+size+len(o.records))[:4+size+len(o.records)]
	binary.LittleEndian.PutUint32(b, uint32(size))
	b[4] = o.marks
	copy(b[5:], state)
	copy(b[5+len(state):], o.Memo)
	copy(b[4+size:], o.records)
	g.output = b
}

func (g *guest[S]) decode(e Event) {
	if g.out.marks&(markFailed|markAgain) != 0 {
		return
	}
	if err := g.provider.Decode(&g.state, e, &g.out); err != nil {
		failure, ok := errors.AsType[ProviderError](err)
		if !ok {
			failure = ProviderError{Kind: ErrorPlugin, Message: err.Error()}
		}
		g.out.Error(failure)
	}
}

func (g *guest[S]) Error(in []byte) ([]byte, error) {
	var r Response
	m := rawjson.Check(in)
	for m.Next() {
		switch string(m.Key) {
		case "status":
			n, _ := m.Value.Int()
			r.Status = int(n)
		case "headers":
			r.Headers = m.Value
		case "body":
			r.Body, _ = m.Value.Text()
		}
	}
	if !m.OK() {
		return nil, &DeclaredError{abi.CodeMalformed, "error input is not a JSON object"}
	}
	g.output = appendProviderError(g.output[:0], g.provider.Error(&r))
	return g.output, nil
}
