package chattest

import (
	"context"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/outbound"
)

// A Script is one response of an [Upstream].
type Script struct {
	Err     error // instead of a response
	Status  int   // default 200
	Head    http.Header
	Body    string     // of a response that is an error
	Batches [][]string // the events of each Next
	End     error      // how Next ends; default io.EOF
	Hang    bool       // Next does not end before Close or its context
}

// An Upstream answers requests from scripts, one after another, and the last
// one again and again.
type Upstream struct {
	Scripts []Script

	mu   sync.Mutex
	sent []outbound.Request
	open int
}

// Sent returns what was sent so far.
func (u *Upstream) Sent() []outbound.Request {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.sent)
}

// Open returns how many responses are not closed.
func (u *Upstream) Open() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.open
}

// Do implements [outbound.Sender].
func (u *Upstream) Do(ctx context.Context, out *outbound.Request) (outbound.Response, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	s := u.Scripts[min(len(u.sent), len(u.Scripts)-1)]
	u.sent = append(u.sent, *out)
	if s.Err != nil {
		return nil, s.Err
	}
	u.open++
	return &response{upstream: u, gone: ctx.Done(), script: s, closed: make(chan struct{})}, nil
}

type response struct {
	upstream *Upstream
	gone     <-chan struct{}
	script   Script
	once     sync.Once
	closed   chan struct{}
}

func (r *response) Status() int {
	if r.script.Status == 0 {
		return http.StatusOK
	}
	return r.script.Status
}

func (r *response) Header() http.Header {
	if r.script.Head == nil {
		return http.Header{}
	}
	return r.script.Head
}

func (r *response) Next() ([]abi.Event, error) {
	if len(r.script.Batches) > 0 {
		var events []abi.Event
		for _, data := range r.script.Batches[0] {
			events = append(events, abi.Event{Data: []byte(data)})
		}
		r.script.Batches = r.script.Batches[1:]
		return events, nil
	}
	if r.script.Hang {
		select {
		case <-r.closed:
		case <-r.gone:
		}
		return nil, &outbound.Error{Kind: outbound.Broken, Message: "the response was closed"}
	}
	if r.script.End != nil {
		return nil, r.script.End
	}
	return nil, io.EOF
}

func (r *response) Body(limit int64) []byte {
	return []byte(r.script.Body[:min(int64(len(r.script.Body)), limit)])
}

func (r *response) Close() error {
	r.once.Do(func() {
		close(r.closed)
		r.upstream.mu.Lock()
		defer r.upstream.mu.Unlock()
		r.upstream.open--
	})
	return nil
}
