package httpapi

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/api/openai"
	"github.com/parley-search/parley/host/internal/chat"
)

// fewTokens are too few for a search and an answer: who allows no more looks
// whether anybody is there.
const fewTokens = 16

// A wholeSink is the whole answer once it was written.
type wholeSink interface {
	chat.Sink
	Body() []byte
}

// completeV1 answers POST /v1/chat/completions, by default with the whole answer.
func (s *Server) completeV1(r *call) error {
	return s.completeBy(r, openai.ParseChat, openai.NewCompletion(), func(st *stream) chat.Sink { return openai.NewChunks(st, true) })
}

// completeText answers POST /v1/completions, by default with the whole answer.
func (s *Server) completeText(r *call) error {
	return s.completeBy(r, openai.ParseText, openai.NewTextCompletion(nil), func(st *stream) chat.Sink { return openai.NewTextCompletion(st) })
}

// completeBy answers a request that parse reads: into whole, or to a stream by sink.
func (s *Server) completeBy(r *call, parse func([]byte) (*openai.ChatRequest, error), whole wholeSink, sink func(*stream) chat.Sink) error {
	body, err := s.readQuestion(r, limit.Party{})
	if err != nil {
		return err
	}
	request, err := parse(body)
	if err != nil {
		return err
	}
	target, err := s.Chat.Resolve(s.ctx, r.Caller, request.Model)
	if err != nil {
		return err
	}
	q := s.questionV1(r, request.Model, &target)
	q.body = request.Body(target.Model, target.Source)
	if n := request.Tokens(); n > 0 && n <= fewTokens {
		q.options.Indexes = []string{}
	}
	if request.Stream {
		q.sink = sink
		return s.streamAnswer(r, q)
	}
	q.options.Usage = true
	if err := s.wholeAnswer(r, q, whole); err != nil {
		return err
	}
	return sendJSON(r.Ctx, fiber.StatusOK, whole.Body())
}

// questionV1 is what a route of /v1 asks target, which its client calls model.
func (s *Server) questionV1(r *call, model string, target *chat.Target) *question {
	return &question{
		workspace: target.Workspace, options: chat.Options{Model: model, Unnamed: target.Model == "", Estimate: true, Base: s.publicURL(r), Cite: target.Citations},
	}
}

// publicURL is where clients reach this host, without a slash at the end.
func (s *Server) publicURL(r *call) string {
	if s.PublicURL != "" {
		return s.PublicURL
	}
	return strings.Clone(r.BaseURL())
}
