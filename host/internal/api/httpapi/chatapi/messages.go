package chatapi

import (
	"strconv"

	"github.com/parley-search/parley/host/internal/api/anthropic"
	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/api/openai"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/chat"
)

// ParseMessage reads the body of POST /v1/messages, whose answer is whole by default.
func ParseMessage(s *Server, r *request.Call, body []byte) (*Question, error) {
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
	w.Asked = estimateTokens(asked.Chat)
	w.Status = func(e *apierr.Error) int { return openai.FromError(e).Status }
	w.Sealed = func(c *chat.Carry) string {
		if len(c.Calls) == 0 || !c.Needed() || s.Sealer == nil {
			return ""
		}
		return s.sealCarry(owner, c)
	}
	r.Set("Request-Id", r.ID)
	return &Question{Chat: asked.Chat, model: asked.Model, stream: asked.Stream, tokens: asked.Tokens, Sink: func(to chat.FrameWriter) chat.Sink {
		w.Events = to
		return w
	}}, nil
}

// CountTokens answers POST /v1/messages/count_tokens by an estimate: providers count
// in ways of their own, and are not asked for this.
func (s *Server) CountTokens(r *request.Call) error {
	body, err := r.ReadBody()
	if err != nil {
		return err
	}
	asked, err := anthropic.ParseCount(body)
	if err != nil {
		return err
	}
	q := &Question{Chat: asked.Chat, model: asked.Model}
	if err := s.resolveModel(r, q); err != nil {
		return err
	}
	return r.JSON(append(strconv.AppendInt([]byte(`{"input_tokens":`), int64(estimateTokens(q.Chat)), 10), '}'))
}

// estimateTokens is about how many tokens a question has.
func estimateTokens(q *chat.Request) int { return (q.Size() + 3) / 4 }
