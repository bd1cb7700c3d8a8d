// Package host is the service: it wires the rooms of internal together, from
// the database to the listener.
package host

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/api/httpapi/transport"
	"github.com/parley-search/parley/host/internal/api/openai/responses"
	"github.com/parley-search/parley/host/internal/base/badgerdir"
	"github.com/parley-search/parley/host/internal/base/feature"
	"github.com/parley-search/parley/host/internal/base/logs"
	"github.com/parley-search/parley/host/internal/base/memory"
	"github.com/parley-search/parley/host/internal/base/sysinfo"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/egress/export"
	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/federate"
	"github.com/parley-search/parley/host/internal/search/network"
	"github.com/parley-search/parley/host/internal/setup/config"
	"github.com/parley-search/parley/host/internal/setup/figures"
	"github.com/parley-search/parley/host/internal/setup/metrics"
	"github.com/parley-search/parley/host/internal/setup/node"
	"github.com/parley-search/parley/host/internal/setup/testhook"
	"github.com/parley-search/parley/host/internal/task"
	"github.com/parley-search/parley/host/internal/task/webhook"
	"github.com/parley-search/parley/host/internal/telemetry"
)

// Options is what a [Host] is given beside its configuration.
type Options struct {
	Logs     *logs.Hub // where the log goes; nil: nowhere
	Embedded [][]byte  // modules that the binary carries
	// Compiler is a program with its arguments that calls [CompileModule] and
	// ends. With it, plugins and what reads PDF files are compiled in a process
	// of low priority; without, in this one.
	Compiler []string
	Version  string // of the host
	Commit   string // that it was built from
	// CommitDate is when that was made, RFC 3339.
	CommitDate string
	// Pace is the clock, for tests of what takes hours otherwise and of clocks that are set; the zero
	// value is that of the machine. Limits and pauses are measured by the machine's all the same.
	Pace Pace

	// NoteCrash: what ends the process by a fault is written to the data directory, where the next
	// start reads it. For a program whose one host this is.
	NoteCrash bool

	Hooks *testhook.Hooks // for tests; nil: none
}

// Pace is a clock, and how often it is looked at.
type Pace struct {
	Now  func() time.Time
	Tick time.Duration
}

func (p Pace) now() time.Time {
	if p.Now == nil {
		return time.Now()
	}
	return p.Now()
}

// A Host is the service, open and listening. Call Run, or Close.
type Host struct {
	config   config.Config
	log      zerolog.Logger
	plugins  *plugin.Set
	sandbox  *wasm.Runtime // that they run in
	modules  [][]byte      // that the binary carries
	metrics  *metrics.Registry
	figures  *figures.Figures
	applying sync.Mutex // one change of the plugins at a time
	locked   locked
	search   *search.Service
	federate *federate.Service // of search and other hosts
	tasks    *task.Queue
	exports  *export.Service
	webhooks *webhook.Service
	chat     *chat.Service
	usage    usage // telemetry, or why there is none
	server   *httpapi.Server
	listener net.Listener
	loaded   chan struct{} // closed once all that the deployment wants runs
	unfit    chan error    // receives why the host cannot go on
	// stopLoading ends the load of the first plugins; never nil.
	stopLoading context.CancelFunc

	closers []closer // in the order of opening
	closing sync.Once
	waiting atomic.Pointer[closer] // what Close waits for
	db      *store.Store
	node    node.Node
}

// Open listens, opens everything below c.DBPath, and begins to load the plugins.
// It serves once Run is called, and all plugins once Loaded is closed.
func Open(ctx context.Context, c config.Config, o Options) (_ *Host, err error) {
	h := &Host{config: c, log: o.Logs.Logger(), modules: o.Embedded, metrics: metrics.New(), loaded: make(chan struct{}), unfit: make(chan error, 1), stopLoading: func() {}}
	h.figures = figures.New(h.metrics)
	o.Hooks = cmp.Or(o.Hooks, &testhook.Hooks{})
	defer func() {
		if err != nil {
			_ = h.closeUntil(time.Now().Add(c.ShutdownGrace)) // the log has what is not closed; err is why
		}
	}()

	tlsConfig, err := h.openTLS(c) // first: what it refuses has then cost and changed nothing
	if err != nil {
		return nil, err
	}
	if err := h.listen(c.HTTPAddr); err != nil { // second, for the same reason
		return nil, err
	}
	db, sealer, err := h.openData(ctx, c, o)
	if err != nil {
		return nil, err
	}
	spaces := db.Workspaces(sealer)
	if err := h.openPlugins(ctx, c, o, spaces); err != nil {
		return nil, err
	}
	otherReason := o.NoteCrash && h.readCrash(c.DBPath) || db.ReleasedBallast
	features, err := feature.Open(ctx, db, c.Features()...)
	if err != nil {
		return nil, err
	}
	remotes := network.New(db.Network(sealer))
	if err := h.openSearch(c, o, db, sealer, features, remotes); err != nil {
		return nil, err
	}
	if err := h.openTasks(ctx, c, o, db, sealer, otherReason); err != nil {
		return nil, err
	}
	first, err := db.FirstLaunch(o.Pace.now())
	if err != nil {
		return nil, err
	}
	engine, err := h.openTelemetry(ctx, c, o, h.snapshot(c, o, features, first))
	if err != nil {
		return nil, err
	}
	h.metrics.Add(func() []metrics.Family {
		return figures.Telemetry(h.usage.counting(), h.usage.spool, h.usage.courier)
	})
	h.metrics.Add(func() []metrics.Family { return figures.Usage(h.usage.counting()) })
	tracer, err := h.openTracing(c, o)
	if err != nil {
		return nil, err
	}
	limiter := h.openLimits(o, db)
	if err := h.openChat(c, o, spaces, tracer, limiter); err != nil {
		return nil, err
	}
	keys, err := h.node.OpenKeys(ctx, auth.Options{MasterKey: c.MasterKey.Reveal(), Now: o.Pace.Now})
	if err != nil {
		return nil, err
	}
	requests := memory.NewAccount(c.RequestMemory, sysinfo.Room)
	h.metrics.Add(func() []metrics.Family { return figures.Requests(requests) })
	deps := httpapi.Deps{
		Auth: keys, Features: features, Limiter: limiter, Sealer: sealer,
		Chat: h.chat, Search: h.search, Federate: h.federate, Files: h.openFiles(c, o),
		Tasks: h.tasks, Exports: h.exports, Network: remotes, Webhooks: h.webhooks,
		Plugins: h.pluginStatus, PluginProblems: h.pluginProblems, LockProblem: func() bool { return h.locked.problem.Load() != nil }, Reload: h.reloadPlugins, PluginInstaller: h.pluginInstaller(o), Loaded: h.loaded, Usable: h.plugins.Usable(),
		Log: h.log, Logs: o.Logs, Tracer: tracer, Metrics: h.metrics.Render, Served: h.figures.Served,
		Telemetry: engine, Usage: h.usageRoutes(c),
		DatabaseSize: func() (size, used int64) { return h.databaseSize(db) },
		Feedback:     db,
		Responses:    responses.New(responses.Options{TTL: c.ResponsesTTL, MaxBytes: c.ResponsesMaxBytes, Now: o.Pace.Now}),
		Version:      httpapi.Version{Version: o.Version, Commit: o.Commit, Date: o.CommitDate},
		Limits:       httpapi.Limits{Body: c.PayloadLimit, Search: c.SearchPayload, Chat: c.ChatPayload, Answer: c.AnswerLimit, Connections: c.Connections},
		Memory:       requests,
		Site:         httpapi.Site{Hosts: c.AllowedHosts, Origins: c.AllowedOrigins, Proxies: c.TrustedProxies},
		PublicURL:    c.PublicURL, TLS: tlsConfig, Replicates: c.Replicates,
		Console: c.Console == config.ConsoleOn, NoDocs: !c.DocsPage,
		Now: o.Pace.Now, Cluster: h.node,
	}
	h.server = httpapi.New(deps)
	h.metrics.Add(h.node.Families)
	err = h.node.Start(node.Parts{
		Search: h.search, Tasks: h.tasks, Keys: keys, Features: features, Webhooks: h.webhooks, Workspaces: spaces,
		Reload: h.Reload, Forwarded: h.server.Forwarded,
	})
	if err != nil {
		return nil, err
	}
	db.NoteURL(h.url())
	h.show(o.Hooks)
	if engine == nil {
		go func() {
			<-h.plugins.Loaded()
			close(h.loaded)
		}()
	}
	return h, nil
}

// show lets tests reach what the API does not show.
func (h *Host) show(hooks *testhook.Hooks) {
	hooks.Tasks, hooks.Instance, hooks.Spool = h.tasks, h.usage.uid, h.usage.spool
	hooks.Engine = func() *telemetry.Engine {
		h.applying.Lock()
		defer h.applying.Unlock()
		return h.usage.inUse
	}
	hooks.AddCollector = func(ctx context.Context, c telemetry.Collector) {
		h.applying.Lock()
		defer h.applying.Unlock()
		h.usage.inUse.Use(ctx, append(h.collectors(h.plugins.Running()), c))
	}
}

// openTLS returns what the API is served over, or nil for plain HTTP.
func (h *Host) openTLS(c config.Config) (*tls.Config, error) {
	if c.TLS.Cert == "" {
		return nil, nil
	}
	t, err := transport.OpenTLS(c.TLS, func(err error) { h.log.Error().Err(err).Msg("changed TLS files are not used") })
	if err != nil {
		return nil, config.OptionError{Err: err}
	}
	return t, nil
}

// listen takes the address, and serves nothing yet.
func (h *Host) listen(addr string) (err error) {
	if h.listener, err = net.Listen("tcp", addr); err != nil {
		if op, ok := errors.AsType[*net.OpError](err); ok {
			err = op.Err // the rest of it says the address again
		}
		return fmt.Errorf("listen on %s: %w: give another --http-addr", addr, err)
	}
	return nil
}

// Addr is where the host listens.
func (h *Host) Addr() net.Addr { return h.listener.Addr() }

// url is where this machine's clients find the host.
func (h *Host) url() string {
	scheme, addr := "http://", h.Addr().String()
	if h.config.TLS.Cert != "" {
		scheme = "https://"
	}
	if at, err := netip.ParseAddrPort(addr); err == nil && at.Addr().IsUnspecified() {
		addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(int(at.Port())))
	}
	return scheme + addr
}

// Loaded is closed once all that the deployment wants runs, or was refused, and
// telemetry with it. Until then, requests that want a plugin wait for it.
func (h *Host) Loaded() <-chan struct{} { return h.loaded }

// databaseSize is what the data directory takes of the disk, and how much of it
// is not on its way out: tables whose records are overwritten, segments that
// were merged.
func (h *Host) databaseSize(db *store.Store) (size, used int64) {
	size = badgerdir.Use(h.config.DBPath)
	return size, max(size-db.Stale()-h.search.Stale(), 0)
}
