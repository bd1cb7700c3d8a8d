package federate

import (
	"cmp"
	"context"
	"time"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/feature"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/network"
)

// Indexes answers queries of one index each. See [search.Service], which does.
type Indexes interface {
	Search(ctx context.Context, caller *auth.Caller, indexUID string, q search.Query) (*search.Result, error)
	// SearchJointly opens an index for the queries of a federation.
	SearchJointly(ctx context.Context, caller *auth.Caller, indexUID string, o search.JointOptions, f func(*search.Joint) error) error
}

// Remotes knows the other hosts that queries of a federation may be sent to. See
// package network.
type Remotes interface {
	// Remote returns the host of a name, and the name of this one, which may be
	// the same; "": it has none. An error for a name that is not known is an
	// [apierr.Error].
	Remote(ctx context.Context, name string) (r network.Remote, self string, err error)
}

// Options are what a [Service] needs. Indexes is required.
type Options struct {
	Indexes Indexes
	// Remotes are the hosts that queries may be sent to, by Upstream; nil: none.
	Remotes  Remotes
	Upstream outbound.Sender
	// RemoteTimeout bounds how long one of them has to answer; default 15 s.
	RemoteTimeout time.Duration
	// Features says what is on; nil: what is by default.
	Features func() feature.Set
	// Log is told of a remote that did not take part; default: nobody.
	Log func(message string, err error)
}

// A Service answers several queries at once. Safe for concurrent use.
type Service struct{ opts Options }

// New returns a Service.
func New(o Options) *Service {
	o.RemoteTimeout = cmp.Or(o.RemoteTimeout, 15*time.Second)
	if o.Features == nil {
		o.Features = feature.Default
	}
	if o.Log == nil {
		o.Log = func(string, error) {}
	}
	return &Service{o}
}
