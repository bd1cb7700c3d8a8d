package provider

import (
	"errors"

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
	return &guest[S]{provider: p}
}

type guest[S any] struct {
	provider Provider[S]
	request  Request
	settings lastSettings
	head     lastHead
	state    S
	out      Out
	output   []byte
}

func (g *guest[S]) Encode(in []byte) ([]byte, error) {
	if err := g.parseRequest(in); err != nil {
		return nil, err
	}
	h, err := g.provider.Encode(&g.request)
	if err != nil {
		if refused, ok := errors.AsType[*refusal](err); ok {
			return nil, &DeclaredError{abi.CodeRefused, refused.sentence}
		}
		return nil, &DeclaredError{abi.CodeFailed, err.Error()}
	}
	g.output = g.head.appendHTTPRequest(g.output[:0], &h)
	return g.output, nil
}

// Decode's state is a byte of marks, the provider's own struct, and the memo.
// Before the first event it is empty.
func (g *guest[S]) Decode(in []byte) ([]byte, error) {
	input, err := abi.ParseDecodeInput(in)
	if err != nil {
		return nil, &DeclaredError{abi.CodeMalformed, "decode input is malformed"}
	}
	state := guestmem.BytesOf(&g.state)
	g.out.Memo, g.out.records, g.out.marks = nil, g.out.records[:0], 0
	switch {
	case len(input.State) == 0:
		clear(state)
	case len(input.State) < 1+len(state):
		return nil, &DeclaredError{abi.CodeMalformed, "the state is of another version of this plugin"}
	default:
		g.out.marks = input.State[0]
		copy(state, input.State[1:])
		g.out.Memo = input.State[1+len(state):]
	}
	for {
		typ, data, ok := input.Next()
		if !ok {
			break
		}
		g.decode(Event{Type: typ, Data: data})
	}
	if input.Flags&abi.FlagLast != 0 {
		g.decode(Event{End: true, Cancelled: input.Flags&abi.FlagCancelled != 0})
	}
	if len(g.out.Memo) > MaxMemo {
		return nil, &DeclaredError{abi.CodeFailed, "the memo of the state is too long"}
	}
	size := 1 + len(state) + len(g.out.Memo)
	b := append(g.output[:0], byte(size), byte(size>>8), byte(size>>16), byte(size>>24), g.out.marks)
	b = append(b, state...)
	b = append(b, g.out.Memo...)
	g.output = append(b, g.out.records...)
	return g.output, nil
}

func (g *guest[S]) decode(e Event) {
	if g.out.marks&markFailed != 0 {
		return
	}
	if err := g.provider.Decode(&g.state, e, &g.out); err != nil {
		failure, ok := errors.AsType[ProviderError](err)
		if !ok {
			failure = ProviderError{Kind: abi.ErrorUpstream, Message: err.Error()}
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
			r.Body, _ = m.Value.Text(nil)
		}
	}
	if !m.OK() {
		return nil, &DeclaredError{abi.CodeMalformed, "error input is not a JSON object"}
	}
	g.output = appendProviderError(g.output[:0], g.provider.Error(&r))
	return g.output, nil
}
