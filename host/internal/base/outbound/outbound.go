// Package outbound describes what leaves the host for a provider: the request,
// its response, and the errors between them. Package upstream sends it.
package outbound

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/parley-search/parley/abi"
)

// Sender sends what a plugin described. See package upstream.
type Sender interface {
	// Do sends out and returns once the response's head is there. ctx ends the
	// request and then the response, whose Next ends with it. An error is an
	// [*Error].
	Do(ctx context.Context, out *Request) (Response, error)
}

// A Request is an HTTP request as a plugin described it, with what the host
// adds and allows.
type Request struct {
	Encoded *abi.EncodeResponse
	Round   int // of the answer that it is for
	Grants  abi.Grants
	// BaseURL is the workspace's own: it alone may name a private address.
	BaseURL string
	// Secrets are put in place of ${name} in header values where Grants names
	// them.
	Secrets map[string]string
	// Credential signs the request in; nil: by the placeholders in its headers. With
	// one, what the plugin wrote is sent as it stands.
	Credential *Credential
	// FirstByte and Silence are the plugin's own limits; 0: those of the host.
	FirstByte, Silence time.Duration
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
	// or with an [*Error] where the response broke off.
	Next() ([]abi.Event, error)
	// Body reads at most limit bytes of the body, for a response that is an
	// error. Use it instead of Next.
	Body(limit int64) []byte
	io.Closer
}
