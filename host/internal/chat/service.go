package chat

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
	"github.com/parley-search/parley/host/internal/chat/workspace"
	"github.com/parley-search/parley/host/internal/plugin/guard"
	"github.com/parley-search/parley/host/internal/plugin/provider"
)

// Deps is what a [Service] works with. All fields but Limits, Tracer, Limiter and
// DefaultSource are required.
type Deps struct {
	Workspaces workspace.Workspaces
	Sources    provider.Sources
	Upstream   outbound.Sender
	Searcher   Searcher
	Limits     Limits
	Tracer     Tracer         // nil: answers are not traced
	Limiter    *limit.Limiter // nil: there are no limits, and nothing is counted
	// Guards are the guard plugins; nil: there are none.
	Guards guard.Plugins
	// DeploymentGuards come before those of each workspace.
	DeploymentGuards []guard.Use
	// Guarded, where not nil, is called for each call of a guard for a workspace.
	Guarded func(workspace string, e guard.Event)
	// DefaultSource is the source of a workspace that names none; default
	// "openAi".
	DefaultSource string
	// RequestOf returns the id of the client's request that a context is of, for plugins
	// that ask for it; nil: they get none.
	RequestOf func(context.Context) string
	// Now is the clock that searches are timed by; nil: that of the machine.
	Now func() time.Time

	learnt *learner
}

// Limits bounds one answer. The zero value of a field means its default, given
// beside it.
type Limits struct {
	Rounds         int           // requests to the provider; default 20
	Steps          int           // requests of one round beside its first; default 300
	Answer         time.Duration // the whole answer; default 10 min
	Calls          int           // internal searches in one round; default 32
	Parallel       int           // of them at a time; default 4
	ArgumentsBytes int           // arguments of one internal call; default 64 KiB
	RetryDelay     time.Duration // before the one retry; default 100 ms
}

func (l Limits) withDefaults() Limits {
	l.Rounds = cmp.Or(l.Rounds, 20)
	l.Steps = cmp.Or(l.Steps, 300)
	l.Answer = cmp.Or(l.Answer, 10*time.Minute)
	l.Calls = cmp.Or(l.Calls, 32)
	l.Parallel = cmp.Or(l.Parallel, 4)
	l.ArgumentsBytes = cmp.Or(l.ArgumentsBytes, 64<<10)
	l.RetryDelay = cmp.Or(l.RetryDelay, 100*time.Millisecond)
	return l
}

// A Service is everything behind /chats. Safe for concurrent use. Its errors
// are [apierr.Error]s wherever the client can do something about them.
type Service struct {
	deps  Deps
	spare spareBuffers
}

// New returns a Service.
func New(d Deps) *Service { return &Service{deps: d.withDefaults()} }

// withDefaults returns d with what an answer needs and the caller left out.
func (d Deps) withDefaults() Deps {
	d.Limits = d.Limits.withDefaults()
	d.DefaultSource = cmp.Or(d.DefaultSource, "openAi")
	if d.Now == nil {
		d.Now = time.Now
	}
	d.learnt = &learner{}
	return d
}

// Workspaces returns at most limit uids from offset on, and how many
// workspaces there are in all, of those that caller may use.
func (s *Service) Workspaces(ctx context.Context, caller *auth.Caller, offset, limit int) (uids []string, total int, err error) {
	if caller.AllWorkspaces() {
		return s.deps.Workspaces.WorkspaceUIDs(ctx, offset, limit)
	}
	uids, _, err = s.deps.Workspaces.WorkspaceUIDs(ctx, 0, math.MaxInt)
	if err != nil {
		return nil, 0, err
	}
	uids = slices.DeleteFunc(uids, func(uid string) bool { return !caller.Workspace(uid) })
	from := min(offset, len(uids))
	return uids[from : from+min(limit, len(uids)-from)], len(uids), nil
}

// Workspace returns the settings of a workspace.
func (s *Service) Workspace(ctx context.Context, uid string) (workspace.Settings, error) {
	w, err := s.workspace(ctx, uid)
	if err != nil {
		return workspace.Settings{}, err
	}
	return w.Settings(), nil
}

// Party returns a workspace's limits, and whose they are.
func (s *Service) Party(ctx context.Context, uid string) (limit.Party, error) {
	w, err := s.workspace(ctx, uid)
	if err != nil {
		return limit.Party{}, err
	}
	return limit.Party{Subject: limit.Workspace(uid), Limits: w.Limits}, nil
}

// Prompts returns the effective prompts of a workspace.
func (s *Service) Prompts(ctx context.Context, uid string) (workspace.WorkspacePrompts, error) {
	w, err := s.workspace(ctx, uid)
	if err != nil {
		return workspace.WorkspacePrompts{}, err
	}
	return workspace.WorkspacePrompts{UID: w.UID, Prompts: w.Prompts.Effective(), Defaults: workspace.PromptTexts{}.Effective()}, nil
}

// Delete removes a workspace with its settings, and what it has spent.
func (s *Service) Delete(ctx context.Context, uid string) error {
	if err := workspace.CheckUID(uid); err != nil {
		return err
	}
	if err := s.deps.Workspaces.DeleteWorkspace(ctx, uid); err != nil {
		return err
	}
	return s.deps.Limiter.Forget(limit.Workspace(uid))
}

// ResetSettings forgets a workspace's settings, its key with them, and returns
// the default ones.
func (s *Service) ResetSettings(ctx context.Context, uid string) (workspace.Settings, error) {
	if err := workspace.CheckUID(uid); err != nil {
		return workspace.Settings{}, err
	}
	fresh := s.patcher().Fresh(uid)
	err := s.deps.Workspaces.UpdateWorkspace(ctx, uid, func(old *workspace.Workspace) (*workspace.Workspace, error) {
		if old == nil {
			return nil, workspace.NotFound(uid)
		}
		fresh.CreatedAt = old.CreatedAt
		return fresh, nil
	})
	if err != nil {
		return workspace.Settings{}, err
	}
	return fresh.Settings(), nil
}

// patcher is what merges settings.
func (s *Service) patcher() *workspace.Patcher {
	return &workspace.Patcher{Workspaces: s.deps.Workspaces, Plugins: manifests{s.deps.Sources}, Guards: s.deps.Guards, DefaultSource: s.deps.DefaultSource}
}

// manifests are those of the plugins of its Sources.
type manifests struct{ provider.Sources }

// Manifest implements [workspace.Plugins].
func (m manifests) Manifest(wish provider.Wish) (*abi.Manifest, bool) {
	source, ok := m.Source(wish)
	if !ok {
		return nil, false
	}
	return source.Manifest(), true
}

// Patch merges body into a workspace's settings, in one transaction, and makes
// the workspace where there is none. warning, where not empty, is the value of
// the response's Warning header.
func (s *Service) Patch(ctx context.Context, uid string, body []byte) (_ workspace.PatchedSettings, warning string, err error) {
	return s.patcher().Patch(ctx, uid, body)
}

// A Trial is what a test of a workspace asks.
type Trial struct {
	Workspace *workspace.Workspace // as it would be: for [Request.Workspace]
	Model     string               // empty: that of the workspace
	Unnamed   bool                 // the provider is asked for no model
}

// Try reads what is tested of a workspace: a model, and settings that are not stored.
// body may be empty.
func (s *Service) Try(ctx context.Context, uid string, body []byte) (t Trial, err error) {
	fields := jsonbody.Object{}
	if len(bytes.TrimSpace(body)) > 0 {
		if err := apierr.CheckOnce(body); err != nil {
			return t, err
		}
		if fields, err = jsonbody.Parse(body); err != nil {
			return t, err
		}
	}
	if v, ok := fields["model"]; ok {
		if t.Model, ok = rawjson.String(v); !ok && !rawjson.IsNull(v) {
			return t, jsonbody.WrongType(apierr.BadRequest, "model", "a string", v)
		}
		delete(fields, "model")
	}
	if t.Workspace, err = s.patcher().Try(ctx, uid, fields); err != nil {
		return t, err
	}
	if t.Model == "" && t.Workspace.DefaultModel == "" {
		source, loaded := s.deps.Sources.Source(t.Workspace.Wish())
		t.Unnamed = !loaded || source.Manifest().NoModel
	}
	return t, nil
}

func (s *Service) workspace(ctx context.Context, uid string) (*workspace.Workspace, error) {
	if err := workspace.CheckUID(uid); err != nil {
		return nil, err
	}
	return s.deps.Workspaces.Workspace(ctx, uid)
}
