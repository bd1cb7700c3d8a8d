package httpapi

import (
	"cmp"
	"context"
	"crypto/tls"
	"io"
	"time"

	"github.com/rs/zerolog"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/api/httpapi/chatapi"
	"github.com/parley-search/parley/host/internal/api/httpapi/pluginapi"
	"github.com/parley-search/parley/host/internal/api/httpapi/telemetryapi"
	"github.com/parley-search/parley/host/internal/api/openai/responses"
	"github.com/parley-search/parley/host/internal/base/feature"
	"github.com/parley-search/parley/host/internal/base/logs"
	"github.com/parley-search/parley/host/internal/base/memory"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/workspace"
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
	// Webhooks get the tasks that have finished.
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
	// Reload applies the deployment as it is now, for POST
	// /plugins/reload. Its error is a sentence for the operator.
	Reload func(context.Context) (pluginapi.Reloaded, error)
	// PluginProblems are what is wrong with the deployment of plugins as a whole; nil: nothing.
	PluginProblems func() []string
	// LockProblem reports whether the plugins' lock cannot be read; nil: it can.
	LockProblem func() bool
	// PluginInstaller installs and removes plugins for clients; nil: they may not.
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
	// Served is called with every request that was answered; nil: it is not. It runs
	// in the request: be quick.
	Served func(*Served)
	// Tracer traces chats; nil: they are not traced.
	Tracer *tracing.Tracer
	// Telemetry takes the events; nil where it is off.
	Telemetry *telemetry.Engine
	// Usage is the other part of what GET /telemetry answers.
	Usage telemetryapi.Usage
	// Now is the clock that requests are timed by; nil: that of the machine.
	Now func() time.Time
	// Limiter bounds and counts what keys and workspaces ask for; nil: nothing does.
	Limiter *limit.Limiter
	// Cluster is what this host is a node of; default: [Alone].
	Cluster Cluster
	// Responses keeps what clients of /v1 may refer to; nil: nothing is kept.
	Responses *responses.Store
	// Feedback keeps what clients think of answers.
	Feedback workspace.Feedbacks
	// Sealer seals the reasoning that clients of /v1 keep; nil: they get none.
	Sealer chatapi.Sealer
	// PublicURL is where clients reach this host, without a slash at the end;
	// empty: the host that each request names.
	PublicURL string
	// TLS is what Listen speaks; nil: plain HTTP.
	TLS *tls.Config
	// Site is which origins and hosts requests may name.
	Site Site
}

// Limits bounds what a connection may take. The zero value of a field means
// its default, given beside it.
type Limits struct {
	Body      int64         // bytes of a request's body; default 100 MiB
	Search    int64         // bytes of a search's body, where Body is not less; default 1 MiB
	Chat      int64         // bytes of all other bodies but documents, files, settings and plugins, where Body is not less; default 4 MiB
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
