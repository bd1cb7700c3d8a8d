package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/answer"
	"github.com/parley-search/parley/abi/manifest"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/chat/workspace"
	"github.com/parley-search/parley/host/internal/plugin/provider"
	"github.com/parley-search/parley/host/internal/search/embed"
)

// Embedders are provider plugins as the search asks them for vectors: it implements
// [embed.Plugins].
type Embedders struct{ Sources provider.Sources }

// Manifest implements [embed.Plugins].
func (p Embedders) Manifest(source string) *abi.Manifest {
	s, ok := p.Sources.Source(provider.Wish{Source: source})
	if !ok {
		return nil
	}
	return s.Manifest()
}

// CanEmbed implements [embed.Plugins].
func (p Embedders) CanEmbed(source string) (names []string, err error) {
	if err = embeds(p.Sources.Source(provider.Wish{Source: source})); err == nil {
		return nil, nil
	}
	for _, name := range p.Sources.SourceNames() {
		if embeds(p.Sources.Source(provider.Wish{Source: name})) == nil {
			names = append(names, name)
		}
	}
	return names, err
}

// embeds says why s, which may not be there, makes no vectors.
func embeds(s provider.Source, ok bool) error {
	switch {
	case !ok:
		return errors.New("has no plugin that is loaded")
	case !manifest.Does(s.Manifest(), abi.OpEmbed):
		return fmt.Errorf("makes no vectors: its plugin is %s %s", s.Manifest().Name, s.Manifest().Version)
	}
	return nil
}

// OpenEmbedder implements [embed.Plugins].
func (p Embedders) OpenEmbedder(ctx context.Context, a embed.PluginEmbedder) (embed.Maker, func(), error) {
	w := &workspace.Workspace{Source: a.Source, BaseURL: a.BaseURL, APIKey: a.Key, Options: a.Options, OptionSecrets: a.Secrets}
	return openEmbedder(ctx, p.Sources, w, a.Owner, a.Model, a.Dimensions, a.InputType)
}

// OpenEmbedder returns what describes requests for vectors to the provider of w by
// model, the plugin's first where it is empty; see [embed.Opener].
func (s *Service) OpenEmbedder(ctx context.Context, w *workspace.Workspace, model string, dimensions int, inputType string) (embed.Maker, func(), error) {
	return openEmbedder(ctx, s.deps.Sources, w, w.UID, model, dimensions, inputType)
}

func openEmbedder(ctx context.Context, sources provider.Sources, w *workspace.Workspace, owner, model string, dimensions int, inputType string) (embed.Maker, func(), error) {
	source, release, ok := sources.Acquire(ctx, w.Wish(), provider.Client{Workspace: owner})
	if !ok && ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	if err := embeds(source, ok); err != nil {
		release()
		return nil, nil, fmt.Errorf("the source %s %w; GET /plugins says which there are", w.Source, err)
	}
	m := source.Manifest()
	e := &embedder{link: link{w, source, m}}
	var missing []string
	for _, name := range slices.Sorted(maps.Keys(m.Options)) {
		if m.Options[name].Required && !w.HasOption(m, name) {
			missing = append(missing, "`options."+name+"`")
		}
	}
	if model == "" && len(m.Embed.Models) > 0 {
		model = m.Embed.Models[0]
	}
	if model == "" {
		missing = append(missing, "`model`")
	}
	if len(missing) > 0 {
		release()
		return nil, nil, fmt.Errorf("the source %s needs %s of the embedder", w.Source, strings.Join(missing, ", "))
	}
	e.in = abi.EncodeRequest{
		Op: abi.OpEmbed, Model: model, Dimensions: dimensions, InputType: inputType,
		Settings: w.PluginSettings(m), Options: w.GuestOptions(m),
	}
	// Which route of an API is meant is for the plugin to see.
	e.in.Settings.BaseURL = w.BaseURL
	return e, release, nil
}

// An embedder describes requests for vectors by a plugin. Not safe for concurrent use.
type embedder struct {
	link
	in  abi.EncodeRequest // without texts
	one bool              // a request takes one text
}

// Batch implements [embed.Maker].
func (e *embedder) Batch(texts []string) int {
	most := cmp.Or(e.manifest.Embed.MaxTexts, embed.MaxTexts)
	if e.one {
		most = 1
	}
	return embed.Batch(texts, most, cmp.Or(e.manifest.Embed.MaxBytes, embed.MaxBytes))
}

// Describe implements [embed.Maker].
func (e *embedder) Describe(ctx context.Context, texts []string) (*outbound.Request, *answer.Vectors, error) {
	in := e.in
	in.Texts = texts
	out, err := e.source.Encode(ctx, &in)
	if p, ok := errors.AsType[*provider.CallError](err); ok && p.Kind == provider.TooLarge && len(texts) > 1 {
		return nil, nil, embed.ErrBatch
	}
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	if err != nil {
		failure := e.callError(err, false)
		if told, ok := errors.AsType[*apierr.Error](failure); ok {
			if p, ok := errors.AsType[*provider.CallError](err); ok && p.Kind == provider.Declared && p.Code == abi.CodeRefused {
				err = nil // all of it is told
			}
			return nil, nil, embedFailure(told.Message, err)
		}
		return nil, nil, embedFailure(failure.Error(), errors.Unwrap(failure))
	}
	vectors, err := answer.ParseVectors(out.Answer)
	if err != nil {
		return nil, nil, embedFailure("read the template of the answer: "+err.Error(), err) // which the plugin's host has checked
	}
	if e.one = !vectors.Many(); e.one && len(texts) > 1 {
		return nil, nil, embed.ErrBatch
	}
	request, err := e.outgoingRequest(out)
	if err != nil {
		return nil, nil, embedFailure(e.requestError(err).Message, err)
	}
	return request, vectors, nil
}

// embedFailure is an error whose message, a sentence, is safe to show; cause is for the log.
func embedFailure(message string, cause error) error {
	return &embed.Error{Message: strings.TrimSuffix(message, "."), Err: cause}
}
