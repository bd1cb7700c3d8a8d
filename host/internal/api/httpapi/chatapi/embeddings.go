package chatapi

import (
	"context"
	"fmt"
	"strings"

	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/api/openai"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/chat/workspace"
	"github.com/parley-search/parley/host/internal/search/embed"
)

// Embed answers POST /v1/embeddings: its model is a workspace, with or without a model
// of its provider, or an index and one of its embedders.
func (s *Server) Embed(r *request.Call) error {
	body, err := s.ReadQuestion(r, limit.Party{})
	if err != nil {
		return err
	}
	asked, err := openai.ParseEmbedding(body)
	if err != nil {
		return err
	}
	ctx := r.Base
	w, model, err := s.Chat.EmbeddingModel(ctx, r.Caller, asked.Model)
	if err != nil {
		return err
	}
	var pays limit.Party
	if w != nil {
		pays = w.Payer()
	}
	key := r.Caller.Payer(s.Address(r))
	pays.Tenant, pays.Address = key.Tenant, key.Address
	var pass limit.Pass
	left, err := s.Limiter.Admit(&pass, key, pays, asked.Tokens())
	request.SetLimits(r.Ctx, left)
	if err != nil {
		return err
	}
	vectors, err := s.makeVectors(ctx, r, w, model, asked)
	if err != nil && !apierr.Is(err, apierr.AnswerTooLarge) { // of which the provider made some
		pass.TakeBack()
		return err
	}
	pass.Settle(asked.Tokens(), 0)
	pass.End()
	if err != nil {
		return err
	}
	return r.JSON(asked.Body(vectors))
}

// makeVectors has w, or where it is nil the embedder that asked names, make them.
func (s *Server) makeVectors(ctx context.Context, r *request.Call, w *workspace.Workspace, model string, asked *openai.EmbeddingRequest) (vectors [][]float32, err error) {
	if w != nil {
		open := func(ctx context.Context) (embed.Maker, func(), error) {
			return s.Chat.OpenEmbedder(ctx, w, model, asked.Dimensions, asked.InputType)
		}
		vectors, err = s.Search.EmbedBy(ctx, fmt.Sprintf("Workspace `%.100s`", w.UID), open, asked.Dimensions, asked.Texts, asked.InputType)
	} else {
		index, name, _ := strings.Cut(asked.Model, "/")
		vectors, err = s.Search.Embed(ctx, r.Caller, index, name, asked.Dimensions, asked.Texts, asked.InputType)
	}
	switch failure := apierr.From(err); {
	case err == nil:
	case failure.Code == indexerr.IndexNotFound:
		return nil, s.Chat.UnknownModel(ctx, r.Caller, asked.Model)
	case failure.Code == searcherr.InvalidSearchEmbedder:
		return nil, &apierr.Error{Code: chaterr.ModelNotFound, Param: "model", Message: failure.Message}
	case failure.Code == indexerr.VectorEmbeddingError:
		return nil, &apierr.Error{Code: chaterr.LLMProviderError, Message: failure.Message, Err: failure.Err}
	}
	return vectors, err
}
