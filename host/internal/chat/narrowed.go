package chat

import (
	"context"
	"math"

	"github.com/parley-search/parley/host/internal/apierr"
)

// A Narrowed workspace names a version of its plugin by itself, where others
// are answered by the one that the deployment pins.
type Narrowed struct {
	UID           string  `json:"uid"`
	PluginVersion string  `json:"pluginVersion"` // the constraint
	Version       *string `json:"version"`       // the one that meets it; null: no loaded one does
}

// Narrowed returns such workspaces by their source, in the order of their uids.
func (s *Service) Narrowed(ctx context.Context) (map[string][]Narrowed, error) {
	uids, _, err := s.deps.Workspaces.WorkspaceUIDs(ctx, 0, math.MaxInt)
	if err != nil {
		return nil, err
	}
	all := make(map[string][]Narrowed)
	for _, uid := range uids {
		w, err := s.deps.Workspaces.Workspace(ctx, uid)
		if apierr.Is(err, apierr.ChatNotFound) {
			continue // deleted in between
		}
		if err != nil {
			return nil, err
		}
		if w.PluginVersion == "" {
			continue
		}
		n := Narrowed{UID: uid, PluginVersion: w.PluginVersion}
		if source, ok := s.deps.Sources.Source(w.Source, w.PluginVersion); ok {
			n.Version = new(source.Manifest().Version)
		}
		all[w.Source] = append(all[w.Source], n)
	}
	return all, nil
}
