// Package node is a host's place among hosts: a node of a cluster, or alone. It opens the
// database, and says who applies tasks, when, and how what changes gets into memory. Nothing
// else of a host asks whether there is a cluster.
package node

import (
	"context"
	"net"

	"github.com/rs/zerolog"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/api/httpapi/pluginapi"
	"github.com/parley-search/parley/host/internal/base/contain"
	"github.com/parley-search/parley/host/internal/base/feature"
	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/plugin/deploy"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/setup/backup"
	"github.com/parley-search/parley/host/internal/setup/config"
	"github.com/parley-search/parley/host/internal/setup/metrics"
	"github.com/parley-search/parley/host/internal/task"
	"github.com/parley-search/parley/host/internal/task/webhook"
)

// Options are what a [Node] is opened with. All are needed.
type Options struct {
	Config    config.Config
	Version   string // of the build
	Addr      net.Addr
	PluginDir deploy.Dir
	Log       zerolog.Logger
	// OnClose notes what is to be closed, before what was noted earlier.
	OnClose func(name string, f func() error)
}

// A Node is what a host is among hosts. The parts of the host are opened by it, in the order
// of its methods, until [Node.Start].
type Node interface {
	// Database is the node's, open, and what seals secrets in it.
	Database() (*store.Store, *store.Sealer)
	// Notes is what the words of indexes follow the log by; nil: who writes documents writes
	// their words.
	Notes() index.Notes
	// OpenTasks returns a queue that applies nothing yet.
	OpenTasks(ctx context.Context, p task.Processor, o task.Options) (*task.Queue, error)
	OpenKeys(ctx context.Context, o auth.Options) (*auth.Service, error)
	// Installer returns what changes plugins for clients.
	Installer(deploy.Remote) pluginapi.Installer
	// Start has the node do its part, and notes what ends that.
	Start(Parts) error
	// Families are what GET /metrics has of the node.
	Families() []metrics.Family
	// Resign has another node take writes before this one ends. It waits for little.
	Resign(context.Context)

	httpapi.Cluster
}

// Parts are those of a host that a [Node] keeps in step with the database.
type Parts struct {
	Search     *search.Service
	Tasks      *task.Queue
	Keys       *auth.Service
	Features   *feature.Service
	Webhooks   *webhook.Service
	Workspaces *store.Workspaces
	// Reload runs what the plugin directory says. It logs its error.
	Reload func(context.Context) error
	// Forwarded is how many requests were sent on to the leader.
	Forwarded func() uint64
}

// Open opens the database of o.Config, as that of a node of the cluster that is named there,
// or of a host alone.
func Open(ctx context.Context, o Options) (Node, error) {
	if o.Config.Cluster.Name != "" {
		return openMember(ctx, o)
	}
	return openAlone(ctx, o)
}

// failed is told of work in the background that panicked.
func (o *Options) failed(err error) {
	o.Log.Error().Err(err).Msg("work in the background failed; it begins again")
}

// scheduleSnapshots asks for snapshots of the host until what it returns is called.
func (o *Options) scheduleSnapshots(tasks *task.Queue) (stop func() error) {
	if o.Config.ScheduleSnapshot <= 0 {
		return func() error { return nil }
	}
	return contain.Background(func(ctx context.Context) {
		backup.Schedule(ctx, tasks, o.Config.ScheduleSnapshot, func(err error) { o.Log.Error().Err(err).Msg("no snapshot asked for") })
	}, o.failed)
}
