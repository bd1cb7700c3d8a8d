package chatapi

import (
	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/api/openai"
	"github.com/parley-search/parley/host/internal/chat"
)

// ParseV1 reads the body of POST /v1/chat/completions, whose answer is whole by default.
func ParseV1(s *Server, r *request.Call, body []byte) (*Question, error) {
	asked, err := openai.ParseChat(body)
	if err != nil {
		return nil, err
	}
	s.sealMessages(r.Caller.ID(), asked.Chat)
	return newQuestion(asked, func(w chat.FrameWriter) chat.Sink {
		if w == nil {
			return openai.NewCompletion()
		}
		return openai.NewChunks(w, true)
	}), nil
}

// ParseText reads the body of POST /v1/completions, whose answer is whole by default.
func ParseText(_ *Server, _ *request.Call, body []byte) (*Question, error) {
	asked, err := openai.ParseText(body)
	if err != nil {
		return nil, err
	}
	return newQuestion(asked, func(w chat.FrameWriter) chat.Sink { return openai.NewTextCompletion(w) }), nil
}

func newQuestion(asked *openai.ChatRequest, sink func(chat.FrameWriter) chat.Sink) *Question {
	return &Question{Chat: asked.Chat, model: asked.Model, stream: asked.Stream, tokens: asked.Tokens(), Sink: sink}
}
