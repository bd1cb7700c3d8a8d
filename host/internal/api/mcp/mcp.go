// Package mcp speaks the Model Context Protocol to programs that have a model
// of their own: it offers the search and the chat as tools. It owns the
// protocol's SDK, and knows nothing of connections.
//
// There are no sessions: each message is answered by itself, under the rights
// of its own caller. Revision 2026-07-28 is served, and the three before it,
// whose clients begin with initialize.
package mcp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/search"
)

// versions are the protocol's revisions that are served.
var versions = []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"}

// A Searcher is the search under the tools. Every method obeys the caller's
// own rights. See [search.Service].
type Searcher interface {
	Summaries(ctx context.Context, caller *auth.Caller) ([]search.Summary, error)
	FindTexts(ctx context.Context, caller *auth.Caller, uid, q, filter string, limit, size int) ([]chat.Hit, error)
	ReadText(ctx context.Context, caller *auth.Caller, uid, id string, size int) (chat.Hit, error)
	SearchFacet(ctx context.Context, caller *auth.Caller, uid string, q search.FacetQuery) (*search.FacetResult, error)
}

// Options are what an [Endpoint] needs; Panicked may be nil.
type Options struct {
	Version  string // of the host
	Search   Searcher
	Panicked func(what string, stack []byte) // is told of a panic in a tool
}

// An Endpoint answers messages. Safe for concurrent use.
type Endpoint struct {
	options Options
	whole   http.Handler // answers in JSON
	stream  http.Handler // answers by event streams
}

// New returns an Endpoint.
func New(o Options) *Endpoint {
	if o.Panicked == nil {
		o.Panicked = func(string, []byte) {}
	}
	e := &Endpoint{options: o}
	e.whole, e.stream = e.handler(true), e.handler(false)
	return e
}

// handler returns the SDK's handler. Who may ask, from where and how much is
// checked before: its own checks want a connection to look at.
func (e *Endpoint) handler(whole bool) http.Handler {
	return sdk.NewStreamableHTTPHandler(
		func(r *http.Request) *sdk.Server { return r.Context().Value(serverKey{}).(*sdk.Server) },
		&sdk.StreamableHTTPOptions{
			Stateless: true, JSONResponse: whole, DisableLocalhostProtection: true, MaxRequestBodyBytes: -1, PropagateRequestCancellation: true,
		})
}

type serverKey struct{}

// A Request is a message, and who sends it.
type Request struct {
	Message *Message
	Header  http.Header
	Caller  *auth.Caller
	Base    string // URL of this host, without a slash at the end
	Asker   Asker  // answers questions; nil: the caller may not ask
	// Opening is the silence after which a stream of events begins with a comment,
	// since what stands between here and the client cuts connections on which
	// nothing comes; 0: none does.
	Opening time.Duration
}

// A Reply is the answer to a message.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
	// Parts, where not nil, are those of an event stream after Body, as they come.
	// Read them to the end, which comes soon after the context's.
	Parts <-chan []byte
}

// Searches returns how many searches answering a message of caller takes: one without an
// index takes one of each.
func (e *Endpoint) Searches(ctx context.Context, caller *auth.Caller, m *Message) int {
	return m.searches(func() int {
		list, err := e.options.Search.Summaries(ctx, caller)
		if err != nil {
			return 0
		}
		return len(list)
	})
}

// Answer answers a message. ctx ends the tool that it calls. The error is an
// [*Error].
func (e *Endpoint) Answer(ctx context.Context, r *Request) (*Reply, error) {
	m := r.Message
	if err := m.check(r.Header.Get(versionHeader)); err != nil {
		return nil, err
	}
	if m.id == nil {
		return &Reply{Status: http.StatusAccepted}, nil // without sessions there is nothing that it could change
	}
	ctx = context.WithValue(ctx, serverKey{}, e.server(ctx, r))
	hr, err := http.NewRequestWithContext(ctx, http.MethodPost, "/mcp", bytes.NewReader(m.encoded()))
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	hr.Header = r.Header
	w := &writer{ctx: ctx, header: http.Header{}}
	if !m.wantsProgress() {
		e.whole.ServeHTTP(w, hr)
		return w.reply(m)
	}
	w.parts = make(chan []byte)
	go func() {
		defer close(w.parts)
		defer func() {
			if p := recover(); p != nil {
				e.panicked("the protocol's handler", p)
			}
		}()
		e.stream.ServeHTTP(w, hr)
		w.Flush()
	}()
	var opening <-chan time.Time
	if r.Opening > 0 {
		timer := time.NewTimer(r.Opening)
		defer timer.Stop()
		opening = timer.C
	}
	var first []byte
	var streams bool
	select {
	case first, streams = <-w.parts:
	case <-opening: // the tool runs: what is wrong with the message shows at once
		return &Reply{Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: []byte(":\n\n"), Parts: w.parts}, nil
	}
	if w.status == http.StatusOK && streams && isStream(w.header) {
		return &Reply{Status: w.status, Header: w.header, Body: first, Parts: w.parts}, nil
	}
	for streams {
		var more []byte
		if more, streams = <-w.parts; streams {
			first = append(first, more...)
		}
	}
	w.body.Reset()
	w.body.Write(first)
	return w.reply(m)
}

// panicked tells of a panic, but not what it says: it may quote a request.
func (e *Endpoint) panicked(where string, p any) {
	e.options.Panicked(fmt.Sprintf("%T in %s", p, where), debug.Stack())
}

func isStream(h http.Header) bool {
	return strings.HasPrefix(h.Get("Content-Type"), "text/event-stream")
}

// A writer keeps what the SDK answers. With parts it hands on what is flushed.
type writer struct {
	ctx    context.Context
	parts  chan []byte
	mu     sync.Mutex // the SDK writes from several goroutines, one after the other
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements [http.ResponseWriter].
func (w *writer) Header() http.Header { return w.header }

// WriteHeader implements [http.ResponseWriter].
func (w *writer) WriteHeader(status int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.status == 0 {
		w.status = status
	}
}

// Write implements [io.Writer].
func (w *writer) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.body.Write(b)
}

// Flush implements [http.Flusher].
func (w *writer) Flush() {
	if w.parts == nil {
		return
	}
	w.mu.Lock()
	part := slices.Clone(w.body.Bytes())
	w.body.Reset()
	w.mu.Unlock()
	if len(part) == 0 {
		return
	}
	select {
	case w.parts <- part:
	case <-w.ctx.Done():
	}
}

// reply is the whole answer. What the SDK refuses in plain text is refused in
// the protocol's own words.
func (w *writer) reply(m *Message) (*Reply, error) {
	status := w.status
	if status == 0 {
		status = http.StatusOK
	}
	if status >= 400 && strings.HasPrefix(w.header.Get("Content-Type"), "text/plain") {
		text, _ := io.ReadAll(&w.body) // cannot fail
		return nil, refuse(status, m.id, strings.TrimSpace(string(text)))
	}
	return &Reply{Status: status, Header: w.header, Body: w.body.Bytes()}, nil
}
