package outbound

import (
	"context"
	"net/http"

	"github.com/parley-search/parley/abi"
)

// A Credential is a way to sign a request in, with what a workspace has set for
// it.
type Credential struct {
	Auth *abi.Auth // nil: the request is sent as it stands
	// Values are the settings and options that Auth names, secrets among them.
	Values map[string]string
}

// A Signer does what a [Credential] says. See package credential for the real
// one.
type Signer interface {
	// Sign adds to req, which has nothing else to be added and whose body is body,
	// what out.Credential asks for. It may ask a token server first. An error is an
	// [*Error].
	Sign(ctx context.Context, req *http.Request, body []byte, out *Request) (Signed, error)
}

// Signed says what was added to a request.
type Signed struct {
	// Secrets were made of the workspace's: what a provider may not repeat.
	Secrets []string
	// Drop forgets a token, so that the next request gets another; nil: there is
	// none.
	Drop func()
}
