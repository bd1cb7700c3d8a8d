package chatapi

import (
	"strings"
	"sync/atomic"

	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/api/openai"
	"github.com/parley-search/parley/host/internal/api/uistream"
	"github.com/parley-search/parley/host/internal/chat"
)

// A Question is what a client asks, read of a request, and how its answer is written:
// all that one surface has otherwise than another.
type Question struct {
	Chat *chat.Request
	// Sink returns what writes the answer to a stream, or for nil a [Whole].
	Sink func(chat.FrameWriter) chat.Sink

	// model is what the client names: a workspace, or WORKSPACE/MODEL; empty: Chat says
	// which workspace is asked.
	model  string
	stream bool
	tokens int // that the answer may have; 0: the request does not say
	// limits is what is left of them, once that is known; nil until then.
	limits atomic.Pointer[limit.State]
}

// A Whole is the whole answer once it was written.
type Whole interface {
	chat.Sink
	Body() []byte
}

// A Parser reads the body of a request for an answer.
type Parser func(s *Server, r *request.Call, body []byte) (*Question, error)

// fewTokens are too few for a search and an answer: who allows no more looks
// whether anybody is there.
const fewTokens = 16

// Answer returns the handler of a route whose requests parse reads.
func (s *Server) Answer(parse Parser) request.Handler {
	return func(r *request.Call) error {
		payer, err := s.limitedParty(r)
		if err != nil {
			return err
		}
		body, err := s.ReadQuestion(r, payer)
		if err != nil {
			return err
		}
		q, err := parse(s, r, body)
		if err != nil {
			return err
		}
		if err := r.LendMade(q.Chat.Parts()); err != nil {
			return err
		}
		if q.model != "" {
			if err := s.resolveModel(r, q); err != nil {
				return err
			}
		}
		q.Chat.Caller, q.Chat.Client, q.Chat.Base = r.Caller, s.Address(r), s.URLOf(r)
		if q.tokens > 0 && q.tokens <= fewTokens {
			q.Chat.Indexes = []string{}
		}
		q.Chat.Limited = func(left limit.State) { q.limits.Store(&left) }
		if q.stream {
			return s.Answers.Stream(r, q)
		}
		q.Chat.Usage = true
		whole := q.Sink(nil).(Whole) // every sink of a question that need not stream
		if err := s.Answers.Write(r, q, whole); err != nil {
			return err
		}
		return r.JSON(whole.Body())
	}
}

// limitedParty returns the limits of the workspace that the path names; those of none where
// it names none.
func (s *Server) limitedParty(r *request.Call) (limit.Party, error) {
	if r.Params("uid") == "" {
		return limit.Party{}, nil
	}
	uid, err := s.allowedWorkspace(r)
	if err != nil {
		return limit.Party{}, err
	}
	return s.Chat.Party(s.Base, uid)
}

// resolveModel has q asked of the workspace and the model that its client names.
func (s *Server) resolveModel(r *request.Call, q *Question) error {
	target, err := s.Chat.Resolve(s.Base, r.Caller, q.model)
	if err == nil {
		q.Chat.Aim(&target, q.model)
	}
	return err
}

// ParseChat reads the body of POST /chats/:uid/chat/completions.
func ParseChat(s *Server, r *request.Call, body []byte) (*Question, error) {
	asked, err := chat.ParseRequest(body)
	if err != nil {
		return nil, err
	}
	asked.UID, asked.CiteReports = r.Param("uid"), true
	s.sealMessages(r.Caller.ID(), asked)
	return &Question{Chat: asked, stream: true, Sink: func(w chat.FrameWriter) chat.Sink { return openai.NewChunks(w, false) }}, nil
}

// ParseUI reads the body of POST /chats/:uid/ui: what an interface of the AI SDK asks.
func ParseUI(_ *Server, r *request.Call, body []byte) (*Question, error) {
	asked, err := uistream.Parse(body)
	if err != nil {
		return nil, err
	}
	r.Set("X-Vercel-AI-UI-Message-Stream", "v1")
	return &Question{
		Chat: asked.Chat, model: strings.TrimSuffix(r.Param("uid")+"/"+asked.Model, "/"), stream: true,
		Sink: func(w chat.FrameWriter) chat.Sink { return &uistream.Writer{Events: w} },
	}, nil
}

// ReadQuestion reads the body of a request for an answer, where the limits of the
// caller and of the workspace, which may be that of none, have room for it.
func (s *Server) ReadQuestion(r *request.Call, workspace limit.Party) ([]byte, error) {
	key := r.Caller.Payer(s.Address(r))
	workspace.Tenant, workspace.Address = key.Tenant, key.Address
	done, err := s.Limiter.Expect(key, workspace)
	if err != nil {
		return nil, err
	}
	defer done()
	return r.ReadBody()
}

// ShowLimits has the head of the answer to r say what is left of limits.
func (q *Question) ShowLimits(r *request.Call) {
	if left := q.limits.Load(); left != nil {
		request.SetLimits(r.Ctx, *left)
	}
}
