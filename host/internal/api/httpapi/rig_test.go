package httpapi_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/api/httpapi/pluginapi"
	"github.com/parley-search/parley/host/internal/api/httpapi/taskapi"
	"github.com/parley-search/parley/host/internal/api/httpapi/telemetryapi"
	"github.com/parley-search/parley/host/internal/api/openai/responses"
	"github.com/parley-search/parley/host/internal/base/feature"
	"github.com/parley-search/parley/host/internal/base/logs"
	"github.com/parley-search/parley/host/internal/base/memory"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/chattest"
	"github.com/parley-search/parley/host/internal/chat/workspace"
	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/egress/export"
	"github.com/parley-search/parley/host/internal/egress/upstream"
	"github.com/parley-search/parley/host/internal/plugin/guard/guardtest"
	"github.com/parley-search/parley/host/internal/plugin/provider"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/federate"
	"github.com/parley-search/parley/host/internal/search/network"
	"github.com/parley-search/parley/host/internal/task"
	"github.com/parley-search/parley/host/internal/task/webhook"
	"github.com/parley-search/parley/host/internal/telemetry"
)

const (
	master  = "the master key of tests"
	demoKey = "sk-0123456789-secret"
	hello   = `{"model":"m","messages":[{"role":"user","content":"words of a user"}]}`
)

// A wish says what a rig is to be. Its zero value is a host with a master key.
type wish struct {
	features  []feature.Feature // on from the start
	tls       *tls.Config
	open      bool // no master key
	site      httpapi.Site
	panics    bool              // GET /plugins does
	forgets   bool              // keeps no responses
	guards    guardtest.Plugins // nil: mask
	publicURL string
	indexes   []chat.Index // that a chat searches, and what is in them
	documents map[string][]chat.Hit
	idle      bool // no task is applied before the rig's start
	limits    httpapi.Limits
	usage     *telemetry.Engine // nil: telemetry is off
	upstream  outbound.Sender
	reaches   bool // other hosts, by a real upstream
	console   bool // serve the page
	wide      bool // seems to listen to other machines
	listener  func(net.Listener) net.Listener
	memory    *memory.Account
	noDocs    bool
	installer pluginapi.Installer
	sources   func(provider.Sources) provider.Sources // what the chat has of the plugins; nil: all as they are
	cluster   httpapi.Cluster
	patience  time.Duration // with them; default remoteTimeout
}

// elsewhere is a listener that says it listens to a network.
type elsewhere struct{ net.Listener }

func (e elsewhere) Addr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4zero, Port: e.Listener.Addr().(*net.TCPAddr).Port}
}

// A rig is a server on a real port over real parts in memory. Its only fakes
// are the provider, and the search that a chat makes.
type rig struct {
	tb     testing.TB
	url    string
	client *http.Client
	keys   *auth.Service
	chat   *chat.Service
	source *chattest.Source // of the workspace demo
	queue  *task.Queue
	start  func() // applies tasks from then on
	server *httpapi.Server
	log    *buffer
	served chan error
}

// A buffer may be written and read at the same time.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// deleteUsage stops the engine, as the host does beside deleting files.
func (w wish) deleteUsage() (uid string, err error) {
	if !w.usage.On() {
		return "", nil
	}
	w.usage.Retire()
	return "the uid", nil
}

// newRig starts a server that ends with the test; nothing of it may be left.
// Of several in a test the first looks, which ends last: what the others run is
// never the same twice.
func newRig(tb testing.TB, w wish) *rig {
	tb.Helper()
	running := goroutines()
	if !hasRig(running) {
		tb.Cleanup(func() { noneLeft(tb, len(running)) })
	}
	plain := &http.Transport{MaxIdleConnsPerHost: 100}
	r := &rig{tb: tb, log: &buffer{}, served: make(chan error, 1), client: &http.Client{Transport: plain}}
	if _, ok := tb.(*testing.B); !ok { // to check an answer costs more than to give it
		r.client.Transport = &checkedTransport{tb, plain}
	}
	ctx, stop := context.WithCancel(context.Background())
	db, err := store.OpenInMemory()
	check(tb, err)
	sealer, err := store.OpenSealer(tb.TempDir(), nil)
	check(tb, err)
	features, err := feature.Open(ctx, db, w.features...)
	check(tb, err)
	remotes := network.New(db.Network(sealer))
	hooks, err := webhook.Open(ctx, webhook.Options{
		Store: db.Webhooks(sealer), Render: taskapi.JSON,
		Post: func(hook webhook.Hook) (webhook.Poster, error) {
			to, err := upstream.ParseWebhookURL(hook.URL)
			if err != nil {
				return nil, err
			}
			return upstream.NewWebhook(to, hook.Headers, upstream.Options{Private: upstream.AnyPrivate()}), nil
		},
	})
	check(tb, err)
	options := search.Options{Dir: tb.TempDir(), DB: db, Bodies: db, Sealer: sealer, Features: features.Now}
	if w.reaches {
		out := upstream.New(upstream.Options{Private: upstream.AnyPrivate()})
		defer tb.Cleanup(func() { _ = out.Close() }) // before goroutines are counted
		options.Upstream = out
	}
	indexes, err := search.Open(options)
	check(tb, err)
	federation := federate.New(federate.Options{Indexes: indexes, Remotes: remotes, Upstream: options.Upstream, RemoteTimeout: cmp.Or(w.patience, remoteTimeout), Features: features.Now})
	r.queue, err = task.Open(ctx, db, indexes, task.Options{})
	check(tb, err)
	ran := make(chan error, 1)
	r.start = sync.OnceFunc(func() { go func() { ran <- r.queue.Run(ctx) }() })
	if !w.idle {
		r.start()
	}

	key := master
	if w.open {
		key = ""
	}
	r.keys, err = auth.Open(ctx, db, auth.Options{MasterKey: key})
	check(tb, err)
	if w.upstream == nil {
		w.upstream = &chattest.Upstream{Scripts: []chattest.Script{{Batches: [][]string{{"text:Hello", "finish:stop"}}}}}
	}
	workspaces := &chattest.Workspaces{}
	check(tb, workspaces.UpdateWorkspace(ctx, "orphan", func(*workspace.Workspace) (*workspace.Workspace, error) {
		return &workspace.Workspace{UID: "orphan", Source: "removed"}, nil
	}))
	limiter := limit.New(limit.Options{Storage: db})
	r.chat, r.source = newChat(limiter, workspaces, w.upstream, &chattest.Searcher{Indexes: w.indexes, Documents: w.documents}, w.sources, w.guards)
	_, _, err = r.chat.Patch(ctx, "demo", []byte(`{"source":"test","apiKey":"`+demoKey+`"}`))
	check(tb, err)

	hub, err := logs.New(r.log, logs.JSON, "trace")
	check(tb, err)
	kept := responses.Options{TTL: time.Hour}
	if w.forgets {
		kept.TTL = 0
	}
	r.server = httpapi.New(httpapi.Deps{
		Auth: r.keys, Chat: r.chat, Search: indexes, Federate: federation, Tasks: r.queue, Exports: export.New(export.Options{Sealer: sealer}), Features: features, Network: remotes, Webhooks: hooks,
		Limiter: limiter, Log: hub.Logger(), Logs: hub, Limits: w.limits, Memory: w.memory, TLS: w.tls, Site: w.site, Console: w.console, NoDocs: w.noDocs,
		Responses: responses.New(kept), Feedback: db, Sealer: sealer, PublicURL: w.publicURL, Telemetry: w.usage, Usage: telemetryapi.Usage{Spool: noSpool{}, UID: "the uid", MayEnd: w.usage != nil, Contact: "privacy@example.com", Delete: w.deleteUsage},
		Version:         httpapi.Version{Version: "1.2.3", Commit: "abc", Date: "2026-11-21"},
		PluginInstaller: w.installer, Cluster: w.cluster,
		Plugins: func() []pluginapi.Plugin {
			if w.panics {
				panic("secret words")
			}
			return []pluginapi.Plugin{{
				Name: "test", Kind: "provider", Version: "1.0.0", Source: "test", State: "ready", Use: true,
				Settings:  map[string]abi.Setting{"apiKey": {Required: true, Description: "A key of the service."}},
				Options:   map[string]abi.Option{"region": {Type: "string", Pattern: "[a-z]+", Description: "Where it is."}},
				LastFault: &pluginapi.PastFault{At: time.Unix(1, 0).UTC(), Message: "trap in encode: unreachable", Workspace: "faulty", Key: "the key"},
				Clients:   []pluginapi.FaultyClient{{Workspace: "faulty", Key: "the key", Faults: 2, LastFault: time.Unix(1, 0).UTC()}},
			}}
		},
	})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	check(tb, err)
	r.url = "http://" + ln.Addr().String()
	if w.wide {
		ln = elsewhere{ln}
	}
	if w.listener != nil {
		ln = w.listener(ln)
	}
	go func() { r.served <- r.server.Listen(ln) }()

	tb.Cleanup(func() {
		r.client.CloseIdleConnections()
		grace, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		err := r.server.Shutdown(grace)
		stop()
		r.start()
		err = errors.Join(err, <-r.served, <-ran, indexes.Close(), db.Close())
		if err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	return r
}

// lingering are goroutines of libraries that outlive their work by design.
var lingering = []string{"fasthttp.(*workerPool).Start", "fasthttp.updateServerDate", "bleve_index_api.AnalysisWorker", "fasthttp/stackless.funcWorker"}

// goroutines returns the stacks of all goroutines but the lingering ones.
func goroutines() []string {
	all := make([]byte, 64<<10)
	n := runtime.Stack(all, true)
	for n == len(all) { // there may be more
		all = make([]byte, 2*len(all))
		n = runtime.Stack(all, true)
	}
	all = all[:n]
	return slices.DeleteFunc(strings.Split(string(all), "\n\n"), func(stack string) bool {
		return slices.ContainsFunc(lingering, func(name string) bool { return strings.Contains(stack, name) })
	})
}

// hasRig reports whether a goroutine of a rig is among stacks.
func hasRig(stacks []string) bool {
	return slices.ContainsFunc(stacks, func(stack string) bool { return strings.Contains(stack, "httpapi_test.newRig.func") })
}

// noneLeft waits until no more goroutines run than before. The rig of a long test
// beside may run all the while: its goroutines are no fault.
func noneLeft(tb testing.TB, before int) {
	tb.Helper()
	if !waittest.Until(func() bool { return len(goroutines()) <= before }) && !hasRig(goroutines()) {
		tb.Errorf("%d goroutines at the end, want at most %d:\n%s", len(goroutines()), before, strings.Join(goroutines(), "\n\n"))
	}
}

func newChat(l *limit.Limiter, w workspace.Workspaces, u outbound.Sender, search *chattest.Searcher, wrap func(provider.Sources) provider.Sources, guards guardtest.Plugins) (*chat.Service, *chattest.Source) {
	settings := func(names ...string) map[string]abi.Setting {
		m := make(map[string]abi.Setting)
		for _, n := range names {
			m[n] = abi.Setting{Required: true}
		}
		return m
	}
	source := func(name string, s map[string]abi.Setting) *chattest.Source {
		return &chattest.Source{Is: abi.Manifest{Name: name, Version: "1.0.0", Source: name, Settings: s, Grants: abi.Grants{Secrets: []string{"apiKey"}}, Auth: []abi.Auth{{Scheme: abi.AuthPlaceholder}}}}
	}
	test := source("test", settings("apiKey"))
	lists := source("openAi", settings("apiKey"))
	lists.Is.Does = []string{abi.OpChat, abi.OpModels}
	var sources provider.Sources = chattest.Sources{
		"test":        test,
		"openAi":      lists,
		"azureOpenAi": source("azureOpenAi", settings("apiKey", "orgId", "apiVersion", "deploymentId", "baseUrl")),
		"vLlm":        source("vLlm", settings("baseUrl")),
	}
	if wrap != nil {
		sources = wrap(sources)
	}
	if guards == nil {
		guards = guardtest.Plugins{"mask": guardtest.NewMask("mask")}
	}
	return chat.New(chat.Deps{
		Guards:     guards,
		Workspaces: w, Sources: sources,
		Upstream: u, Searcher: search, Limiter: l, Limits: chat.Limits{RetryDelay: time.Millisecond},
	}), test
}

func check(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// key makes an API key and returns its value.
func (r *rig) key(actions, indexes []string) string {
	r.tb.Helper()
	k, err := r.keys.Create(r.tb.Context(), auth.Everyone(), auth.Draft{Actions: actions, Indexes: indexes})
	check(r.tb, err)
	return r.keys.Value(&k)
}

// An answer is a response, read whole.
type answer struct {
	status int
	header http.Header
	body   string
}

// do sends a request with the master key and a JSON content type; header
// pairs change that, "" takes one away.
func (r *rig) do(method, path, body string, header ...string) answer {
	r.tb.Helper()
	var b io.Reader
	if body != "" {
		b = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(r.tb.Context(), method, r.url+path, b)
	check(r.tb, err)
	req.Header.Set("Authorization", "Bearer "+master)
	if body != "" || method == "POST" || method == "PATCH" || method == "PUT" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Del(header[i])
		for line := range strings.SplitSeq(header[i+1], "\n") {
			if line != "" {
				req.Header.Add(header[i], line)
			}
		}
	}
	res, err := r.client.Do(req)
	check(r.tb, err)
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	check(r.tb, err)
	return answer{res.StatusCode, res.Header, string(got)}
}

// task waits for the task that an answer is about.
func (r *rig) task(a answer) task.Task {
	r.tb.Helper()
	var b struct {
		TaskUID *uint32 `json:"taskUid"`
	}
	if err := json.Unmarshal([]byte(a.body), &b); err != nil || b.TaskUID == nil || a.status != http.StatusAccepted {
		r.tb.Fatalf("answer = %d %s, want an accepted task", a.status, a.body)
	}
	ctx, cancel := context.WithTimeout(r.tb.Context(), time.Minute)
	defer cancel()
	t, err := r.queue.Wait(ctx, *b.TaskUID)
	check(r.tb, err)
	return t
}
