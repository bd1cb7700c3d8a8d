// Package httpapi speaks HTTP: it reads requests, asks the domain, and renders
// answers and errors. It owns Fiber.
package httpapi

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/rs/zerolog"
	"github.com/valyala/fasthttp"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/api/console"
	"github.com/parley-search/parley/host/internal/api/httpapi/adminapi"
	"github.com/parley-search/parley/host/internal/api/httpapi/chatapi"
	"github.com/parley-search/parley/host/internal/api/httpapi/indexapi"
	"github.com/parley-search/parley/host/internal/api/httpapi/pluginapi"
	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/api/httpapi/taskapi"
	"github.com/parley-search/parley/host/internal/api/httpapi/telemetryapi"
	"github.com/parley-search/parley/host/internal/api/mcp"
	"github.com/parley-search/parley/host/internal/api/openai/responses"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/feature"
	"github.com/parley-search/parley/host/internal/base/logs"
	"github.com/parley-search/parley/host/internal/base/memory"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/egress/export"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/federate"
	"github.com/parley-search/parley/host/internal/search/network"
	"github.com/parley-search/parley/host/internal/search/reader"
	"github.com/parley-search/parley/host/internal/task"
	"github.com/parley-search/parley/host/internal/task/webhook"
	"github.com/parley-search/parley/host/internal/telemetry"
	"github.com/parley-search/parley/host/internal/telemetry/tracing"
)

// Deps is what a [Server] works with. All fields but Files, Plugins, PluginProblems, LockProblem, Reload, PluginInstaller,
// Metrics, DatabaseSize, Limits, Memory, Limiter, Served, Tracer, Telemetry, Usage, Now, Sealer, TLS and Site are
// required.
type Deps struct {
	Auth   *auth.Service
	Chat   *chat.Service
	Search *search.Service
	// Federate answers several queries at once, from Search and other hosts.
	Federate *federate.Service
	Tasks    *task.Queue
	// Replicates makes writes read the headers TaskId and DryRun.
	Replicates bool
	// Console serves the page for people.
	Console bool
	// NoDocs leaves out the page that describes the API.
	NoDocs bool
	// Files reads what is sent to POST /indexes/{uid}/files; nil: without PDF files.
	Files *reader.Reader
	// Exports makes the tasks that copy indexes to another instance.
	Exports *export.Service
	// Features are what may be switched; Network is what they may switch on.
	Features *feature.Service
	Network  *network.Service
	// Webhooks are told of finished tasks.
	Webhooks *webhook.Service
	Version  Version
	Log      zerolog.Logger
	Logs     *logs.Hub // where Log writes
	// Loaded is closed once all plugins of the deployment run; nil: they do.
	Loaded <-chan struct{}
	// Usable is closed once those run that workspaces name; nil: they do.
	Usable <-chan struct{}
	// Plugins lists what is loaded and what was refused, for GET /plugins.
	Plugins func() []pluginapi.Plugin
	// Reload makes the host run what the deployment says now, for POST
	// /plugins/reload. Its error is a sentence for the operator.
	Reload func(context.Context) (pluginapi.Reloaded, error)
	// PluginProblems are what is wrong with the deployment of plugins as a whole; nil: nothing.
	PluginProblems func() []string
	// LockProblem reports whether the plugins' lock cannot be read; nil: it can.
	LockProblem func() bool
	// PluginInstaller does what clients say of plugins; nil: they may not.
	PluginInstaller pluginapi.Installer
	// Metrics writes the figures of GET /metrics, in the text form that
	// Prometheus reads.
	Metrics func(io.Writer) error
	// DatabaseSize is the bytes on disk, and those of them that are in use, for
	// GET /stats.
	DatabaseSize func() (size, used int64)
	Limits       Limits
	// Memory is what all requests may hold; nil: without a bound.
	Memory *memory.Account
	// Served is told of every request that was answered; nil: nobody. It runs
	// in the request: be quick.
	Served func(*Served)
	// Tracer is told of chats; nil: nobody is.
	Tracer *tracing.Tracer
	// Telemetry takes the events; nil where it is off.
	Telemetry *telemetry.Engine
	// Usage is what GET /telemetry says beside it.
	Usage telemetryapi.Usage
	// Now is the clock that requests are timed by; nil: that of the machine.
	Now func() time.Time
	// Limiter bounds and counts what keys and workspaces ask for; nil: nobody does.
	Limiter *limit.Limiter
	// Cluster is what this host is a node of; default: [Alone].
	Cluster Cluster
	// Responses keeps what clients of /v1 may refer to; nil: nothing is kept.
	Responses *responses.Store
	// Sealer seals the reasoning that clients of /v1 keep; nil: they get none.
	Sealer chatapi.Sealer
	// PublicURL is where clients reach this host, without a slash at the end;
	// empty: as each request says.
	PublicURL string
	// TLS is what Listen speaks; nil: plain HTTP.
	TLS *tls.Config
	// Site is what requests may say of where they come from and go to.
	Site Site
}

// Forwarded is how many requests were sent to the leader of the cluster.
func (s *Server) Forwarded() uint64 { return s.forwarded.Load() }

// Limits bounds what a connection may take. The zero value of a field means
// its default, given beside it.
type Limits struct {
	Body      int64         // bytes of a request's body; default 100 MiB
	Search    int64         // bytes of a search's body, where Body is not less; default 1 MiB
	Chat      int64         // bytes of the body of a chat or a message of MCP, where Body is not less; default 4 MiB
	Answer    int64         // bytes of an answer that is made whole; default 64 MiB
	Read      time.Duration // for a request's head, and for each 64 KiB of its body; default 30s
	Idle      time.Duration // between two requests of a connection; default 2min
	Write     time.Duration // for one write to a client that does not read; default 1min
	KeepAlive time.Duration // silence in a stream after which a comment is sent; default 10s
	Opening   time.Duration // silence of a provider after which a stream begins without it; default 5s
	Watch     time.Duration // between two looks at whether a stream's client is there; default 500ms
	Trial     time.Duration // for a provider's first word to POST /chats/{uid}/test; default 1min
	Files     time.Duration // for the files of a request to be read once they are here; default 2min
	// Connections are those open at a time, of which one client has half at most; default 10,000.
	Connections int
	Linger      time.Duration // for a client to read the last answer before its connection is closed; default 500ms
}

func (l Limits) withDefaults() Limits {
	l.Body = cmp.Or(l.Body, 100<<20)
	l.Search = cmp.Or(l.Search, 1<<20)
	l.Chat = cmp.Or(l.Chat, 4<<20)
	l.Answer = cmp.Or(l.Answer, 64<<20)
	l.Read = cmp.Or(l.Read, 30*time.Second)
	l.Idle = cmp.Or(l.Idle, 2*time.Minute)
	l.Write = cmp.Or(l.Write, time.Minute)
	l.KeepAlive = cmp.Or(l.KeepAlive, 10*time.Second)
	l.Opening = cmp.Or(l.Opening, 5*time.Second)
	l.Watch = cmp.Or(l.Watch, 500*time.Millisecond)
	l.Trial = cmp.Or(l.Trial, time.Minute)
	l.Files = cmp.Or(l.Files, 2*time.Minute)
	l.Connections = cmp.Or(l.Connections, 10_000)
	l.Linger = cmp.Or(l.Linger, 500*time.Millisecond)
	return l
}

// maxHead bounds the bytes of a request's line and headers. Each connection has
// a buffer of this size, but where a stream goes out on it: see takeOver.
const maxHead = 16 << 10

// errShutdown is why an answer ends that outlasts the grace of a shutdown.
var errShutdown = errors.New("the host is shutting down")

// A Server serves the API. Safe for concurrent use.
type Server struct {
	Deps
	app     *fiber.App
	tasks   *taskapi.Server
	admin   *adminapi.Server
	reports *telemetryapi.Server
	plugins *pluginapi.Server
	indexes *indexapi.Server
	chats   *chatapi.Server
	table   []*route
	describer
	mcp     *mcp.Endpoint
	conns   conns
	streams streams
	chunks  sync.Pool      // buffers of streams that wait; see chunk
	taken   sync.WaitGroup // goroutines of connections
	wide    atomic.Bool    // it listens not on this machine alone
	// watching is the stream of the log, where there is one.
	watching atomic.Pointer[logWatch]
	ctx      context.Context // ends what outlasts a shutdown's grace
	stop     context.CancelCauseFunc

	leader    *forwarder // of the cluster
	vouchers  origins    // vouchers of other nodes
	forwarded atomic.Uint64

	down atomic.Bool // Shutdown was called

	mu           sync.Mutex
	listener     *listener
	consoleFiles map[string]console.File
}

// New returns a Server that does not listen yet.
func New(d Deps) *Server {
	d.Limits = d.Limits.withDefaults()
	if d.Responses == nil {
		d.Responses = responses.New(responses.Options{})
	}
	if d.Memory == nil {
		d.Memory = memory.NewAccount(0, nil)
	}
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.Cluster == nil {
		d.Cluster = Alone{}
	}
	if d.Files == nil {
		d.Files = &reader.Reader{}
	}
	if u, err := url.Parse(d.PublicURL); err == nil && u.Host != "" {
		d.Site.Hosts = append(slices.Clip(d.Site.Hosts), HostName(u.Host))
	}
	s := &Server{Deps: d, leader: newForwarder()}
	s.ctx, s.stop = context.WithCancelCause(context.Background())
	s.app = fiber.New(fiber.Config{
		AppName:                      "parley",
		DisableStartupMessage:        true,
		CaseSensitive:                true,
		ErrorHandler:                 s.fail,
		BodyLimit:                    int(d.Limits.Body),
		StreamRequestBody:            true,
		DisablePreParseMultipartForm: true,
		ReadTimeout:                  d.Limits.Read,
		IdleTimeout:                  d.Limits.Idle,
		ReadBufferSize:               maxHead,
		Concurrency:                  math.MaxInt32, // Limits.Connections bounds them
	})
	// What goes wrong on a connection is the client's doing more often than
	// not, and its text may hold parts of a request.
	s.app.Server().SecureErrorLogMessage = true
	s.app.Server().Logger = quiet{&s.Log}
	s.mcp = mcp.New(mcp.Options{Version: d.Version.Version, Search: d.Search, Panicked: func(what string, stack []byte) {
		s.Log.Error().Str("panic", what).Bytes("stack", stack).Msg("handler panicked")
	}})
	s.app.Use(s.around)
	s.tasks = &taskapi.Server{Tasks: d.Tasks, Replicates: d.Replicates}
	s.indexes = indexapi.New(indexapi.Deps{
		Search: d.Search, Federate: d.Federate, Features: d.Features, Tasks: s.tasks, Files: d.Files, Counted: d.Telemetry != nil, FilesTime: d.Limits.Files, DatabaseSize: d.DatabaseSize,
	})
	s.chats = &chatapi.Server{Deps: chatapi.Deps{
		Chat: d.Chat, Search: d.Search, Limiter: d.Limiter, Responses: d.Responses, Sealer: d.Sealer, Answers: answers{s}, Log: d.Log, Base: s.ctx,
		Address: func(r *call) netip.Addr { return s.clientAddress(r.Ctx) }, PublicURL: d.PublicURL,
	}}
	s.plugins = pluginapi.New(pluginapi.Deps{Chat: d.Chat, Plugins: d.Plugins, Problems: d.PluginProblems, Reload: d.Reload, Installer: d.PluginInstaller})
	s.reports = &telemetryapi.Server{Telemetry: d.Telemetry, Usage: d.Usage}
	s.admin = &adminapi.Server{
		Auth: d.Auth, Limiter: d.Limiter, Features: d.Features, Network: d.Network, Webhooks: d.Webhooks, Exports: d.Exports, Tasks: s.tasks, Wide: s.wide.Load,
	}
	s.table = s.routes()
	for _, rt := range s.table {
		s.serve(rt)
	}
	s.app.Server().Handler = s.screen(s.app.Handler())
	s.app.Server().ExpectHandler = s.expect
	return s
}

// screen answers what must not get to next: requests whose head can be read in
// two ways, and those of a method that HTTP does not know, which Fiber would
// answer in a shape of its own. Their connection is closed: what follows on it
// may be the rest of the request, or pretend to be another one.
func (s *Server) screen(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		if conn, ok := ctx.Conn().(*conn); ok {
			conn.idle.Store(0)
			conn.loan.Close() // of the request before, where this one came with it
			defer func() { conn.asked = true }()
		}
		var refusal *apierr.Error
		if why := checkHead(&ctx.Request); why != "" {
			refusal = request.Unreadable(why)
		} else if !slices.Contains(fiber.DefaultMethods, string(ctx.Method())) {
			ctx.Response.Header.Set(fiber.HeaderAllow, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
			refusal = apierr.Newf(apierr.MethodNotAllowed, "This host has no method %.20q: each route takes some of GET, HEAD, POST, PUT, PATCH, DELETE and OPTIONS.", ctx.Method())
		} else {
			next(ctx)
			return
		}
		c := s.app.AcquireCtx(ctx)
		defer s.app.ReleaseCtx(c)
		defer overwrite(c)
		if err := s.fail(c, refusal); err != nil {
			ctx.SetStatusCode(refusal.Code.Status())
		}
	}
}

// hangUpAfter has the connection of ctx closed once the client could read the
// answer, whatever it is still sending.
func hangUpAfter(ctx *fasthttp.RequestCtx) {
	ctx.SetConnectionClose()
	if c, ok := ctx.Conn().(*conn); ok {
		c.linger.Store(true)
	}
}

// quiet writes fasthttp's complaints to the log where somebody looks for them.
type quiet struct{ log *zerolog.Logger }

func (q quiet) Printf(format string, args ...any) { q.log.Debug().Msgf(format, args...) }

// Listen serves ln, which it closes, until Shutdown, and returns nil then.
func (s *Server) Listen(ln net.Listener) error {
	at, ok := ln.Addr().(*net.TCPAddr)
	s.wide.Store(ok && !at.IP.IsLoopback())
	s.mu.Lock()
	s.listener = &listener{Listener: ln, server: s, tls: s.TLS, closed: make(chan struct{})}
	s.mu.Unlock()
	if s.down.Load() {
		return ln.Close()
	}
	watched, stop := context.WithCancel(context.Background())
	defer stop()
	go s.streams.watch(watched, s.Limits)
	err := s.app.Listener(s.listener)
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// hangUp closes the listener, whether Fiber has it already or not yet.
func (s *Server) hangUp() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down.Store(true)
	if s.listener == nil {
		return nil
	}
	return s.listener.Close()
}

// settle is how long answers that a shutdown cut off have to say so.
const settle = 2 * time.Second

// Shutdown stops listening and waits for requests and streams under way, until
// ctx ends: then streams end with an error frame, and after two seconds all
// connections are closed.
func (s *Server) Shutdown(ctx context.Context) error {
	if err := s.hangUp(); err != nil {
		return fmt.Errorf("close listener: %w", err)
	}
	s.unwatch() // it would never finish by itself
	defer s.leader.client.CloseIdleConnections()
	s.conns.endRest()
	hard, end := context.WithCancel(context.Background())
	defer end()
	done := make(chan error, 1)
	go func() {
		err := s.app.ShutdownWithContext(hard)
		s.given(hard)
		done <- err
	}()
	select {
	case err := <-done:
		s.stop(errShutdown)
		return err
	case <-ctx.Done():
	}
	s.stop(errShutdown)
	select {
	case err := <-done:
		return err
	case <-time.After(settle):
	}
	s.conns.closeAll()
	end()
	<-done
	return nil
}

// given waits until no connection is served any more, or ctx ends.
func (s *Server) given(ctx context.Context) {
	none := make(chan struct{})
	go func() {
		defer close(none)
		s.taken.Wait()
	}()
	select {
	case <-none:
	case <-ctx.Done():
	}
}
