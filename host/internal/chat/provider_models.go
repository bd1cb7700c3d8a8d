package chat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/answer"
	"github.com/parley-search/parley/abi/manifest"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/chat/workspace"
	"github.com/parley-search/parley/host/internal/plugin/provider"
)

// ProviderModels are the models that a workspace's provider offers.
type ProviderModels struct {
	Source  string          `json:"source"`
	Results []ProviderModel `json:"results"` // sorted by id
}

// A ProviderModel is one that requests may name, as far as the provider goes.
type ProviderModel struct {
	ID      string `json:"id"`
	Allowed bool   `json:"allowed"` // by the workspace's setting `models`
}

// Bounds of a list of models.
const (
	maxModelPages = 20
	maxListed     = 10_000
	maxModelsBody = 8 << 20 // of one page
	maxModelName  = 400     // bytes
	modelsTime    = 30 * time.Second
)

// ProviderModels asks the provider of workspace uid which models it has: under its settings, or
// with those of the body, which are not stored; nil: as it is.
func (s *Service) ProviderModels(ctx context.Context, uid string, body []byte) (*ProviderModels, error) {
	w, err := s.workspace(ctx, uid)
	if body != nil {
		var t Trial
		t, err = s.Try(ctx, uid, body)
		w = t.Workspace
	}
	if err != nil {
		return nil, err
	}
	source, release, ok := s.deps.Sources.Acquire(ctx, w.Wish(), provider.Client{Workspace: w.UID})
	if !ok {
		return nil, s.deps.unavailable(ctx, w)
	}
	defer release()
	m := source.Manifest()
	if !manifest.Does(m, abi.OpModels) {
		return nil, apierr.Newf(chaterr.ChatModelsUnimplemented,
			"The plugin %s %s of the source %s cannot list models: look them up with the provider, and set `defaultModel` with PATCH /chats/%s/settings.", m.Name, m.Version, w.Source, w.UID)
	}
	for _, err := range []error{workspace.CheckRequired(w, m), workspace.CheckKey(w, m), workspace.CheckNeededOptions(w, m, true)} {
		if err != nil {
			return nil, err
		}
	}
	late := &apierr.Error{Code: chaterr.LLMProviderTimeout, Message: fmt.Sprintf("The provider did not list its models within %s: try again later.", modelsTime)}
	limited, stop := context.WithTimeoutCause(ctx, modelsTime, late)
	defer stop()
	names, err := link{w, source, m}.listModels(limited, s.deps.Upstream)
	if err != nil {
		if ctx.Err() == nil && errors.Is(context.Cause(limited), late) {
			return nil, late
		}
		return nil, err
	}
	list := &ProviderModels{Source: w.Source, Results: make([]ProviderModel, len(names))}
	for i, name := range names {
		list.Results[i] = ProviderModel{name, w.AllowsModel(name)}
	}
	return list, nil
}

// listModels returns the names of all pages, each once, sorted.
func (l link) listModels(ctx context.Context, up outbound.Sender) ([]string, error) {
	var names []string
	next := ""
	for range maxModelPages {
		page, after, err := l.modelPage(ctx, up, next)
		if err != nil {
			return nil, err
		}
		for _, name := range page {
			if len(name) <= maxModelName && len(names) < maxListed {
				names = append(names, l.hideSecrets(name))
			}
		}
		if after == "" || after == next || len(names) == maxListed {
			break
		}
		next = after
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// modelPage asks for the page that next leads to.
func (l link) modelPage(ctx context.Context, up outbound.Sender, next string) (names []string, after string, err error) {
	in := abi.EncodeRequest{Op: abi.OpModels, Next: next, Settings: l.workspace.PluginSettings(l.manifest), Options: l.workspace.GuestOptions(l.manifest)}
	out, err := l.source.Encode(ctx, &in)
	if err != nil {
		return nil, "", l.callError(err, false)
	}
	template, err := answer.ParseModels(out.Answer)
	if err != nil {
		return nil, "", l.callError(fmt.Errorf("the template of the answer %w", err), false)
	}
	body, err := l.fetchBody(ctx, up, out)
	if err != nil {
		return nil, "", err
	}
	names, after, err = template.Read(body)
	if err != nil {
		return nil, "", &apierr.Error{
			Code:    chaterr.LLMProviderError,
			Message: fmt.Sprintf("The provider's list of models %v: check the workspace's `baseUrl`.", err), Err: l.failure(abi.ErrorUpstream, nil),
		}
	}
	return names, after, nil
}

// fetchBody sends what the plugin described and returns the body of the response,
// where that is a success.
func (l link) fetchBody(ctx context.Context, up outbound.Sender, out *abi.EncodeResponse) ([]byte, error) {
	if out.Reply != nil {
		return []byte(*out.Reply), nil
	}
	request, err := l.outgoingRequest(out)
	if err != nil {
		return nil, l.requestError(err)
	}
	response, err := up.Do(ctx, request)
	if failed, ok := errors.AsType[*outbound.Error](err); ok && failed.Retryable && ctx.Err() == nil {
		response, err = up.Do(ctx, request)
	}
	if err != nil {
		return nil, l.requestError(err)
	}
	defer response.Close()
	if status := response.Status(); status/100 != 2 {
		return nil, l.refusalError(ctx, status, response.Header(), response.Body(maxErrorBody), untraced{})
	}
	return response.Body(maxModelsBody), nil
}
