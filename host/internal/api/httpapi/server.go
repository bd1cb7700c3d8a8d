// Package httpapi speaks HTTP: it reads requests, asks the domain, and renders
// answers and errors. It owns Fiber.
package httpapi

import (
	"bytes"
	"context"
	"math"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/rs/zerolog"
	"github.com/valyala/fasthttp"

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
	"github.com/parley-search/parley/host/internal/base/memory"
	"github.com/parley-search/parley/host/internal/search/reader"
)

// Forwarded is how many requests were sent to the leader of the cluster.
func (s *Server) Forwarded() uint64 { return s.forwarded.Load() }

// maxHead bounds the bytes of a request's line and headers. Each connection has
// a buffer of this size, but where a stream goes out on it: see takeOver.
const maxHead = 16 << 10

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
	s := &Server{Deps: d, leader: newForwarder(d.TLS)}
	s.ctx, s.stop = context.WithCancelCause(context.Background())
	s.app = fiber.New(fiber.Config{
		AppName:                      "parley",
		DisableStartupMessage:        true,
		CaseSensitive:                true,
		ErrorHandler:                 s.renderError,
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
	s.app.Use(s.middleware)
	s.tasks = &taskapi.Server{Tasks: d.Tasks, Replicates: d.Replicates}
	s.indexes = indexapi.New(indexapi.Deps{
		Search: d.Search, Federate: d.Federate, Features: d.Features, Tasks: s.tasks, Files: d.Files, Counted: d.Telemetry != nil, FilesTime: d.Limits.Files, DatabaseSize: d.DatabaseSize,
	})
	s.chats = &chatapi.Server{Deps: chatapi.Deps{
		Chat: d.Chat, Search: d.Search, Limiter: d.Limiter, Responses: d.Responses, Sealer: d.Sealer, Answers: answers{s}, Feedback: d.Feedback, Log: d.Log, Base: s.ctx,
		Address: func(r *call) netip.Addr { return s.clientAddress(r.Ctx) }, PublicURL: d.PublicURL,
	}}
	s.plugins = pluginapi.New(pluginapi.Deps{Chat: d.Chat, Plugins: d.Plugins, Problems: d.PluginProblems, Reload: d.Reload, Installer: d.PluginInstaller})
	s.reports = &telemetryapi.Server{Telemetry: d.Telemetry, Usage: d.Usage}
	s.admin = &adminapi.Server{
		Auth: d.Auth, Limiter: d.Limiter, Features: d.Features, Network: d.Network, Webhooks: d.Webhooks, Exports: d.Exports, Tasks: s.tasks, Wide: s.wide.Load,
	}
	s.table = s.routes()
	s.reserveWords()
	for _, rt := range s.table {
		s.addRoute(rt)
	}
	s.app.Server().Handler = s.screenHeads(s.app.Handler())
	s.app.Server().ExpectHandler = s.answerExpect
	return s
}

// screenHeads answers what must not get to next: requests whose head can be read in
// two ways, and those of a method that HTTP does not know, which Fiber would
// answer in a shape of its own. Their connection is closed: what follows on it
// may be the rest of the request, or pretend to be another one.
func (s *Server) screenHeads(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		if conn, ok := ctx.Conn().(*conn); ok {
			conn.idle.Store(0)
			conn.unwritten = conn.asked && ctx.ConnRequestNum() > 1
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
			if path, ok := joinPath(ctx.URI().PathOriginal()); ok {
				ctx.URI().SetPathBytes(path)
			}
			next(ctx)
			if s.down.Load() && !ctx.Hijacked() { // no next request is waited for, which would hold up the shutdown
				ctx.SetConnectionClose()
			}
			return
		}
		c := s.app.AcquireCtx(ctx)
		defer s.app.ReleaseCtx(c)
		defer overwrite(c)
		if err := s.renderError(c, refusal); err != nil {
			ctx.SetStatusCode(refusal.Code.Status())
		}
	}
}

// joinPath returns a path below /v1 with one slash, and "v1" once, where a client joins a
// base URL and its own path; ok where there was more: a base URL that ends in a slash makes
// "/v1//models" of it, and one that ends in "/v1" makes "/v1/v1/messages". Other paths stay:
// an empty segment is a name that is missing, and a proxy in front may go by the path.
func joinPath(path []byte) (joined []byte, ok bool) {
	base, rest := "/", bytes.TrimLeft(path, "/")
	for {
		after, is := bytes.CutPrefix(rest, []byte("v1/"))
		if !is {
			break
		}
		base, rest = "/v1/", bytes.TrimLeft(after, "/")
	}
	if base == "/" || len(base)+len(rest) == len(path) {
		return path, false
	}
	return append([]byte(base), rest...), true
}

// hangUpAfter has the connection of ctx closed once the client could read the
// answer, whatever it is still sending.
func hangUpAfter(ctx *fasthttp.RequestCtx) {
	ctx.SetConnectionClose()
	if c, ok := ctx.Conn().(*conn); ok {
		c.linger.Store(true)
	}
}

// quiet writes fasthttp's complaints to the log at the level debug.
type quiet struct{ log *zerolog.Logger }

func (q quiet) Printf(format string, args ...any) { q.log.Debug().Msgf(format, args...) }
