package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime/debug"
	"slices"
	"syscall"

	"github.com/parley-search/parley/host/internal/api/httpapi/pluginapi"
	"github.com/parley-search/parley/host/internal/base/contain"
	"github.com/parley-search/parley/host/internal/base/watch"
	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/plugin/deploy"
	"github.com/parley-search/parley/host/internal/plugin/provider"
)

// Reload makes the host run what its plugin directory says now. What is new is
// verified, compiled and tested before the first stream begins on it; streams
// under way end on the version that they began with. The files of secrets are read again as
// well. It logs what it did.
func (h *Host) Reload(ctx context.Context) error {
	changed, err := h.config.ReadSecrets()
	if len(changed) > 0 {
		h.log.Info().Strs("options", changed).Msg("secrets were read again, and have changed")
	}
	if err != nil {
		h.log.Error().Err(err).Msg("a secret's file was read again in vain")
	}
	_, err = h.reload(ctx)
	return err
}

func (h *Host) reload(ctx context.Context) (plugin.Applied, error) {
	done, err := h.applyPlugins(ctx)
	if err != nil && ctx.Err() == nil {
		h.log.Error().Err(err).Msg("plugins not reloaded")
	}
	return done, err
}

// applyPlugins is what watch, signal and route have in common. One of them at a
// time looks at the directory and makes the host run what it saw.
func (h *Host) applyPlugins(ctx context.Context) (plugin.Applied, error) {
	h.applying.Lock()
	defer h.applying.Unlock()
	plan, err := h.planPlugins()
	if err != nil {
		return plugin.Applied{}, err
	}
	return h.apply(ctx, plan)
}

// apply makes the host run what plan says. applying is held.
func (h *Host) apply(ctx context.Context, plan plugin.Plan) (plugin.Applied, error) {
	done, err := h.plugins.Apply(ctx, plan)
	if err == nil {
		h.log.Info().Int("loaded", len(done.Loaded)).Int("retired", len(done.Retired)).Int("refused", len(done.Refused)).
			Int("unchanged", done.Unchanged).Strs("sources", h.plugins.SourceNames()).Msg("plugins applied")
	}
	return done, err
}

// startPlugins watches the plugin directory and begins to load what is to run.
// Requests come meanwhile: who asks for a plugin that is not there yet waits for
// it; those that workspaces name come first. The error says that nobody can tell what is to run.
func (h *Host) startPlugins(named []provider.Wish) error {
	// Watched first, so that nothing that comes meanwhile is missed.
	folder, err := watch.Open(h.config.PluginDir, watch.Options{Failed: h.notWatched, Soon: func(name string) bool { return name == deploy.LockFile }})
	if err != nil {
		h.notWatched(err)
	}
	h.applying.Lock()
	plan, err := h.planPlugins()
	h.plugins.Expect(named)
	working, stop := context.WithCancel(context.Background())
	loading, stopLoading := context.WithCancel(working)
	h.stopLoading = stopLoading
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err == nil {
			if err := contain.Call(func() error { h.loadFirst(loading, plan); return nil }); err != nil {
				h.failed(err)
			}
		}
		h.applying.Unlock()
		if folder != nil {
			contain.Keep(working, func(ctx context.Context) {
				folder.Run(ctx, decides, func() (again bool) {
					done, err := h.reload(ctx) // which logs its error
					return isOfSystem(err) || slices.ContainsFunc(done.Refused, func(r plugin.Refused) bool { return isOfSystem(r.Err) })
				})
			}, h.failed)
		}
	}()
	h.onClose("a reload of plugins", func() error {
		stop()
		<-ended
		return nil
	})
	return err
}

// loadFirst applies the first plan; applying is held. A plugin of the binary itself
// that cannot run ends the host: it is a fault of the build.
func (h *Host) loadFirst(ctx context.Context, plan plugin.Plan) {
	done, err := h.apply(ctx, plan)
	for _, r := range done.Refused {
		if r.From == deploy.Embedded {
			err = errors.Join(err, fmt.Errorf("load embedded plugin %s %s: %w", r.Name, r.Version, r.Err))
		}
	}
	if err != nil && ctx.Err() == nil {
		h.unfit <- err
	}
	if len(h.plugins.SourceNames()) == 0 && ctx.Err() == nil {
		h.log.Warn().Msg("no provider plugin is loaded: chat completions answer 503; get one by `parley plugin install FILE-or-URL`; GET /plugins says what was refused")
	}
	// The modules were read, metered and decoded: none of that is wanted again.
	debug.FreeOSMemory()
}

// isOfSystem reports whether err is what the system said, of a file or a disk: it may pass by
// itself.
func isOfSystem(err error) bool {
	_, ok := errors.AsType[syscall.Errno](err)
	return ok && !errors.Is(err, fs.ErrNotExist)
}

func (h *Host) notWatched(err error) {
	h.log.Warn().Err(err).Msg("the plugin directory is not watched well: after a change, send SIGHUP or POST /plugins/reload")
}

// decides reports whether a file of this name in the plugin directory has a say
// in what runs. "..data" is what Kubernetes replaces when a mounted file
// changes.
func decides(name string) bool {
	switch filepath.Ext(name) {
	case ".wasm", ".lock", ".minisig":
		return true
	}
	return name == "..data"
}

// reloadPlugins answers POST /plugins/reload.
func (h *Host) reloadPlugins(ctx context.Context) (pluginapi.Reloaded, error) {
	done, err := h.reload(ctx)
	if err != nil {
		return pluginapi.Reloaded{}, err
	}
	r := pluginapi.Reloaded{Loaded: versions(done.Loaded), Retired: versions(done.Retired), Refused: []pluginapi.Refused{}, Unchanged: done.Unchanged}
	for _, f := range done.Refused {
		r.Refused = append(r.Refused, pluginapi.Refused{Name: f.Name, Version: f.Version, From: f.From, Error: f.Err.Error()})
	}
	return r, nil
}

func versions(ids []plugin.ID) []pluginapi.Version {
	all := make([]pluginapi.Version, len(ids))
	for i, id := range ids {
		all[i] = pluginapi.Version(id)
	}
	return all
}

// logStep writes down what happened to a plugin.
func (h *Host) logStep(s plugin.Step) {
	e := h.log.Info()
	switch s.What {
	case plugin.StepRefused:
		if errors.Is(s.Err, deploy.ErrUnlisted) {
			e = h.log.Warn().Err(s.Err)
		} else {
			e = h.log.Error().Err(s.Err).Str("more", "parley plugin inspect "+s.From)
		}
	case plugin.StepContested:
		h.log.Warn().Err(s.Err).Str("step", s.What).Msg(stepMessages[s.What])
		return
	case plugin.StepTaken:
		e = h.log.Warn()
	case plugin.StepFound, plugin.StepVerified, plugin.StepCompiled, plugin.StepTested:
		e = h.log.Debug()
	}
	if s.Took > 0 {
		e.Int64("ms", s.Took.Milliseconds())
	}
	if s.Before != "" {
		e.Str("before", s.Before)
	}
	if s.Source != "" {
		e.Str("source", s.Source)
	}
	if s.Owner != "" && s.Owner != s.Name {
		e.Str("owner", s.Owner)
	}
	if s.Name != "" {
		e.Str("plugin", s.Name+" "+s.Version)
	}
	if s.SHA256 != "" {
		e.Str("sha256", s.SHA256)
	}
	e.Str("from", s.From).Str("step", s.What).Msg(stepMessages[s.What])
}

// stepMessages says what each step of a plugin's life is.
var stepMessages = map[string]string{
	plugin.StepFound:    "plugin found",
	plugin.StepVerified: "plugin verified",
	plugin.StepCompiled: "plugin compiled and started",
	plugin.StepTested:   "plugin passed its self-test",
	plugin.StepLoaded:   "plugin loaded",
	plugin.StepSwapped:  "plugin swapped: this version is in use now",
	plugin.StepTaken:    "plugin answers its source now, in place of another plugin",
	plugin.StepRetired:  "plugin retired: it finishes the streams on it",
	plugin.StepClosed:   "plugin closed",
	plugin.StepRefused:  "plugin left out",

	plugin.StepContested: "who answers a source is not clear",
}
