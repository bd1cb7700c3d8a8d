package chat

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
	"github.com/parley-search/parley/host/internal/chat/workspace"
)

// A Model is one that clients of /v1 may name: a workspace, or a workspace, a
// slash, and a model of its provider.
type Model struct {
	ID      string
	Created time.Time // of the workspace; zero where that is not known
}

// A Target is what the name of a [Model] stands for.
type Target struct {
	Workspace string
	Model     string    // the provider's; empty where its source needs none
	Citations bool      // the workspace's setting
	Created   time.Time // the workspace
}

// Models lists what caller may name, sorted by id: the workspaces that can
// answer without a model's name, and the models that they list by name.
func (s *Service) Models(ctx context.Context, caller *auth.Caller) ([]Model, error) {
	uids, _, err := s.deps.Workspaces.WorkspaceUIDs(ctx, 0, math.MaxInt)
	if err != nil {
		return nil, err
	}
	models := []Model{}
	for _, uid := range uids {
		if !caller.Workspace(uid) {
			continue
		}
		w, err := s.deps.Workspaces.Workspace(ctx, uid)
		if apierr.Is(err, chaterr.ChatNotFound) {
			continue // deleted in between
		}
		if err != nil {
			return nil, err
		}
		source, ok := s.deps.Sources.Source(w.Wish())
		if !ok {
			continue
		}
		if w.DefaultModel != "" || source.Manifest().NoModel {
			models = append(models, Model{uid, w.CreatedAt})
		}
		for _, m := range w.Models {
			if !strings.Contains(m, "*") {
				models = append(models, Model{uid + "/" + m, w.CreatedAt})
			}
		}
	}
	slices.SortFunc(models, func(a, b Model) int { return cmp.Compare(a.ID, b.ID) })
	return models, nil
}

// Resolve returns what the model called id stands for. The error is
// [chaterr.ModelNotFound], also where caller may not use it, or
// [chaterr.ModelRequired] where the workspace alone is not enough.
func (s *Service) Resolve(ctx context.Context, caller *auth.Caller, id string) (Target, error) {
	uid, model, _ := strings.Cut(id, "/")
	if !workspace.ValidUID(uid) || !caller.Workspace(uid) {
		return Target{}, s.UnknownModel(ctx, caller, id)
	}
	w, err := s.deps.Workspaces.Workspace(ctx, uid)
	if apierr.Is(err, chaterr.ChatNotFound) {
		return Target{}, s.UnknownModel(ctx, caller, id)
	}
	if err != nil {
		return Target{}, err
	}
	if model = cmp.Or(model, w.DefaultModel); model != "" && !w.AllowsModel(model) {
		return Target{}, s.UnknownModel(ctx, caller, id)
	}
	if model != "" {
		return target(w, model), nil
	}
	// Only then it matters what the plugin is like, which may be still to be loaded.
	if source, loaded := s.deps.Sources.Source(w.Wish()); loaded && !source.Manifest().NoModel {
		return Target{}, &apierr.Error{Code: chaterr.ModelRequired, Param: "model", Message: "Workspace `" + uid + "` has no `defaultModel`: ask for `" +
			uid + "/MODEL`, or set it with PATCH /chats/" + uid + "/settings."}
	}
	return target(w, ""), nil
}

func target(w *workspace.Workspace, model string) Target {
	return Target{Workspace: w.UID, Model: model, Citations: !w.NoCitations, Created: w.CreatedAt}
}

// Aim has q asked of t, which its client calls name.
func (q *Request) Aim(t *Target, name string) {
	q.UID, q.Model, q.Unnamed, q.ShownModel = t.Workspace, t.Model, t.Model == "", name
	q.Cite, q.Estimate = t.Citations, true
}

// EmbeddingModel returns the workspace, with its secrets, and the model for vectors
// that id stands for, which is empty for the first one of the plugin's; nil where id
// is of no workspace that caller may use.
func (s *Service) EmbeddingModel(ctx context.Context, caller *auth.Caller, id string) (*workspace.Workspace, string, error) {
	uid, model, _ := strings.Cut(id, "/")
	if !workspace.ValidUID(uid) || !caller.Workspace(uid) {
		return nil, "", nil
	}
	w, err := s.deps.Workspaces.Workspace(ctx, uid)
	if apierr.Is(err, chaterr.ChatNotFound) {
		return nil, "", nil
	}
	if err == nil && !w.AllowsModel(model) {
		err = s.UnknownModel(ctx, caller, id)
	}
	return w, model, err
}

// UnknownModel is the error for a model that caller cannot name, with the
// nearest one that it can.
func (s *Service) UnknownModel(ctx context.Context, caller *auth.Caller, id string) error {
	message := "The model `" + jsonbody.Cut(id, 200) + "` does not exist or you do not have access to it."
	models, err := s.Models(ctx, caller)
	if err != nil {
		return err
	}
	ids := make([]string, len(models))
	for i, m := range models {
		ids[i] = m.ID
	}
	if near := apierr.Nearest(id, ids); near != "" {
		message += " Did you mean `" + near + "`?"
	}
	return &apierr.Error{Code: chaterr.ModelNotFound, Param: "model", Message: message}
}
