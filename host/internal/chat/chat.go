// Package chat answers questions: it owns workspaces and their settings, and
// the loop of rounds between a provider plugin and the search.
package chat

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/auth"
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

// Sources finds the plugin that answers a source.
type Sources interface {
	// Source returns the plugin of a source, in a version that meets the
	// constraint (empty: the deployment's pin), for a look at its manifest: it
	// may be closed at any time. ok is false where none does.
	Source(name, constraint string) (s Source, ok bool)
	// Acquire is Source for calls: the plugin stays open until release is
	// called, once, also where another version takes its place meanwhile.
	Acquire(name, constraint string) (s Source, release func(), ok bool)
	// SourceNames lists all sources, sorted.
	SourceNames() []string
}

// Upstream sends what a plugin described. See package upstream.
type Upstream interface {
	// Do sends out and returns once the response's head is there. ctx ends the
	// request and then the response, whose Next ends with it. An error is an
	// [*UpstreamError].
	Do(ctx context.Context, out *Outbound) (Response, error)
}

// An Outbound is an HTTP request as a plugin described it, with what the host
// adds and allows.
type Outbound struct {
	Request *abi.EncodeResponse
	Grants  abi.Grants
	// BaseURL is the workspace's own: it alone may name a private address.
	BaseURL string
	// Secrets are put in place of ${name} in header values where Grants names
	// them.
	Secrets map[string]string
	// Who asks, for a recording of the answer.
	Workspace, Source, Plugin string // uid; as in the workspace's settings; name and version
}

// A Response is an HTTP response under way. Not safe for concurrent use,
// but for Close, which may also be called more than once and ends Next. Where
// the provider repeats a secret, in head or body, it is taken out.
type Response interface {
	Status() int
	Header() http.Header // of one that is an error; else nil, since it may last long
	// Next blocks until at least one whole event is there and returns all that
	// are, in a slice that is good until the next call. It ends with [io.EOF],
	// or with an [*UpstreamError] where the response broke off.
	Next() ([]abi.Event, error)
	// Body reads at most limit bytes of the body, for a response that is an
	// error. Use it instead of Next.
	Body(limit int64) []byte
	io.Closer
}

// An UpstreamError says why no response came, or none to its end.
type UpstreamError struct {
	Kind    UpstreamErrorKind
	Message string // safe to show to the client: no address that it did not configure, no secret
	Err     error
	// Retryable: nothing reached the provider (the connection failed).
	Retryable bool
}

// UpstreamErrorKind sorts an [UpstreamError].
type UpstreamErrorKind string

// The kinds of [UpstreamError].
const (
	UpstreamRefused UpstreamErrorKind = "refused" // by a grant, an address rule, a redirect
	UpstreamConnect UpstreamErrorKind = "connect" // no connection: DNS, TLS, refused
	UpstreamTimeout UpstreamErrorKind = "timeout"
	UpstreamBroken  UpstreamErrorKind = "broken" // ended in the middle
	UpstreamTooLong UpstreamErrorKind = "too_long"
)

func (e *UpstreamError) Error() string {
	if e.Err != nil {
		return string(e.Kind) + ": " + e.Message + ": " + e.Err.Error()
	}
	return string(e.Kind) + ": " + e.Message
}

// Unwrap returns the cause.
func (e *UpstreamError) Unwrap() error { return e.Err }

// A Searcher is the search under the chat. Every method obeys the caller's own
// rights: what it may not use does not exist. See package search.
type Searcher interface {
	// ChatIndexes lists the indexes that caller may search, narrowed to only
	// where that is not nil, sorted by uid.
	ChatIndexes(ctx context.Context, caller *auth.Caller, only []string) ([]Index, error)
	// ChatSearch answers one search of the model. An [apierr.Error] is for the
	// model to read and mend (no such index, a bad filter).
	ChatSearch(ctx context.Context, caller *auth.Caller, indexUID, q, filter string) ([]Hit, error)
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

// A Hit is a document that a search found.
type Hit struct {
	ID   string
	Text string // rendered by the index's chat template, cut to its limit
	// Document holds the displayed attributes.
	Document json.RawMessage
}
