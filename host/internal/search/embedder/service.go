// Package embedder has embedders make vectors as the settings of an index describe
// them: of an endpoint (package embed) or of a plugin, with the keys and headers that
// the settings keep sealed. It checks what settings ask of plugins, and keeps the
// vectors of queries that come again.
package embedder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/search/embed"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// A Service calls embedders as the settings of an index describe them. Its fields
// are not to be changed once it is in use.
type Service struct {
	Upstream outbound.Sender // reaches endpoints; nil: every call fails
	// Plugins are those that make vectors for embedders of other sources than
	// rest; nil: there are none.
	Plugins embed.Plugins
	Sealer  settings.Sealer // opens keys and headers
	// Pause is waited before an embedder is asked again, twice as long each time; 0: 1 s.
	Pause time.Duration
	// Log is told of failures whose cause a client is not shown.
	Log func(message string, err error)
}

// How often an embedder is asked for the same before it counts as failed:
// documents can wait, who searches cannot.
const (
	documentTries = 5
	queryTries    = 2
)

// EmbedTexts has an embedder make a vector of each text, which are of inputType. A
// failure is an [apierr.Error] of [indexerr.VectorEmbeddingError], or that of ctx.
func (s *Service) EmbedTexts(ctx context.Context, name string, e *settings.Embedder, dims int, texts []string, inputType string) ([][]float32, error) {
	who := fmt.Sprintf("Embedder `%.100s`", name)
	key, err := e.Key.Open(s.Sealer)
	if err != nil {
		return nil, failed(who, err, "its key cannot be read; set its `apiKey` anew")
	}
	return s.EmbedBy(ctx, who, func(ctx context.Context) (embed.Maker, func(), error) {
		return s.maker(ctx, name, e, key, inputType)
	}, dims, texts, inputType)
}

// EmbedBy has what open opens make a vector of each text; see EmbedTexts. who is
// what errors call it.
func (s *Service) EmbedBy(ctx context.Context, who string, open embed.Opener, dims int, texts []string, inputType string) ([][]float32, error) {
	maker, release, err := open(ctx)
	if err != nil {
		return nil, notOpened(ctx, who, err)
	}
	defer release()
	return s.ask(ctx, who, maker, dims, texts, inputType)
}

// failed is what a client is told of a failure of who.
func failed(who string, err error, message string) error {
	return &apierr.Error{Code: indexerr.VectorEmbeddingError, Message: who + ": " + message + ".", Err: err}
}

// notOpened is the failure of who, whose requests nobody can describe.
func notOpened(ctx context.Context, who string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return failed(who, err, err.Error())
}

// ask has maker, which is of who, make the vectors.
func (s *Service) ask(ctx context.Context, who string, maker embed.Maker, dims int, texts []string, inputType string) ([][]float32, error) {
	if s.Upstream == nil {
		return nil, failed(who, nil, "this host asks no other one")
	}
	tries := documentTries
	if inputType == abi.InputQuery {
		tries = queryTries
	}
	client := embed.Client{Upstream: s.Upstream, Pause: s.Pause}
	vectors, err := client.Embed(ctx, maker, dims, texts, tries)
	if failure, ok := errors.AsType[*embed.Error](err); ok {
		if failure.Err != nil {
			s.Log(who+" made no vectors", failure)
		}
		return nil, failed(who, failure, failure.Message)
	}
	return vectors, err
}

// maker returns what describes e's requests, and what lets that go. An error's text
// is for the client.
func (s *Service) maker(ctx context.Context, name string, e *settings.Embedder, key secret.Text, inputType string) (embed.Maker, func(), error) {
	if e.Plugged() {
		return s.pluginMaker(ctx, name, e, key, inputType)
	}
	shape, err := embed.ParseShape(e.Request, e.Response)
	if err != nil {
		return nil, nil, err
	}
	headers := make(map[string]string, len(e.Headers))
	for header, h := range e.Headers {
		value, err := h.Open(s.Sealer)
		if err != nil {
			return nil, nil, s.unreadable(name, "header "+header, "headers", err)
		}
		headers[header] = value.Reveal()
	}
	return &embed.Endpoint{URL: e.URL, Key: key, Headers: headers, Shape: shape}, func() {}, nil
}

// unreadable logs why a secret cannot be opened, and says so to the client.
func (s *Service) unreadable(embedder, what, field string, err error) error {
	s.Log(fmt.Sprintf("embedder %q has an unreadable %s", embedder, what), err)
	return fmt.Errorf("its %s cannot be read; set its `%s` anew", what, field)
}

// pluginMaker is maker for an embedder whose source a plugin answers.
func (s *Service) pluginMaker(ctx context.Context, name string, e *settings.Embedder, key secret.Text, inputType string) (embed.Maker, func(), error) {
	if s.Plugins == nil {
		return nil, nil, errors.New("this host has no plugins")
	}
	api := e.API()
	p := embed.PluginEmbedder{
		Owner: "embedder " + name, Source: string(e.Source), BaseURL: api.URL, Model: api.Model, Dimensions: e.Dimensions, InputType: inputType,
		Key: key, Options: map[string]json.RawMessage{}, Secrets: map[string]secret.Text{},
	}
	for option, v := range e.Options {
		if !v.Secret() {
			p.Options[option] = v.Value
			continue
		}
		text, err := v.Sealed.Open(s.Sealer)
		if err != nil {
			return nil, nil, s.unreadable(name, "option "+option, "options", err)
		}
		p.Secrets[option] = text
	}
	return s.Plugins.OpenEmbedder(ctx, p)
}
