package httpapi

import (
	"context"
	"strings"

	"github.com/parley-search/parley/host/internal/base/logs"
	"github.com/parley-search/parley/host/internal/chat"
)

// The headers in which a caller says which step of its own a request is of.
const (
	headerTraceParent = "Traceparent"
	headerTraceState  = "Tracestate"
)

// beginTrace begins the step of a chat, which the end of its access ends. What it returns
// is for the work of r.
func (s *Server) beginTrace(ctx context.Context, r *call) context.Context {
	a := accessTo(r)
	ctx = logs.WithRequest(ctx, a.id)
	if s.Tracer == nil {
		return ctx
	}
	// The headers are copied: they outlive the request.
	ctx, a.step = s.Tracer.Request(ctx, "chat", strings.Clone(r.Get(headerTraceParent)), strings.Clone(r.Get(headerTraceState)))
	a.traceID = s.Tracer.ID(ctx)
	a.step.Text("request_id", a.id)
	a.step.Text("http.request.method", a.method)
	a.step.Text("http.route", a.route)
	return ctx
}

// endTrace ends the step of a request that has one; o is of an answer.
func (a *access) endTrace(o *chat.Outcome) {
	if a.step == nil {
		return
	}
	a.step.Number("http.response.status_code", a.status)
	var err error
	if a.err != nil {
		err = a.err
	}
	if o != nil {
		if o.Cancelled {
			err = context.Canceled
		}
		a.step.Text("workspace", o.Workspace)
		a.step.Text("source", o.Source)
		a.step.Text("finish", o.Finish)
		for name, n := range map[string]int{
			"rounds": o.Rounds, "retries": o.Retries, "searches": o.Searches, "failed_searches": o.FailedSearches, "chunks": o.Chunks,
			"prompt_tokens": int(o.Usage.Prompt), "completion_tokens": int(o.Usage.Completion),
		} {
			a.step.Number(name, n)
		}
	}
	a.step.End(err)
}
