package chatapi

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/api/mcp"
	"github.com/parley-search/parley/host/internal/chat"
)

// An Asker answers the question of one message of MCP.
type Asker struct {
	server  *Server
	caller  *auth.Caller
	base    string        // URL of this host
	address netip.Addr    // of the client
	Outcome *chat.Outcome // of the answer, where there was one
	left    atomic.Pointer[limit.State]
}

// NewAsker returns one for the client of r.
func (s *Server) NewAsker(r *request.Call) *Asker {
	return &Asker{server: s, caller: r.Caller, base: s.URLOf(r), address: s.Address(r)}
}

// Limits are what was left of them when it was asked, or when it was answered.
func (k *Asker) Limits() (left limit.State) {
	if p := k.left.Load(); p != nil {
		left = *p
	}
	return left
}

var _ mcp.Asker = (*Asker)(nil)

// Workspaces implements [mcp.Asker].
func (k *Asker) Workspaces(ctx context.Context) ([]string, error) {
	models, err := k.server.Chat.Models(ctx, k.caller)
	var uids []string
	for _, m := range models {
		if !strings.Contains(m.ID, "/") {
			uids = append(uids, m.ID)
		}
	}
	return uids, err
}

// Ask implements [mcp.Asker]: only the question goes to the provider.
func (k *Asker) Ask(ctx context.Context, workspace, question string, progress func(string)) (*mcp.Finished, error) {
	w := &askSink{progress: progress, base: k.base, found: map[int]mcp.Source{}}
	q := &chat.Request{Caller: k.caller, Client: k.address, Base: k.base, Usage: true, Limited: func(left limit.State) { k.left.Store(&left) }}
	q.AddQuestion(question)
	target, err := k.server.Chat.Resolve(ctx, k.caller, workspace)
	if err != nil {
		return nil, err
	}
	q.Aim(&target, workspace)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	answer, err := k.server.Chat.Start(ctx, cancel, q)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	err = answer.WriteTo(w)
	k.left.Store(new(answer.Limits()))
	outcome := answer.Outcome()
	k.Outcome = &outcome
	if outcome.Err != nil {
		return nil, outcome.Err
	}
	if err != nil {
		return nil, err
	}
	return &mcp.Finished{Answer: string(w.text), Sources: w.cited, Usage: w.usage}, nil
}

// An askSink puts an answer's text together with the documents that it cites, and
// says what is done.
type askSink struct {
	chat.Discard
	progress func(string)
	base     string // URL of this host
	text     []byte
	pieces   int
	found    map[int]mcp.Source // by number
	cited    []mcp.Source
	usage    mcp.Usage
}

// Text implements [chat.Sink].
func (w *askSink) Text(kind chat.Kind, text, extra []byte) {
	w.pieces++
	if kind == chat.Content {
		if len(w.text) == 0 {
			w.progress("writing")
		}
		w.text = append(w.text, text...)
	}
	w.Extra(extra)
}

// Extra implements [chat.Sink]: it says of images that there are some.
func (w *askSink) Extra(object []byte) {
	for _, image := range chat.ImagesIn(object) {
		w.text = append(w.text, "\n\n"+image.Words()...)
	}
}

// Searching implements [chat.Sink].
func (w *askSink) Searching(index, query string) {
	w.progress("searching " + index + " for " + query)
}

// Searched implements [chat.Sink].
func (w *askSink) Searched(s *chat.Searched) {
	for _, h := range s.Hits {
		w.found[h.Number] = mcp.Source{ID: s.Index + "/" + h.ID, Title: h.Name(), URL: h.Link(w.base, s.Index)}
	}
}

// Finish implements [chat.Sink].
func (w *askSink) Finish(f *chat.Finish) {
	for _, c := range f.Citations {
		if s := w.found[c.Number]; !slices.Contains(w.cited, s) {
			w.cited = append(w.cited, s)
		}
	}
	if u := f.Usage; u != nil {
		w.usage = mcp.Usage{Prompt: int64(u.Prompt), Completion: int64(u.Completion), Total: int64(u.Total), Estimated: f.Estimated}
	}
}

// Sent implements [chat.Sink]: the number of pieces.
func (w *askSink) Sent() int { return w.pieces }
