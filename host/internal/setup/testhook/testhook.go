// Package testhook lets the tests of the whole system reach what the API does
// not show. No program that we ship uses it.
package testhook

import (
	"context"

	"github.com/parley-search/parley/host/internal/base/sysinfo"
	"github.com/parley-search/parley/host/internal/egress/upstream"
	"github.com/parley-search/parley/host/internal/task"
	"github.com/parley-search/parley/host/internal/telemetry"
	"github.com/parley-search/parley/host/internal/telemetry/outbox"
)

// Hooks change a host, where their fields are set before it is opened, and
// show its parts once it is open.
type Hooks struct {
	Machine *sysinfo.Machine // what telemetry tells of; nil: where the host runs
	Reach   upstream.Options // resolver and TLS towards providers; zero: the machine's
	// GoogleTokenURL is where service accounts get tokens; empty: Google's.
	GoogleTokenURL string

	// Set when the host is open.
	Tasks        *task.Queue
	Instance     telemetry.UUID
	Spool        *outbox.Spool
	Engine       func() *telemetry.Engine // that is told of changes of the plugins
	AddCollector func(context.Context, telemetry.Collector)
}
