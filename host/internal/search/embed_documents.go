package search

import (
	"context"
	"errors"
	"fmt"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/search/embed"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// embedInputs has an embedder make the vectors of documents; see embedTexts. It
// returns as many lists as inputs.
func (s *Service) embedInputs(ctx context.Context, name string, e *settings.Embedder, dims int, inputs []input) ([][][]float32, error) {
	var texts []string
	for i := range inputs {
		texts = append(texts, inputs[i].texts...)
	}
	maker, called := e.ForDocuments(name)
	made, err := s.embedTexts(ctx, called, maker, dims, texts, documentTries)
	if err != nil {
		return nil, err
	}
	if len(made) != len(texts) {
		return nil, fmt.Errorf("embedder %q made %d vectors of %d texts", called, len(made), len(texts))
	}
	out := make([][][]float32, len(inputs))
	for i := range inputs {
		n := len(inputs[i].texts)
		out[i], made = made[:n:n], made[n:]
	}
	return out, nil
}

// How often an embedder is asked for the same before it counts as failed:
// documents can wait, who searches cannot.
const (
	documentTries = 5
	queryTries    = 2
)

// embedTexts has an embedder make a vector of each text. A failure is an
// [apierr.Error] of [apierr.VectorEmbeddingError], or that of ctx.
func (s *Service) embedTexts(ctx context.Context, name string, e *settings.Embedder, dims int, texts []string, tries int) ([][]float32, error) {
	failed := func(err error, message string) error {
		return &apierr.Error{Code: apierr.VectorEmbeddingError, Message: fmt.Sprintf("Embedder `%.100s`: %s.", name, message), Err: err}
	}
	if s.opts.Upstream == nil {
		return nil, failed(nil, "this host asks no other one")
	}
	key, err := e.Key.Open(s.opts.Sealer)
	if err != nil {
		return nil, failed(err, "its key cannot be read; set its `apiKey` anew")
	}
	e = e.API()
	shape, err := embed.ParseShape(e.Request, e.Response)
	if err != nil {
		return nil, failed(err, err.Error())
	}
	headers := make(map[string]string, len(e.Headers))
	for header, h := range e.Headers {
		value, err := h.Open(s.opts.Sealer)
		if err != nil {
			return nil, failed(err, fmt.Sprintf("its header %s cannot be read; set its `headers` anew", header))
		}
		headers[header] = value.Reveal()
	}
	endpoint := embed.Endpoint{URL: e.URL, Key: key, Headers: headers, Shape: shape, Dimensions: dims}
	client := embed.Client{Upstream: s.opts.Upstream, Pause: s.opts.EmbedderPause}
	vectors, err := client.Embed(ctx, &endpoint, texts, tries)
	if failure, ok := errors.AsType[*embed.Error](err); ok {
		if failure.Err != nil {
			s.opts.Log(fmt.Sprintf("embedder %q failed", name), failure)
		}
		return nil, failed(failure, failure.Message)
	}
	return vectors, err
}
