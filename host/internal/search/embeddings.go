package search

import (
	"context"
	"fmt"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/search/embed"
)

// Embed has an embedder of an index, which caller may search, make a vector of each
// text, which are of inputType; dims, where not 0, is how many numbers they must have.
func (s *Service) Embed(ctx context.Context, caller *auth.Caller, indexUID, name string, dims int, texts []string, inputType string) ([][]float32, error) {
	ix, _, err := s.index(caller, indexUID)
	if err != nil {
		return nil, err
	}
	e, ok := ix.Meta().Settings.Embedders[name]
	switch {
	case !ok:
		return nil, unknownEmbedder(searcherr.InvalidSearchEmbedder, searcherr.InvalidSearchEmbedder, "model", name)
	case !e.Makes():
		return nil, apierr.Newf(searcherr.InvalidSearchEmbedder, "Embedder `%.100s` makes no vectors: documents bring theirs.", name)
	}
	if own := e.VectorDimensions(); dims != 0 && own != 0 && dims != own {
		return nil, &apierr.Error{Code: apierr.BadRequest, Param: "dimensions", Message: fmt.Sprintf("`dimensions` is %d, and embedder `%.100s` has %d: leave it out.", dims, name, own)}
	}
	maker, called := e.ForDocuments(name)
	if inputType == abi.InputQuery {
		maker, called = e.ForQueries(name)
	}
	return s.embedders.EmbedTexts(ctx, called, maker, dims, texts, inputType)
}

// EmbedBy has what open opens make a vector of each text; see Embed. who is what
// errors call it.
func (s *Service) EmbedBy(ctx context.Context, who string, open embed.Opener, dims int, texts []string, inputType string) ([][]float32, error) {
	return s.embedders.EmbedBy(ctx, who, open, dims, texts, inputType)
}
