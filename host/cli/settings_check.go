package cli

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/workspace"
	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/plugin/provider"
	"github.com/parley-search/parley/host/internal/setup/config"
)

// providerManifests returns what the providers say of themselves that a host of
// c would use, where the binary carries embedded: read, and neither compiled nor
// run. Those that answer their source come first. One that cannot be read is left
// out, as the host would leave it.
func providerManifests(c config.Config, embedded [][]byte) ([]*abi.Manifest, error) {
	plan, err := host.PlanPlugins(c, embedded)
	if err != nil {
		return nil, err
	}
	var providers, others []*abi.Manifest
	var b bytes.Buffer
	for _, w := range plan.Wanted {
		if !w.Use {
			continue
		}
		if module, err := w.Read(&b); err == nil {
			switch m, err := plugin.ReadManifest(module); {
			case err != nil || m.Kind != abi.KindProvider:
			case plan.Sources[m.Source] == m.Name:
				providers = append(providers, m)
			default:
				others = append(others, m)
			}
		}
	}
	return append(providers, others...), nil
}

// checkSettings returns the error, a sentence, that PATCH /chats/{uid}/settings
// would have of settings for a new workspace, where there are these providers.
// Nothing is opened for it, and nothing written.
func checkSettings(ctx context.Context, uid string, settings []byte, providers []*abi.Manifest) error {
	s := chat.New(chat.Deps{Workspaces: unkept{}, Sources: described{providers: providers}})
	if _, _, err := s.Patch(ctx, uid, settings); err != nil {
		return errors.New(apierr.From(err).Message)
	}
	return nil
}

// unkept has no workspace and keeps none.
type unkept struct{ workspace.Workspaces }

func (unkept) Workspace(_ context.Context, uid string) (*workspace.Workspace, error) {
	return nil, workspace.NotFound(uid)
}

func (unkept) UpdateWorkspace(_ context.Context, _ string, f func(*workspace.Workspace) (*workspace.Workspace, error)) error {
	_, err := f(nil)
	return err
}

// described are sources of which there are the manifests alone.
type described struct {
	provider.Sources
	providers []*abi.Manifest
}

func (d described) Source(wish provider.Wish) (provider.Source, bool) {
	for _, m := range d.providers {
		if m.Source == wish.Source && (wish.Plugin == "" || wish.Plugin == m.Name) {
			return description{manifest: m}, true
		}
	}
	return nil, false
}

func (d described) Plugins(source string) []string {
	var names []string
	for _, m := range d.providers {
		if m.Source == source {
			names = append(names, m.Name)
		}
	}
	return names
}

func (d described) SourceNames() []string {
	var names []string
	for _, m := range d.providers {
		names = append(names, m.Source)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

type description struct {
	provider.Source
	manifest *abi.Manifest
}

func (d description) Manifest() *abi.Manifest { return d.manifest }
