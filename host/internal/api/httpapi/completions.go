package httpapi

import (
	"strings"
	"sync/atomic"

	"github.com/gofiber/fiber/v2"
	"github.com/rs/zerolog"

	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/api/openai"
	"github.com/parley-search/parley/host/internal/api/uistream"
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
		if err := r.LendMade(q.chat.Parts()); err != nil {
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

// answered is the end of an answer that had begun: it is told, logged and
// counted.
func (s *Server) answered(a *access, o chat.Outcome) {
	s.tellChat(a, o)
	s.logAnswer(a, o)
	s.done(a, &o)
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
