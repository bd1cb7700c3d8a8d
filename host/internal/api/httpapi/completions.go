package httpapi

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/rs/zerolog"

	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/api/openai"
	"github.com/parley-search/parley/host/internal/api/uistream"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/chat"
)

// A question is what a client asks, read of a request, and how its answer is written:
// all that one surface has otherwise than another.
type question struct {
	chat *chat.Request
	// model is what the client names: a workspace, or WORKSPACE/MODEL; empty: chat says
	// which workspace is asked.
	model  string
	stream bool
	tokens int // that the answer may have; 0: the request does not say
	// sink returns what writes the answer to a stream, or for nil a [wholeSink].
	sink func(chat.FrameWriter) chat.Sink
	// limits is what is left of them, once that is known; nil until then.
	limits atomic.Pointer[limit.State]
}

// A wholeSink is the whole answer once it was written.
type wholeSink interface {
	chat.Sink
	Body() []byte
}

// A parser reads the body of a request for an answer.
type parser func(s *Server, r *call, body []byte) (*question, error)

// fewTokens are too few for a search and an answer: who allows no more looks
// whether anybody is there.
const fewTokens = 16

// answer returns the handler of a route whose requests parse reads.
func (s *Server) answer(parse parser) request.Handler {
	return func(r *call) error {
		payer, err := s.payer(r)
		if err != nil {
			return err
		}
		body, err := s.readQuestion(r, payer)
		if err != nil {
			return err
		}
		q, err := parse(s, r, body)
		if err != nil {
			return err
		}
		if q.model != "" {
			if err := s.resolve(r, q); err != nil {
				return err
			}
		}
		q.chat.Caller, q.chat.Client, q.chat.Base = r.Caller, s.clientAddress(r.Ctx), s.publicURL(r)
		if q.tokens > 0 && q.tokens <= fewTokens {
			q.chat.Indexes = []string{}
		}
		if q.stream {
			return s.streamAnswer(r, q)
		}
		q.chat.Usage = true
		whole := q.sink(nil).(wholeSink) // every sink of a question that need not stream
		if err := s.wholeAnswer(r, q, whole); err != nil {
			return err
		}
		return sendJSON(r.Ctx, fiber.StatusOK, whole.Body())
	}
}

// payer returns the limits of the workspace that the path names; those of none where
// it names none.
func (s *Server) payer(r *call) (limit.Party, error) {
	if r.Params("uid") == "" {
		return limit.Party{}, nil
	}
	uid, err := s.workspace(r)
	if err != nil {
		return limit.Party{}, err
	}
	w, err := s.Chat.Workspace(s.ctx, uid)
	return limit.Party{Subject: limit.Workspace(uid), Limits: w.Limits}, err
}

// resolve has q asked of the workspace and the model that its client names.
func (s *Server) resolve(r *call, q *question) error {
	target, err := s.Chat.Resolve(s.ctx, r.Caller, q.model)
	if err == nil {
		q.chat.Aim(&target, q.model)
	}
	return err
}

// parseChat reads the body of POST /chats/:uid/chat/completions.
func parseChat(_ *Server, r *call, body []byte) (*question, error) {
	asked, err := chat.ParseRequest(body)
	if err != nil {
		return nil, err
	}
	asked.UID, asked.CiteReports = r.Param("uid"), true
	return &question{chat: asked, stream: true, sink: func(w chat.FrameWriter) chat.Sink { return openai.NewChunks(w, false) }}, nil
}

// parseUI reads the body of POST /chats/:uid/ui: what an interface of the AI SDK asks.
func parseUI(_ *Server, r *call, body []byte) (*question, error) {
	asked, err := uistream.Parse(body)
	if err != nil {
		return nil, err
	}
	r.Set("X-Vercel-AI-UI-Message-Stream", "v1")
	return &question{
		chat: asked.Chat, model: strings.TrimSuffix(r.Param("uid")+"/"+asked.Model, "/"), stream: true,
		sink: func(w chat.FrameWriter) chat.Sink { return &uistream.Writer{Events: w} },
	}, nil
}

// readQuestion reads the body of a request for an answer, where the limits of the
// caller and of the workspace, which may be nobody's, have room for it.
func (s *Server) readQuestion(r *call, workspace limit.Party) ([]byte, error) {
	key := r.Caller.Payer(s.clientAddress(r.Ctx))
	workspace.Tenant, workspace.Address = key.Tenant, key.Address
	done, err := s.Limiter.Expect(key, workspace)
	if err != nil {
		return nil, err
	}
	defer done()
	return r.ReadBody()
}

// tellLimits has the answer to r say what is left of limits.
func (q *question) tellLimits(r *call) {
	if left := q.limits.Load(); left != nil {
		setLimits(r.Ctx, *left)
	}
}

// begin starts the answer to q. st is looked after from then on, until it is
// removed from s.streams. An error has removed it.
func (s *Server) begin(ctx context.Context, cancel context.CancelCauseFunc, st *stream, q *question) (*chat.Answer, error) {
	if s.down.Load() { // a connection of before may still ask
		cancel(nil)
		return nil, shuttingDown()
	}
	s.streams.add(st)
	q.chat.Limited = func(left limit.State) { q.limits.Store(&left) }
	answer, err := s.Chat.Start(ctx, cancel, q.chat)
	if err == nil {
		return answer, nil
	}
	s.streams.remove(st)
	cancel(nil)
	if ctx.Err() != nil && errors.Is(context.Cause(ctx), errShutdown) {
		return nil, shuttingDown()
	}
	return nil, err
}

// A started answer, or why there is none.
type started struct {
	answer *chat.Answer
	err    error
}

// start is begin beside the handler, which may have something else to do before
// the provider says its first word.
func (s *Server) start(ctx context.Context, cancel context.CancelCauseFunc, st *stream, r *call, q *question) <-chan started {
	coming, a := make(chan started, 1), accessTo(r)
	go func() {
		growStack(false)
		var got started
		defer func() {
			if p := recover(); p != nil {
				s.streams.remove(st)
				cancel(nil)
				got.err = apierr.From(s.panicked(a, p))
			}
			coming <- got
		}()
		got.answer, got.err = s.begin(ctx, cancel, st, q)
	}()
	return coming
}

// streamAnswer answers with an error that has a status of its own until the
// provider's first event, and with a stream of events from then on: from
// Limits.Opening on at the latest, since what stands between here and the client
// cuts connections on which nothing comes. All that the stream uses is a copy: it
// is written after streamAnswer returned.
func (s *Server) streamAnswer(r *call, q *question) error {
	ctx, cancel := context.WithCancelCause(s.trace(s.ctx, r))
	c := r.Context().Conn().(*conn) // all are the listener's
	st := newStream(c, cancel, s.Limits.KeepAlive, &s.chunks)
	coming, opening := s.start(ctx, cancel, st, r, q), time.NewTimer(s.Limits.Opening)
	defer opening.Stop()
	var got started
	select {
	case got = <-coming:
		coming = nil // a stream need not hold it
	case <-opening.C:
	}
	waiting := coming != nil
	first := accessTo(r).took()
	q.tellLimits(r)
	if got.err != nil {
		return got.err
	}
	w := q.sink(st)
	r.Set(fiber.HeaderContentType, "text/event-stream")
	r.Set(fiber.HeaderCacheControl, "no-cache")
	r.Set("X-Accel-Buffering", "no")
	if !waiting {
		setWorkspace(r.Ctx, got.answer)
	}
	a := accessTo(r)
	a.stream, a.status, a.first = true, fiber.StatusOK, first
	if s.Telemetry != nil {
		a.client = strings.Clone(clientOf(r.Ctx))
	}
	if onV1(r.Ctx) {
		setProcessing(r.Ctx, a)
	}
	head, plain, keep := streamHead(r.Context())
	st.begin(head, plain)
	if !waiting && r.Context().ConnRequestNum() == 1 {
		// Else the server may not have written what came before. Behind an answer
		// it counts anew.
		got.answer.WriteFirst(w)
	}
	s.takeOver(c, r.Context(), &answering{
		write: func() error {
			defer s.streams.remove(st)
			if waiting {
				st.beat() // the head and a comment
				got = <-coming
				a.first = a.took()
			}
			if got.err != nil {
				return s.failLate(ctx, st, w, apierr.From(got.err), a, q.chat.UID)
			}
			defer got.answer.Close()
			return s.stream(ctx, st, w, got.answer, a)
		},
		keep: keep, plain: plain,
		leave: func() { cancel(errClientLeft) },
	})
	return nil
}

func shuttingDown() *apierr.Error {
	return apierr.Newf(apierr.ShuttingDown, "The host is shutting down: ask again in a while.")
}

// stream writes answer to its end, and logs it. It runs where nobody else would
// recover. An error says that the client has not got all of it.
func (s *Server) stream(ctx context.Context, st *stream, w chat.Sink, answer *chat.Answer, a *access) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = sendFailure(w, apierr.From(s.panicked(a, p)))
		}
		a.bytes = st.close()
		s.answered(a, answer.Outcome())
	}()
	err = answer.WriteTo(w)
	if err != nil && errors.Is(context.Cause(ctx), errShutdown) {
		err = sendFailure(w, shuttingDown())
	}
	return err
}

// failLate ends a stream whose answer never began with e, which came too late for
// a status of its own.
func (s *Server) failLate(ctx context.Context, st *stream, w chat.Sink, e *apierr.Error, a *access, workspace string) error {
	o := chat.Outcome{Workspace: workspace, Cancelled: errors.Is(context.Cause(ctx), errClientLeft)}
	var err error
	if o.Cancelled {
		err = errClientLeft
	} else {
		o.Err, err = e, sendFailure(w, e)
	}
	a.bytes = st.close()
	s.answered(a, o)
	return err
}

// sendFailure ends an answer that its sink was not told the end of. An error says
// that the client has not got it.
func sendFailure(w chat.Sink, e *apierr.Error) error {
	w.Fail(e)
	return w.Flush()
}

// answered is the end of an answer that had begun: it is told, logged and
// counted.
func (s *Server) answered(a *access, o chat.Outcome) {
	s.tellChat(a, o)
	s.logAnswer(a, o)
	s.done(a, &o)
}

// wholeAnswer writes the answer to q into w, and returns once it is whole, with
// the failure that it ended in. Nothing is sent meanwhile; a client that leaves
// ends the answer.
func (s *Server) wholeAnswer(r *call, q *question, w chat.Sink) error {
	ctx, cancel := context.WithCancelCause(s.trace(s.ctx, r))
	st := newStream(r.Context().Conn(), cancel, s.Limits.KeepAlive, &s.chunks)
	answer, err := s.begin(ctx, cancel, st, q)
	q.tellLimits(r)
	if err != nil {
		return err
	}
	defer s.streams.remove(st)
	defer answer.Close()
	accessTo(r).first = accessTo(r).took()
	err = answer.WriteTo(w)
	setLimits(r.Ctx, answer.Limits())
	setWorkspace(r.Ctx, answer)
	o := answer.Outcome()
	accessTo(r).outcome = &o
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

// logAnswer writes the lines of an answer that has ended.
func (s *Server) logAnswer(a *access, o chat.Outcome) {
	if o.SearchErr != nil {
		s.Log.Warn().Str("request_id", a.id).AnErr("search", o.SearchErr).Msg("chat completion met errors")
	}
	if len(o.FellBack) > 0 {
		var from []string
		for _, f := range o.FellBack {
			from = append(from, f.From+": "+f.Code)
		}
		s.Log.Warn().Str("request_id", a.id).Strs("instead_of", from).Str("workspace", o.Workspace).Msg("another workspace answered")
	}
	if len(o.Lost) > 0 {
		s.Log.Debug().Str("request_id", a.id).Str("workspace", o.Workspace).Strs("lost", o.Lost).Msg("workspace's rules changed a request")
	}
	a.err = o.Err
	s.logAccess(a, func(e *zerolog.Event) {
		e.Str("source", o.Source).Str("plugin", o.Plugin+" "+o.PluginVersion).Int("rounds", o.Rounds).
			Int("searches", o.Searches).Int("chunks", o.Chunks).Str("finish", o.Finish)
		if o.Cancelled {
			e.Bool("cancelled", true)
		}
	})
}

// setWorkspace says which workspace answered, where another one could have.
func setWorkspace(c *fiber.Ctx, answer *chat.Answer) {
	if uid := answer.AnsweredBy(); uid != "" {
		c.Set("X-Parley-Workspace", uid)
	}
}
