package httpapi

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

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

// parseMessage reads the body of POST /v1/messages, whose answer is whole by default.
func parseMessage(s *Server, r *call, body []byte) (*question, error) {
	asked, err := anthropic.Parse(body)
	if err != nil {
		return nil, err
	}
	owner := r.Caller.ID()
	states := make([]openai.SealedState, len(asked.States))
	for i, text := range asked.States {
		states[i].Text = text
	}
	if asked.Chat.Carries, err = s.openCarries(owner, states); err != nil {
		return nil, err
	}
	w := anthropic.NewMessages(asked.Model)
	w.Status = func(e *apierr.Error) int { return openai.FromError(e).Status }
	w.Sealed = func(c *chat.Carry) string {
		if len(c.Calls) == 0 || !c.Needed() || s.Sealer == nil {
			return ""
		}
		return s.sealCarry(owner, c)
	}
	r.Set("Request-Id", accessTo(r).id)
	return &question{chat: asked.Chat, model: asked.Model, stream: asked.Stream, tokens: asked.Tokens, sink: func(to chat.FrameWriter) chat.Sink {
		w.Events = to
		return w
	}}, nil
}

// countTokens answers POST /v1/messages/count_tokens by an estimate: providers count
// in ways of their own, and are not asked for this.
func (s *Server) countTokens(r *call) error {
	body, err := r.ReadBody()
	if err != nil {
		return err
	}
	asked, err := anthropic.ParseCount(body)
	if err != nil {
		return err
	}
	q := &question{chat: asked.Chat, model: asked.Model}
	if err := s.resolve(r, q); err != nil {
		return err
	}
	return sendJSON(r.Ctx, http.StatusOK, append(strconv.AppendInt([]byte(`{"input_tokens":`), int64(q.chat.Size()+3)/4, 10), '}'))
}
