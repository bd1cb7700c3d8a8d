package httpapi

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/api/anthropic"
	"github.com/parley-search/parley/host/internal/api/openai"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/chat"
)

// messagesPath is the route of Anthropic's API, whose errors have a form of their own.
const messagesPath = "/v1/messages"

// onMessages reports whether a request is for Anthropic's API.
func onMessages(c *fiber.Ctx) bool {
	return c.Path() == messagesPath || strings.HasPrefix(c.Path(), messagesPath+"/")
}

// failMessages answers with e in the form of Anthropic's API.
func failMessages(c *fiber.Ctx, e *openai.Error) error {
	a, _ := accessOf(c)
	setRetryAfter(c, e.RetryAfter)
	c.Set("Request-Id", a.id)
	return sendJSON(c, e.Status, anthropic.ErrorBody(e.Status, e.Message, a.id))
}

// createMessage answers POST /v1/messages, by default with the whole message.
func (s *Server) createMessage(r *call) error {
	body, err := s.readQuestion(r, limit.Party{})
	if err != nil {
		return err
	}
	request, err := anthropic.Parse(body)
	if err != nil {
		return err
	}
	target, err := s.Chat.Resolve(s.ctx, r.Caller, request.Model)
	if err != nil {
		return err
	}
	q := s.questionV1(r, request.Model, &target)
	if q.body, err = request.Body(target.Model, target.Source); err != nil {
		return err
	}
	owner := r.Caller.ID()
	states := make([]openai.SealedState, len(request.States))
	for i, text := range request.States {
		states[i].Text = text
	}
	if q.options.Carries, err = s.openCarries(owner, states); err != nil {
		return err
	}
	q.options.Usage, q.options.Said = true, request.Said
	if request.Tokens() <= fewTokens {
		q.options.Indexes = []string{}
	}
	w := anthropic.NewMessages(request.Model)
	w.Status = func(e *apierr.Error) int { return openai.FromError(e).Status }
	w.Sealed = func(c *chat.Carry) string {
		if len(c.Bytes) == 0 || s.Sealer == nil {
			return ""
		}
		return s.sealCarry(owner, c)
	}
	r.Set("Request-Id", accessTo(r).id)
	if request.Stream {
		q.sink = func(st *stream) chat.Sink {
			w.Emit = st.writeEvents
			return w
		}
		return s.streamAnswer(r, q)
	}
	if err := s.wholeAnswer(r, q, w); err != nil {
		return err
	}
	return sendJSON(r.Ctx, http.StatusOK, w.Body())
}

// countTokens answers POST /v1/messages/count_tokens by an estimate: providers count
// in ways of their own, and are not asked for this.
func (s *Server) countTokens(r *call) error {
	body, err := r.ReadBody()
	if err != nil {
		return err
	}
	request, err := anthropic.ParseCount(body)
	if err != nil {
		return err
	}
	target, err := s.Chat.Resolve(s.ctx, r.Caller, request.Model)
	if err != nil {
		return err
	}
	asked, err := request.Body(target.Model, target.Source)
	if err != nil {
		return err
	}
	return sendJSON(r.Ctx, http.StatusOK, append(strconv.AppendInt([]byte(`{"input_tokens":`), int64(len(asked)+3)/4, 10), '}'))
}
