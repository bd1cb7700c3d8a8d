package chat

import (
	"context"
	"strings"
	"sync"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/chat/workspace"
)

// An attempt is one workspace's try at an answer. An answer has one at a time: the
// first, and then those of the workspaces that it falls back to.
type attempt struct {
	link
	model  string   // that is asked
	most   int64    // tokens that the request lets each round say; 0: it does not say
	carry  carried  // of earlier answers, and of the rounds before
	hidden hidden   // the secrets of the workspace, in what is passed on
	lost   []string // what the request asked for and did not get, by the workspace's rules
	// adapted is what the provider refused of the host's asking, before it is learnt.
	adapted lack
}

// prepare holds a request to the rules of w and of its plugin, for the first attempt
// and for each other. Until release is called, the plugin is held. unnamed: the
// request may do without a model.
func (d *Deps) prepare(ctx context.Context, r *request, w *workspace.Workspace, unnamed bool) (t attempt, release func(), err error) {
	if err := r.chooseModel(w, unnamed); err != nil {
		return t, nil, err
	}
	if err := r.checkRules(w); err != nil {
		return t, nil, err
	}
	source, release, ok := d.Sources.Acquire(ctx, w.Wish(), clientOf(r.asked.Caller, w.UID))
	if !ok {
		return t, nil, d.unavailable(ctx, w)
	}
	m := source.Manifest()
	if err := checkSettings(w, m); err != nil {
		release()
		return t, nil, err
	}
	if err := r.checkParts(m); err != nil {
		release()
		return t, nil, err
	}
	lost := r.applyRules(w)
	who := by(m, r.model)
	restore(who, r.asked.Carries, r.messages)
	return attempt{
		link: link{w, source, m}, model: r.model, most: r.maxTokens(), lost: lost,
		carry: carriedBy(who, r.asked.Carries, r.messages), hidden: newHidden(w),
	}, release, nil
}

// checkSettings returns an error where w lacks what its plugin needs.
func checkSettings(w *workspace.Workspace, m *abi.Manifest) error {
	if err := workspace.CheckRequired(w, m); err != nil {
		return err
	}
	if err := workspace.CheckKey(w, m); err != nil {
		return err
	}
	return workspace.CheckNeededOptions(w, m, true)
}

// unavailable is the error for a workspace whose plugin is not loaded, or ctx's where that
// ended before it was.
func (d *Deps) unavailable(ctx context.Context, w *workspace.Workspace) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	wish := w.Wish()
	wish.Version = ""
	if p, ok := d.Sources.Source(wish); ok {
		return apierr.Newf(chaterr.ChatProviderUnavailable,
			"Workspace %s asks for `pluginVersion` %q, but the loaded version of plugin %s is %s: install one that meets it, or set it to null with PATCH /chats/%s/settings.",
			w.UID, w.PluginVersion, p.Manifest().Name, p.Manifest().Version, w.UID)
	}
	if names := d.Sources.Plugins(w.Source); len(names) > 0 {
		if w.Plugin != "" {
			return apierr.Newf(chaterr.ChatProviderUnavailable,
				"Workspace %s asks for `plugin` %q, which is not loaded; for the source %s there is %s: install it, or set another or null with PATCH /chats/%s/settings.",
				w.UID, w.Plugin, w.Source, strings.Join(names, ", "), w.UID)
		}
		return apierr.Newf(chaterr.ChatProviderUnavailable,
			"The deployment binds the source %s to no plugin that is loaded, though there is %s: choose one for all workspaces by `parley plugin source %s NAME`, or for workspace %s by its setting `plugin`.",
			w.Source, strings.Join(names, ", "), w.Source, w.UID)
	}
	return apierr.Newf(chaterr.ChatProviderUnavailable,
		"No plugin for the source %s of workspace %s is loaded: GET /plugins says whether one was refused and why; install one by `parley plugin install`, or choose another source with PATCH /chats/%s/settings.",
		w.Source, w.UID, w.UID)
}

// held is a plugin that an answer holds, and may change for another.
type held struct {
	mu      sync.Mutex
	release func()
	let     bool // go of it, and of any other
}

func (h *held) swap(release func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.release, release = release, h.release
	if h.let {
		release = h.release
	}
	if release != nil {
		release()
	}
}

// letGo may be called more than once.
func (h *held) letGo() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.let && h.release != nil {
		h.release()
	}
	h.let = true
}
