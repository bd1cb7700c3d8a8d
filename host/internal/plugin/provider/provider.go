// Package provider is the contract between those who ask a provider's plugin, the chat
// and the embedders, and package plugin, which runs one: what a plugin can be asked,
// which plugin is meant, and how a call fails.
package provider

import (
	"context"
	"time"

	"github.com/parley-search/parley/abi"
)

// A Source is a provider plugin: three pure functions. Safe for concurrent
// use. A call that fails returns a [*CallError].
type Source interface {
	Manifest() *abi.Manifest
	Encode(ctx context.Context, in *abi.EncodeRequest) (*abi.EncodeResponse, error)
	// Decode appends the output of one decode call (see [abi.DecodeOutput]) to
	// dst. in is made by [abi.AppendDecodeInput].
	Decode(ctx context.Context, in, dst []byte) ([]byte, error)
	Error(ctx context.Context, in *abi.ErrorRequest) (*abi.ProviderError, error)
}

// Sources finds the plugin that answers a source.
type Sources interface {
	// Source returns the plugin that meets wish, for a look at its manifest: it
	// may be closed at any time, and its calls belong to no answer. ok is false
	// where none does.
	Source(wish Wish) (s Source, ok bool)
	// Acquire is Source for the calls of one answer to client: what the plugin
	// keeps of them reaches no other answer. It stays open until release is called,
	// once, also where another version takes its place meanwhile. A plugin that is
	// still to be loaded is waited for until ctx ends. Where ok is false, release does
	// nothing.
	Acquire(ctx context.Context, wish Wish, client Client) (s Source, release func(), ok bool)
	// Plugins lists the names of the loaded plugins for a source, sorted.
	Plugins(source string) []string
	// SourceNames lists all sources that a plugin answers, sorted.
	SourceNames() []string
}

// A Wish is which plugin is asked for.
type Wish struct {
	Source  string
	Plugin  string // its name; empty: the one that the deployment binds to Source
	Version string // a constraint; empty: the deployment's pin
}

// A Client is whose input an answer gives its plugin.
type Client struct {
	Workspace string // or what else the input is of
	Key       string // uid of the API key; empty: none
	ID        string // tells apart the clients of one key
}

// A CallError is how the calls of a [Source] fail, but for the error of a
// context that ended first.
type CallError struct {
	Kind    CallErrorKind
	Code    uint32 // of Declared: the plugin's own
	Message string // safe to show to the client
	Err     error  // the cause, for our log alone; may be nil
	// RetryAfter, of Unavailable, is when a call may be tried again.
	RetryAfter time.Duration
}

// CallErrorKind sorts a [CallError].
type CallErrorKind string

// The kinds of [CallError].
const (
	Declared    CallErrorKind = "declared"    // the plugin refused its input, in its own words
	TooLarge    CallErrorKind = "too_large"   // the input is more than the plugin's memory bears
	Fault       CallErrorKind = "fault"       // it trapped, ran over a limit or answered nonsense; the next call finds it whole
	Unavailable CallErrorKind = "unavailable" // too many faults in a short time, or shutting down
)

func (e *CallError) Error() string {
	if e.Err != nil {
		return string(e.Kind) + ": " + e.Message + ": " + e.Err.Error()
	}
	return string(e.Kind) + ": " + e.Message
}

// Unwrap returns the cause.
func (e *CallError) Unwrap() error { return e.Err }
