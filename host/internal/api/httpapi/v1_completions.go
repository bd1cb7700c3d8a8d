package httpapi

import (
	"strings"

	"github.com/parley-search/parley/host/internal/api/openai"
	"github.com/parley-search/parley/host/internal/chat"
)

// parseV1 reads the body of POST /v1/chat/completions, whose answer is whole by default.
func parseV1(_ *Server, _ *call, body []byte) (*question, error) {
	asked, err := openai.ParseChat(body)
	if err != nil {
		return nil, err
	}
	return newQuestion(asked, func(w chat.FrameWriter) chat.Sink {
		if w == nil {
			return openai.NewCompletion()
		}
		return openai.NewChunks(w, true)
	}), nil
}

// parseText reads the body of POST /v1/completions, whose answer is whole by default.
func parseText(_ *Server, _ *call, body []byte) (*question, error) {
	asked, err := openai.ParseText(body)
	if err != nil {
		return nil, err
	}
	return newQuestion(asked, func(w chat.FrameWriter) chat.Sink { return openai.NewTextCompletion(w) }), nil
}

func newQuestion(asked *openai.ChatRequest, sink func(chat.FrameWriter) chat.Sink) *question {
	return &question{chat: asked.Chat, model: asked.Model, stream: asked.Stream, tokens: asked.Tokens(), sink: sink}
}

// publicURL is where clients reach this host, without a slash at the end.
func (s *Server) publicURL(r *call) string {
	if s.PublicURL != "" {
		return s.PublicURL
	}
	return strings.Clone(r.BaseURL())
}
