// Package request is what handlers of the API's routes share: a [Call] says who
// asks and what, reads the body within its limit, and writes the answer. Handlers
// below this folder take a Call and a domain, and know nothing of the server,
// the table of routes or each other.
package request

import (
	"context"
	"errors"
	"io"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/memory"
	"github.com/parley-search/parley/host/internal/search"
)

// A Call is a request whose sender may do what it asks for. It ends with the
// handler: what is kept must be a copy, which all methods of Call return.
type Call struct {
	*fiber.Ctx
	ID     string // by which the log knows it
	Caller *auth.Caller
	Query  Query // the parameters, each of which the route knows
	Limit  BodyLimit
	// Loan is what the request holds in memory: of bodies that are read whole, and of
	// what the answer is made of. Base has it, too.
	Loan *memory.Loan
	// Base is what work for the request runs under. A shutdown ends it once its
	// grace is over; a client that leaves does so where the route only reads.
	Base context.Context
	// NewSpool returns where a body goes that is read before it is looked at.
	NewSpool func() Spool
	// CountSearches counts searches as requests of the caller's key, where its limits
	// say so. Its error is for the client.
	CountSearches func(n int) error

	// Origin is by what the node that sent the request on knows it; "": a client sent it.
	Origin string
	// Unframe returns the body that comes in frames from another node; nil: it is as it comes.
	Unframe func(io.Reader) io.Reader

	// What the request's usage event is made of, beside these.
	Raw     []byte         // the body that ReadBody returned
	Found   *search.Result // what a search found
	Creates bool           // the index that documents go to is not there
}

// ErrClientLeft is why an answer ends whose client is gone.
var ErrClientLeft = errors.New("the client left")

// A Handler answers one route.
type Handler func(*Call) error

// Param returns a copy of a part of the path.
func (r *Call) Param(name string) string {
	raw := r.Params(name)
	if p, err := url.PathUnescape(raw); err == nil && p != raw {
		return p
	}
	return strings.Clone(raw)
}

// Visible reports whether the caller may use an index, and see its tasks.
func (r *Call) Visible(indexUID string) bool {
	_, ok := r.Caller.Index(indexUID)
	return ok
}
