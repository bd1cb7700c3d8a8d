package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/search/embed"
)

// How often an embedder is asked for the same before it counts as failed:
// documents can wait, who searches cannot.
const (
	documentTries = 5
	queryTries    = 2
)

// embedTexts has an embedder make a vector of each text. A failure is an
// [apierr.Error] of [apierr.VectorEmbeddingError], or that of ctx.
func (s *Service) embedTexts(ctx context.Context, name string, e *Embedder, dims int, texts []string, tries int) ([][]float32, error) {
	failed := func(err error, message string) error {
		return &apierr.Error{Code: apierr.VectorEmbeddingError, Message: fmt.Sprintf("Embedder `%.100s`: %s.", name, message), Err: err}
	}
	if s.opts.Upstream == nil {
		return nil, failed(nil, "this host asks no other one")
	}
	key, err := s.EmbedderKey(e.Key)
	if err != nil {
		return nil, failed(err, "its key cannot be read; set its `apiKey` anew")
	}
	shape, err := embed.ParseShape(e.Request, e.Response)
	if err != nil {
		return nil, failed(err, err.Error())
	}
	endpoint := embed.Endpoint{URL: e.URL, Key: key, Headers: e.Headers, Shape: shape, Dimensions: dims}
	client := embed.Client{Upstream: s.opts.Upstream, Pause: s.opts.EmbedderPause}
	vectors, err := client.Embed(ctx, &endpoint, texts, tries)
	if failure, ok := errors.AsType[*embed.Error](err); ok {
		return nil, failed(failure, failure.Message)
	}
	return vectors, err
}

// hashText tells texts apart. It is kept: never change it.
func hashText(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // never fails
	return h.Sum64()
}

// fingerprint stands for all that sameVectors compares. It is kept: never change
// it.
func (e *Embedder) fingerprint() uint64 {
	d, _ := e.forDocuments("")
	of := fmt.Sprintf("%q %q %d %q %d %q %q", d.Source, d.URL, e.dimensions(), d.DocumentTemplate, d.MaxBytes, d.Request, d.Response)
	for _, name := range sortedKeys(d.IndexingFragments) {
		of += fmt.Sprintf(" %q %q", name, d.IndexingFragments[name])
	}
	return hashText(of)
}

// sameModel reports whether e makes the same vectors of the same documents'
// texts as b.
func (e *Embedder) sameModel(b *Embedder) bool {
	x, _ := e.forDocuments("")
	y, _ := b.forDocuments("")
	return x.Source == y.Source && x.URL == y.URL && e.dimensions() == b.dimensions() &&
		string(x.Request) == string(y.Request) && string(x.Response) == string(y.Response)
}

// sameVectors reports whether e makes the same vectors of the same documents as
// b.
func (e *Embedder) sameVectors(b *Embedder) bool {
	x, _ := e.forDocuments("")
	y, _ := b.forDocuments("")
	return e.sameModel(b) && x.DocumentTemplate == y.DocumentTemplate && x.MaxBytes == y.MaxBytes &&
		maps.EqualFunc(x.IndexingFragments, y.IndexingFragments, func(a, b json.RawMessage) bool { return string(a) == string(b) })
}
