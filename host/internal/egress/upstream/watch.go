package upstream

import (
	"context"
	"fmt"
	"net/http/httptrace"
	"sync"
	"time"

	"github.com/parley-search/parley/host/internal/base/outbound"
)

// A watch holds one request to its limits: it cancels the request's context,
// with a cause, when a phase takes too long. Only waiting for the provider
// counts, not the time that our own reader takes.
type watch struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	limits Limits
	until  time.Time // all of it has to be over by then

	mu        sync.Mutex
	phase     phase
	timer     *time.Timer // of the phase, or until where that comes first
	connected bool        // a connection was there: something may have reached the provider
	stale     bool        // it had waited in the pool, and no byte has come over it since
	stopped   bool
}

type phase uint8

const (
	connecting phase = iota
	awaitingHead
	awaitingBody
)

func newWatch(ctx context.Context, limits Limits) *watch {
	w := &watch{limits: limits, until: time.Now().Add(limits.Whole)}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	w.timer = time.AfterFunc(min(limits.Connect, limits.Whole), w.expire)
	return w
}

// trace returns the request's context, which tells w of the connection, and
// wrote, where it is not nil, when all was sent.
func (w *watch) trace(wrote func(httptrace.WroteRequestInfo)) context.Context {
	return httptrace.WithClientTrace(w.ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			w.enter(awaitingHead, w.limits.FirstByte)
			w.setStale(info.Reused)
		},
		GotFirstResponseByte: func() { w.setStale(false) },
		WroteRequest:         wrote,
	})
}

func (w *watch) setStale(stale bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stale = stale
}

func (w *watch) enter(p phase, limit time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.phase = p
	w.connected = w.connected || p != connecting
	if !w.stopped {
		w.timer.Reset(min(limit, time.Until(w.until)))
	}
}

// wait starts the clock of a read from the body.
func (w *watch) wait() { w.enter(awaitingBody, w.limits.Silence) }

// pause stops it. The limit of all the time is looked at again in the next phase.
func (w *watch) pause() { w.timer.Stop() }

// stop ends the watch and the request, whatever it does. It is idempotent.
func (w *watch) stop() {
	w.mu.Lock()
	w.stopped = true
	w.mu.Unlock()
	w.timer.Stop()
	w.cancel(errClosed)
}

// reached reports whether anything may have reached the provider.
func (w *watch) reached() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.connected
}

// silentPool reports whether the request went over a connection that had waited
// in the pool and over which no byte came since.
func (w *watch) silentPool() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stale
}

func (w *watch) expire() {
	w.mu.Lock()
	p := w.phase
	w.mu.Unlock()
	switch {
	case time.Until(w.until) <= 0:
		w.cancel(timeout(outbound.LimitWhole, "the provider's answer took longer than %v in all", w.limits.Whole))
	case p == connecting:
		w.cancel(errSlow{w.limits.Connect})
	case p == awaitingHead:
		w.cancel(timeout(outbound.LimitFirstByte, "the provider did not answer within %v", w.limits.FirstByte))
	default:
		w.cancel(timeout(outbound.LimitSilence, "the provider fell silent for %v in the middle of its answer", w.limits.Silence))
	}
}

// errSlow says that there was no connection for as long.
type errSlow struct{ limit time.Duration }

func (e errSlow) Error() string { return fmt.Sprintf("no connection within %v", e.limit) }

func timeout(over outbound.TimeLimit, format string, limit time.Duration) *outbound.Error {
	return &outbound.Error{Kind: outbound.Timeout, Over: over, Message: fmt.Sprintf(format, limit)}
}
