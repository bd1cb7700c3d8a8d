package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/api/openai"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/chat/workspace"
	"github.com/parley-search/parley/host/internal/search/embed"
)

// embed answers POST /v1/embeddings: its model is a workspace, with or without a model
// of its provider, or an index and one of its embedders.
func (s *Server) embed(r *call) error {
	body, err := s.readQuestion(r, limit.Party{})
	if err != nil {
		return err
	}
	request, err := openai.ParseEmbedding(body)
	if err != nil {
		return err
	}
	ctx, done := s.whileHeard(r)
	defer done()
	w, model, err := s.Chat.EmbeddingModel(ctx, r.Caller, request.Model)
	if err != nil {
		return err
	}
	var pays limit.Party
	if w != nil {
		pays = w.Payer()
	}
	key := r.Caller.Payer(s.clientAddress(r.Ctx))
	pays.Tenant, pays.Address = key.Tenant, key.Address
	var pass limit.Pass
	left, err := s.Limiter.Admit(&pass, key, pays, request.Tokens())
	setLimits(r.Ctx, left)
	if err != nil {
		return err
	}
	vectors, err := s.vectors(ctx, r, w, model, request)
	if err != nil && !apierr.Is(err, apierr.AnswerTooLarge) { // of which the provider made some
		pass.TakeBack()
		return err
	}
	pass.Settle(request.Tokens(), 0)
	pass.End()
	if err != nil {
		return err
	}
	return sendJSON(r.Ctx, http.StatusOK, request.Body(vectors))
}

// vectors has w, or where it is nil the embedder that request names, make them.
func (s *Server) vectors(ctx context.Context, r *call, w *workspace.Workspace, model string, request *openai.EmbeddingRequest) (vectors [][]float32, err error) {
	if w != nil {
		open := func(ctx context.Context) (embed.Maker, func(), error) {
			return s.Chat.OpenEmbedder(ctx, w, model, request.Dimensions, request.InputType)
		}
		vectors, err = s.Search.EmbedBy(ctx, fmt.Sprintf("Workspace `%.100s`", w.UID), open, request.Dimensions, request.Texts, request.InputType)
	} else {
		index, name, _ := strings.Cut(request.Model, "/")
		vectors, err = s.Search.Embed(ctx, r.Caller, index, name, request.Dimensions, request.Texts, request.InputType)
	}
	switch failure := apierr.From(err); {
	case err == nil:
	case failure.Code == indexerr.IndexNotFound:
		return nil, s.Chat.UnknownModel(ctx, r.Caller, request.Model)
	case failure.Code == searcherr.InvalidSearchEmbedder:
		return nil, &apierr.Error{Code: chaterr.ModelNotFound, Param: "model", Message: failure.Message}
	case failure.Code == indexerr.VectorEmbeddingError:
		return nil, &apierr.Error{Code: chaterr.LLMProviderError, Message: failure.Message, Err: failure.Err}
	}
	return vectors, err
}
