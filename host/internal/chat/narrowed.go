package chat

import (
	"context"
	"math"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
)

// A Narrowed workspace names its plugin or a version of it by itself, where others
// are answered by the one that the deployment pins.
type Narrowed struct {
	UID           string  `json:"uid"`
	Plugin        string  `json:"plugin,omitempty"` // its name; empty: the one bound to the source
	PluginVersion string  `json:"pluginVersion"`    // the constraint; empty: the deployment's pin
	Version       *string `json:"version"`          // the one that meets it; null: no loaded one does
}

// Narrowed returns such workspaces, in the order of their uids, by the name of the
// plugin that they are on, or whose version they lack; by no name where there is no
// such plugin.
func (s *Service) Narrowed(ctx context.Context) (map[string][]Narrowed, error) {
	uids, _, err := s.deps.Workspaces.WorkspaceUIDs(ctx, 0, math.MaxInt)
	if err != nil {
		return nil, err
	}
	all := make(map[string][]Narrowed)
	for _, uid := range uids {
		w, err := s.deps.Workspaces.Workspace(ctx, uid)
		if apierr.Is(err, chaterr.ChatNotFound) {
			continue // deleted in between
		}
		if err != nil {
			return nil, err
		}
		if w.PluginVersion == "" && w.Plugin == "" {
			continue
		}
		n := Narrowed{UID: uid, Plugin: w.Plugin, PluginVersion: w.PluginVersion}
		wish, name := w.Wish(), ""
		if source, ok := s.deps.Sources.Source(wish); ok {
			n.Version = new(source.Manifest().Version)
		}
		wish.Version = ""
		if source, ok := s.deps.Sources.Source(wish); ok {
			name = source.Manifest().Name
		}
		all[name] = append(all[name], n)
	}
	return all, nil
}
