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
)

// An Embedder is a provider plugin that is asked for vectors. Not safe for
// concurrent use; Close it.
type Embedder struct {
	link
	release func()
	in      abi.EncodeRequest // without texts
	one     bool              // a request takes one text
}

// What one request for vectors carries where a manifest does not say.
const (
	embedTexts = 64
	embedBytes = 512 << 10
)

// ErrBatch says that texts are too many for one request.
var ErrBatch = errors.New("the texts are too many for one request")

// CanEmbed says why no vectors come from source, nil where a plugin makes them; the
// error goes on from "the source". names are the sources that there are instead.
func CanEmbed(sources Sources, source string) (names []string, err error) {
	if err = embeds(sources.Source(workspace.Wish{Source: source})); err == nil {
		return nil, nil
	}
	for _, name := range sources.SourceNames() {
		if embeds(sources.Source(workspace.Wish{Source: name})) == nil {
			names = append(names, name)
		}
	}
	return names, err
}

// embeds says why s, which may not be there, makes no vectors.
func embeds(s Source, ok bool) error {
	switch {
	case !ok:
		return errors.New("has no plugin that is loaded")
	case !manifest.Does(s.Manifest(), abi.OpEmbed):
		return fmt.Errorf("makes no vectors: its plugin is %s %s", s.Manifest().Name, s.Manifest().Version)
	}
	return nil
}

// OpenEmbedder returns the embedder of w's source for model, the plugin's own first
// one where it is empty, for vectors of dimensions numbers, 0 for as many as the
// model makes, of texts that are inputType. Of w only the source, its options and
// secrets and the base URL count; owner is the one whose calls may share what the
// plugin keeps. An error is a sentence's part that goes on from the embedder's name.
func OpenEmbedder(ctx context.Context, sources Sources, w *workspace.Workspace, owner, model string, dimensions int, inputType string) (*Embedder, error) {
	source, release, ok := sources.Acquire(ctx, w.Wish(), Client{Workspace: owner})
	if !ok && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := embeds(source, ok); err != nil {
		release()
		return nil, fmt.Errorf("the source %s %w; GET /plugins says which there are", w.Source, err)
	}
	m := source.Manifest()
	e := &Embedder{link: link{w, source, m}, release: release}
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
		return nil, fmt.Errorf("the source %s needs %s of the embedder", w.Source, strings.Join(missing, ", "))
	}
	e.in = abi.EncodeRequest{
		Op: abi.OpEmbed, Model: model, Dimensions: dimensions, InputType: inputType,
		Settings: w.PluginSettings(m), Options: w.GuestOptions(m),
	}
	// Which route of an API is meant is for the plugin to see.
	e.in.Settings.BaseURL = w.BaseURL
	return e, nil
}

// Close lets the plugin go.
func (e *Embedder) Close() { e.release() }

// Batch is how many of texts, from the first, go into one request.
func (e *Embedder) Batch(texts []string) int {
	most, bytes := cmp.Or(e.manifest.Embed.MaxTexts, embedTexts), cmp.Or(e.manifest.Embed.MaxBytes, embedBytes)
	if e.one {
		most = 1
	}
	n, size := 0, 0
	for _, t := range texts[:min(len(texts), most)] {
		if size += len(t); n > 0 && size > bytes {
			break
		}
		n++
	}
	return n
}

// Describe returns the request for the vectors of texts, and what reads them out of
// the response. It returns [ErrBatch] where half of them may do; other errors are
// sentence's parts that go on from the embedder's name, and repeat no secret.
func (e *Embedder) Describe(ctx context.Context, texts []string) (*outbound.Request, *answer.Vectors, error) {
	in := e.in
	in.Texts = texts
	out, err := e.source.Encode(ctx, &in)
	if p, ok := errors.AsType[*PluginError](err); ok && p.Kind == PluginTooLarge && len(texts) > 1 {
		return nil, nil, ErrBatch
	}
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	if err != nil {
		failure := e.callError(err, false)
		if told, ok := errors.AsType[*apierr.Error](failure); ok {
			if p, ok := errors.AsType[*PluginError](err); ok && p.Kind == PluginDeclared && p.Code == abi.CodeRefused {
				err = nil // all of it is told
			}
			return nil, nil, &embedError{told.Message, err}
		}
		return nil, nil, failure
	}
	vectors, err := answer.ParseVectors(out.Answer)
	if err != nil {
		return nil, nil, fmt.Errorf("read the template of the answer: %w", err) // which the plugin's host has checked
	}
	if e.one = !vectors.Many(); e.one && len(texts) > 1 {
		return nil, nil, ErrBatch
	}
	request, err := e.outgoing(out)
	if err != nil {
		return nil, nil, &embedError{e.requestError(err).Message, err}
	}
	return request, vectors, nil
}

// An embedError is safe to show, but for its cause.
type embedError struct {
	message string
	cause   error
}

func (e *embedError) Error() string { return strings.TrimSuffix(e.message, ".") }

// Unwrap returns the cause.
func (e *embedError) Unwrap() error { return e.cause }
