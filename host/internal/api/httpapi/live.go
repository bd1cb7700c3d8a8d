package httpapi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/parley-search/parley/host/internal/api/httpapi/chatapi"
	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/base/logs"
	"github.com/parley-search/parley/host/internal/chat"
)

// A live is the answer to a question under way, from before its provider is asked. A
// streamed one owns its client's connection from open on until it has ended, after
// the handler returned: all that it has is a copy.
type live struct {
	*stream
	server   *Server
	access   *access
	ctx      context.Context
	question *chatapi.Question
	uid      string    // of the workspace that is asked
	sink     chat.Sink // nil until open
	answer   *chat.Answer
	err      error // why there is none
}

// newLive returns the answer to q, which r asks; ctx, which cancel ends, is its work's.
func (s *Server) newLive(ctx context.Context, cancel context.CancelCauseFunc, r *call, q *chatapi.Question) *live {
	return &live{
		stream: newStream(r.Context().Conn(), cancel, s.Limits.KeepAlive, &s.chunks),
		server: s, access: accessTo(r), ctx: ctx, question: q, uid: q.Chat.UID,
	}
}

// answers implements [chatapi.Answers].
type answers struct{ *Server }

// Stream implements [chatapi.Answers]. It answers with an error that has a status of its own until the
// provider's first event, and with a stream of events from then on: from
// Limits.Opening on at the latest, since proxies between here and the client
// cut connections on which nothing comes.
func (s answers) Stream(r *call, q *chatapi.Question) error {
	ctx, cancel := context.WithCancelCause(s.beginTrace(s.ctx, r))
	l := s.newLive(ctx, cancel, r, q)
	// Before an answer that the server may not have written, nothing can go out.
	unwritten := r.Context().Conn().(*conn).unwritten
	late := func() bool { return false }
	if !unwritten {
		late = l.openAfter(s.Limits.Opening, r)
	}
	answer, err := l.start()
	opened := late()
	l.answer, l.err = answer, err
	if opened {
		l.access.first = l.access.elapsed()
	} else if q.ShowLimits(r); err != nil {
		return err
	} else {
		l.open(r)
	}
	if answer != nil && !unwritten {
		answer.WriteFirst(l.sink)
	}
	s.takeOver(r.Context(), l.stream, l)
	return nil
}

// openAfter has the stream of the answer to r open after so much silence, with a comment. late
// prevents that, or waits until it is done, and reports which.
func (l *live) openAfter(silence time.Duration, r *call) (late func() bool) {
	done := make(chan struct{})
	timer := time.AfterFunc(silence, func() {
		defer close(done)
		defer l.server.containPanic(l.conn.(*conn))
		l.question.ShowLimits(r)
		l.open(r)
		l.writeComment() // with the head
	})
	return func() bool {
		if timer.Stop() {
			return false
		}
		<-done
		return true
	}
}

// start asks. The client is looked after from then on until the stream is removed
// from the server's; an error has removed it.
func (l *live) start() (answer *chat.Answer, err error) {
	s, q := l.server, l.question
	if s.down.Load() { // a connection of before may still ask
		l.cancel(nil)
		return nil, shuttingDown()
	}
	s.streams.add(l.stream)
	defer func() {
		if p := recover(); p != nil {
			err = s.panicError(l.access, p)
		}
		if answer == nil {
			s.streams.remove(l.stream)
			l.cancel(nil)
		}
	}()
	answer, err = s.Chat.Start(l.ctx, l.cancel, q.Chat)
	q.Chat = nil // an open stream holds nothing of its request
	if err == nil {
		return answer, nil
	}
	if l.ctx.Err() != nil && errors.Is(context.Cause(l.ctx), errShutdown) {
		return nil, shuttingDown()
	}
	return nil, err
}

// open makes the head of the response to r, behind which the events come.
func (l *live) open(r *call) {
	s, a := l.server, l.access
	l.sink = l.question.Sink(l.stream)
	if l.answer != nil {
		setWorkspace(r.Ctx, l.answer)
	}
	if s.Telemetry != nil {
		a.client = strings.Clone(clientOf(r.Ctx))
	}
	if onV1(r.Ctx) {
		setProcessing(r.Ctx, a)
	}
	l.stream.open(r.Ctx, a)
}

// run implements [body]: it writes the events until the answer has ended, and logs it.
// Nobody else would recover.
func (l *live) run() (err error) {
	defer l.server.streams.remove(l.stream)
	answer := l.answer
	if answer == nil {
		return l.failLate(apierr.From(l.err))
	}
	defer answer.Close()
	defer func() {
		if p := recover(); p != nil {
			err = l.fail(apierr.From(l.server.panicError(l.access, p)))
		}
		l.end(answer.Outcome())
	}()
	err = answer.WriteTo(l.sink)
	if err != nil && errors.Is(context.Cause(l.ctx), errShutdown) {
		err = l.fail(shuttingDown())
	}
	return err
}

// failLate ends a stream whose answer never began with e, which came too late for
// a status of its own.
func (l *live) failLate(e *apierr.Error) (err error) {
	o := chat.Outcome{Workspace: l.uid, Cancelled: errors.Is(context.Cause(l.ctx), request.ErrClientLeft)}
	if o.Cancelled {
		err = request.ErrClientLeft
	} else {
		o.Err, err = e, l.fail(e)
	}
	l.end(o)
	return err
}

// fail ends an answer whose end its sink does not know. An error says that the client
// has not got it.
func (l *live) fail(e *apierr.Error) error {
	l.sink.Fail(e)
	return l.sink.Flush()
}

// end ends the stream of an answer that became o.
func (l *live) end(o chat.Outcome) {
	l.access.bytes = l.close()
	l.server.endAnswer(l.access, o)
}

// leave implements [body].
func (l *live) leave() { l.cancel(request.ErrClientLeft) }

func shuttingDown() *apierr.Error {
	return apierr.Newf(apierr.ShuttingDown, "The host is shutting down: ask again in a while.")
}

// Write implements [chatapi.Answers]. It returns once the answer is whole. Nothing is
// sent meanwhile; a client that leaves ends the answer.
func (s answers) Write(r *call, q *chatapi.Question, w chat.Sink) error {
	ctx, cancel := context.WithCancelCause(s.beginTrace(s.ctx, r))
	l := s.newLive(ctx, cancel, r, q)
	answer, err := l.start()
	q.ShowLimits(r)
	if err != nil {
		return err
	}
	defer s.streams.remove(l.stream)
	defer answer.Close()
	l.access.first = l.access.elapsed()
	err = answer.WriteTo(w)
	request.SetLimits(r.Ctx, answer.Limits())
	setWorkspace(r.Ctx, answer)
	o := answer.Outcome()
	l.access.outcome = &o
	switch {
	case o.Err != nil:
		return o.Err
	case err != nil && errors.Is(context.Cause(ctx), errShutdown):
		return shuttingDown()
	case err != nil && ctx.Err() == nil: // w took no more of it
		return apierr.Newf(chaterr.LLMProviderError, "The answer is too long to be sent whole: ask for a stream, or for less.")
	}
	return err
}

// Try implements [chatapi.Answers]. A client that leaves ends the answer.
func (s answers) Try(r *call, q *chatapi.Question, w chat.Sink) (o chat.Outcome, err error) {
	ctx, cancel := context.WithCancelCause(logs.WithRequest(s.ctx, r.ID))
	defer cancel(nil)
	late := &apierr.Error{Code: chaterr.LLMProviderTimeout, Message: fmt.Sprintf("The provider said nothing for %s: a model that has to be loaded first may take longer, so test again in a while.", s.Limits.Trial)}
	limited, stop := context.WithTimeoutCause(ctx, s.Limits.Trial, late)
	defer stop()
	l := s.newLive(limited, cancel, r, q)
	answer, err := l.start()
	if err != nil {
		return o, err
	}
	defer s.streams.remove(l.stream)
	defer answer.Close()
	err = answer.WriteTo(w)
	return answer.Outcome(), err
}

// setWorkspace names the workspace that answered, where another one could have.
func setWorkspace(c *fiber.Ctx, answer *chat.Answer) {
	if uid := answer.AnsweredBy(); uid != "" {
		c.Set("X-Parley-Workspace", uid)
	}
}
