package httpapi

import (
	"context"
	"errors"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/rs/zerolog"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/chat"
)

const completionsPath = "/chats/:uid/chat/completions"

// complete answers POST /chats/:uid/chat/completions: an error with a status
// of its own until the provider's first event, a stream of events from then
// on. All that the stream uses is a copy: it is written after complete returned.
func (s *Server) complete(r *call) error {
	uid := r.param("uid")
	body, err := s.body(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(s.trace(s.ctx, r))
	c := r.Context().Conn().(*conn) // all are the listener's
	st := newStream(c, cancel, s.Limits.KeepAlive, &s.chunks)
	s.streams.add(st)
	answer, err := s.Chat.Start(ctx, cancel, r.caller, uid, body)
	first := r.access.took()
	if err != nil {
		s.streams.remove(st)
		cancel(nil)
		if ctx.Err() != nil && errors.Is(context.Cause(ctx), errShutdown) {
			return shuttingDown()
		}
		return err
	}
	r.Set(fiber.HeaderContentType, "text/event-stream")
	r.Set(fiber.HeaderCacheControl, "no-cache")
	r.Set("X-Accel-Buffering", "no")
	a := r.access
	a.stream, a.route, a.status, a.first = true, completionsPath, fiber.StatusOK, first
	if s.Telemetry != nil {
		a.client = strings.Clone(clientOf(r.Ctx))
	}
	head, keep := chunkedHead(r.Context())
	st.begin(head)
	if r.Context().ConnRequestNum() == 1 {
		// Else the server may not have written what came before. Behind an answer
		// it counts anew.
		answer.WriteFirst(st)
	}
	s.takeOver(c, r.Context(), &answering{
		write: func() error {
			defer s.streams.remove(st)
			defer answer.Close()
			return s.stream(ctx, st, answer, a)
		},
		keep:  keep,
		leave: func() { cancel(errClientLeft) },
	})
	return nil
}

func shuttingDown() *apierr.Error {
	return apierr.Newf(apierr.ShuttingDown, "The host is shutting down: ask again in a while.")
}

// stream writes answer to its end, and logs it. It runs where nobody else would
// recover. An error says that the client has not got all of it.
func (s *Server) stream(ctx context.Context, st *stream, answer *chat.Answer, a *access) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = st.fail(apierr.From(s.panicked(a, p)))
		}
		a.bytes = st.close()
		outcome := answer.Outcome()
		s.tellChat(a, outcome)
		s.logAnswer(a, outcome)
		s.done(a, &outcome)
	}()
	err = answer.WriteTo(st)
	if err != nil && errors.Is(context.Cause(ctx), errShutdown) {
		err = st.fail(shuttingDown())
	}
	return err
}

// logAnswer writes the lines of an answer that has ended.
func (s *Server) logAnswer(a *access, o chat.Outcome) {
	if o.Err != nil && o.Err.Err != nil || o.SearchErr != nil {
		s.Log.Warn().Str("request_id", a.id).AnErr("cause", unwrap(o.Err)).AnErr("search", o.SearchErr).Msg("chat completion met errors")
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

func unwrap(e *apierr.Error) error {
	if e == nil {
		return nil
	}
	return e.Err
}

// failure is a stream's last frames where it ends in e.
func failure(e *apierr.Error, id string) []byte {
	var b strings.Builder
	b.WriteString("data: ")
	b.Write(encode(failureFrame{id, "error", openAIError{Message: e.Message, Type: e.Code.Type(), Code: e.Code.String()}}))
	b.WriteString("\n\n")
	b.Write(done)
	return []byte(b.String())
}

type failureFrame struct {
	EventID string      `json:"event_id"`
	Type    string      `json:"type"`
	Error   openAIError `json:"error"`
}
