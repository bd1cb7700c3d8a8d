// Package network keeps the object that says which other hosts there are, and
// which of them this one is. Searches may be sent to them; the package itself
// makes no request.
package network

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/base/secret"
)

// A Network is the object as it is kept. Never changed once it was given out.
type Network struct {
	Self    string // the name of this host among the remotes; "": not said
	Remotes map[string]Remote
}

// A Remote is another host, or this one.
type Remote struct {
	URL string      // of its API, without a slash at the end
	Key secret.Text // sent to it with searches; none: none is sent
	// KeyUnreadable says that a key is stored, but sealed under a master key
	// that this process does not have. Storing the network keeps it as it is.
	KeyUnreadable bool
}

// A Store keeps the network, its keys sealed. Safe for concurrent use. Package
// networktest holds the contract as a test; see package store for the real one.
type Store interface {
	// Network returns what was stored last, an empty one before that.
	Network(ctx context.Context) (*Network, error)
	// UpdateNetwork calls f with the network and stores what f returns, all in
	// one transaction: f may be called again where another update got in
	// between. f does not change old. An error of f is returned as it is, and
	// nothing is stored.
	UpdateNetwork(ctx context.Context, f func(old *Network) (*Network, error)) error
}

// A Service reports and changes the network. Safe for concurrent use.
type Service struct{ store Store }

// New returns a Service over what store keeps.
func New(store Store) *Service { return &Service{store} }

// Network returns the network as it is.
func (s *Service) Network(ctx context.Context) (*Network, error) { return s.store.Network(ctx) }

// Remote returns the remote of a name, for a search that is to be sent to it,
// and the name of this host, to which none is sent; "": it has none. An error of
// a name that is not there is an [searcherr.InvalidMultiSearchRemote] that names
// those that are.
func (s *Service) Remote(ctx context.Context, name string) (r Remote, self string, err error) {
	n, err := s.store.Network(ctx)
	if err != nil {
		return Remote{}, "", err
	}
	r, ok := n.Remotes[name]
	switch {
	case name == n.Self && name != "":
		return r, n.Self, nil
	case !ok:
		return Remote{}, "", unknownRemote(name, slices.Sorted(maps.Keys(n.Remotes)))
	case r.KeyUnreadable:
		return Remote{}, "", apierr.Newf(searcherr.InvalidMultiSearchRemote,
			"The `searchApiKey` of remote `%s` was sealed under another master key, so that it cannot be used: start the host with that master key, or send the key again by PATCH /network.", name)
	}
	return r, n.Self, nil
}

func unknownRemote(name string, known []string) error {
	advice := "there are none: add it by PATCH /network."
	if near := apierr.Nearest(name, known); near != "" {
		advice = "did you mean `" + near + "`?"
	} else if len(known) > 0 {
		advice = fmt.Sprintf("known are %.500q.", known)
	}
	return apierr.Newf(searcherr.InvalidMultiSearchRemote, "`%.100s` is not a remote of the network: %s", name, advice)
}

// Patch changes the network as a body says, and returns it as it is then. An
// error of the body is an [apierr.Error], and nothing is stored.
func (s *Service) Patch(ctx context.Context, body []byte) (*Network, error) {
	c, err := readChange(body)
	if err != nil {
		return nil, err
	}
	var stored *Network
	err = s.store.UpdateNetwork(ctx, func(old *Network) (*Network, error) {
		var err error
		stored, err = c.apply(old)
		return stored, err
	})
	if err != nil {
		return nil, err
	}
	return stored, nil
}
