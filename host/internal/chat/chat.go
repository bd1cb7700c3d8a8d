// Package chat answers questions: it owns workspaces and their settings, and
// the loop of rounds between a provider plugin and the search.
package chat

import (
	"context"
	"encoding/json"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/chat/workspace"
)

// A Source is a provider plugin: three pure functions. Safe for concurrent
// use. A call that fails returns a [*PluginError]. See package plugin for the
// real one.
type Source interface {
	Manifest() *abi.Manifest
	Encode(ctx context.Context, in *abi.EncodeRequest) (*abi.EncodeResponse, error)
	// Decode appends the output of one decode call (see [abi.DecodeOutput]) to
	// dst. in is made by [abi.AppendDecodeInput].
	Decode(ctx context.Context, in, dst []byte) ([]byte, error)
	Error(ctx context.Context, in *abi.ErrorRequest) (*abi.ProviderError, error)
}

// A PluginError is how the calls of a [Source] fail, but for the error of a
// context that ended first.
type PluginError struct {
	Kind    PluginErrorKind
	Code    uint32 // of PluginDeclared: the plugin's own
	Message string // safe to show to the client
	Err     error  // the cause, for our log alone; may be nil
	// RetryAfter, of PluginUnavailable, says when a call may be tried again.
	RetryAfter time.Duration
}

// PluginErrorKind sorts a [PluginError].
type PluginErrorKind string

// The kinds of [PluginError].
const (
	PluginDeclared    PluginErrorKind = "declared"    // the plugin refused its input, in its own words
	PluginTooLarge    PluginErrorKind = "too_large"   // the input is more than the plugin's memory bears
	PluginFault       PluginErrorKind = "fault"       // it trapped, ran over a limit or answered nonsense; the next call finds it whole
	PluginUnavailable PluginErrorKind = "unavailable" // too many faults of late, or shutting down
)

func (e *PluginError) Error() string {
	if e.Err != nil {
		return string(e.Kind) + ": " + e.Message + ": " + e.Err.Error()
	}
	return string(e.Kind) + ": " + e.Message
}

// Unwrap returns the cause.
func (e *PluginError) Unwrap() error { return e.Err }

// A Client is whose input an answer gives its plugin.
type Client struct {
	Workspace string // or what else the input is of
	Key       string // uid of the API key; empty: none
	ID        string // tells apart the clients of one key, see [auth.Caller.ID]
}

// clientOf returns the client that caller is in workspace.
func clientOf(caller *auth.Caller, workspace string) Client {
	return Client{workspace, caller.Key(), caller.ID()}
}

// Sources finds the plugin that answers a source.
type Sources interface {
	// Source returns the plugin that meets wish, for a look at its manifest: it
	// may be closed at any time, and its calls belong to no answer. ok is false
	// where none does.
	Source(wish workspace.Wish) (s Source, ok bool)
	// Acquire is Source for the calls of one answer to client: what the plugin
	// keeps of them reaches no other answer. It stays open until release is called,
	// once, also where another version takes its place meanwhile. A plugin that is
	// still to be loaded is waited for until ctx ends. Where ok is false, release does
	// nothing.
	Acquire(ctx context.Context, wish workspace.Wish, client Client) (s Source, release func(), ok bool)
	// Plugins lists the names of the loaded plugins for a source, sorted.
	Plugins(source string) []string
	// SourceNames lists all sources that a plugin answers, sorted.
	SourceNames() []string
}

// A Searcher is the search under the chat. Every method obeys the caller's own
// rights: what it may not use does not exist. See package search.
type Searcher interface {
	// ChatIndexes lists the indexes that caller may search, narrowed to only
	// where that is not nil, sorted by uid.
	ChatIndexes(ctx context.Context, caller *auth.Caller, only []string) ([]Index, error)
	// ChatSearch answers one search of the model. An [apierr.Error] is for the
	// model to read and mend (no such index, a bad filter).
	ChatSearch(ctx context.Context, caller *auth.Caller, indexUID, q, filter string) (Found, error)
}

// Found is what one search of the model found, best first.
type Found struct {
	Hits []Hit
	// Coverage is how much of the question, by what its words are worth, the hits have: 0 to 1. nil: not
	// known, since the hits are whole documents and not passages of them.
	Coverage *float64
	// Warning is for who set the index up, as a sentence; empty: nothing is wrong.
	Warning string
}

// An Index is what the model is told of an index.
type Index struct {
	UID         string
	Description string
	Filterable  []Facet
}

// A Facet is a filterable attribute with its most frequent values, as far as
// the caller may see them.
type Facet struct {
	Attribute string
	Values    []string
}

// A Hit is a document that a search found, or a passage of it.
type Hit struct {
	ID    string // of the document
	Title string // of the passage: its page and sections; empty for a document
	URL   string // of the passage; empty where none is known
	Text  string // the passage, or the document by the index's chat template, cut to its limit
	// Score is how well it answers the search, 0 to 1.
	Score float64
	// Document holds the displayed attributes.
	Document json.RawMessage
	// Number is what an answer cites it by; 0: it is of no answer.
	Number int
}
