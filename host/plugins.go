package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parley-search/parley/abi/manifest"
	"github.com/parley-search/parley/host/internal/api/httpapi/pluginapi"
	"github.com/parley-search/parley/host/internal/base/contain"
	"github.com/parley-search/parley/host/internal/base/logs"
	"github.com/parley-search/parley/host/internal/chat/workspace"
	"github.com/parley-search/parley/host/internal/egress/upstream"
	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/plugin/deploy"
	"github.com/parley-search/parley/host/internal/plugin/guard"
	"github.com/parley-search/parley/host/internal/plugin/provider"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
	"github.com/parley-search/parley/host/internal/search/reader/pdf"
	"github.com/parley-search/parley/host/internal/setup/config"
	"github.com/parley-search/parley/host/internal/setup/figures"
	"github.com/parley-search/parley/host/internal/setup/metrics"
)

// pluginStatus is what GET /plugins shows.
func (h *Host) pluginStatus() []pluginapi.Plugin {
	var all []pluginapi.Plugin
	for _, p := range h.plugins.Running() {
		m, st := p.Manifest(), p.Stats()
		state := "ready"
		switch {
		case p.Retired:
			state = "retiring"
		case st.Open:
			state = "open"
		}
		all = append(all, pluginapi.Plugin{
			Name: m.Name, Kind: m.Kind, Version: m.Version, Source: m.Source, Owner: h.plugins.Owner(m.Source),
			SHA256: p.SHA256(), ABI: m.ABI, From: p.Wanted.From, State: state,
			Use: p.Wanted.Use && !p.Retired, Constraint: p.Wanted.Constraint, Locked: p.Wanted.Locked,
			Grants:      pluginapi.Grants{HTTP: list(m.Grants.HTTP), Secrets: list(m.Grants.Secrets), Auth: manifest.AuthGrants(m)},
			Description: m.Description, Settings: m.Settings, Options: m.Options,
			Streams: p.Streams, Calls: st.Calls, Faults: st.Faults, LastFault: (*pluginapi.PastFault)(st.LastFault), Clients: faultyClients(st.Clients), Instances: st.Instances, Memory: st.Memory,
			Fuel: st.Fuel, FuelP50: st.FuelP50, FuelP99: st.FuelP99, Limiter: st.Limiter, Unmetered: st.Refusal,
			Resets: st.Resets, ResetPages: st.ResetPages, Renewals: st.Renewals, NoReset: st.NoReset,
		})
	}
	for _, r := range h.plugins.Refused() {
		all = append(all, refusedPlugin(r))
	}
	return all
}

// pluginProblems are what is wrong with the deployment of plugins as a whole; nothing of it
// keeps those from running that do.
func (h *Host) pluginProblems() []string {
	problems := []string{}
	if err := h.sandbox.CacheProblem(); err != nil {
		problems = append(problems, fmt.Sprintf("compiled plugins are not kept, so that each start compiles them anew: %v", err))
	}
	if p := h.locked.problem.Load(); p != nil {
		problems = append(problems, *p)
	}
	return problems
}

// faultyClients shows whose input made a plugin fail lately.
func faultyClients(clients []wasm.ClientFaults) []pluginapi.FaultyClient {
	shown := make([]pluginapi.FaultyClient, 0, len(clients))
	for _, c := range clients {
		f := pluginapi.FaultyClient{Workspace: c.Workspace, Key: c.Key, Faults: c.Faults, LastFault: c.Last}
		if !c.Paused.IsZero() {
			f.PausedUntil = &c.Paused
		}
		shown = append(shown, f)
	}
	return shown
}

// refusedPlugin shows what the deployment says of a plugin that does not run.
func refusedPlugin(r plugin.Refused) pluginapi.Plugin {
	p := pluginapi.Plugin{
		Name: r.Name, Version: r.Version, From: r.From, State: "refused", Error: r.Err.Error(),
		Grants: pluginapi.Grants{HTTP: list(nil), Secrets: list(nil)}, Faults: map[string]int64{},
	}
	if errors.Is(r.Err, deploy.ErrUnlisted) {
		p.State = "unlisted"
	}
	if w := r.Wanted; w != nil {
		p.SHA256, p.Use, p.Constraint, p.Locked = w.SHA256, w.Use, w.Constraint, w.Locked
	}
	return p
}

// list is never null in JSON.
func list(s []string) []string { return append([]string{}, s...) }

// logGuest writes down what a guest logs.
func (h *Host) logGuest(l wasm.LogLine) {
	e := h.log.Debug()
	switch l.Level {
	case 1:
		e = h.log.Info()
	case 2:
		e = h.log.Warn()
	case 3:
		e = h.log.Error()
	}
	if id := logs.RequestOf(l.Context); id != "" {
		e.Str("request_id", id)
	}
	if l.Workspace != "" {
		e.Str("workspace", l.Workspace)
	}
	e.Str("plugin", l.Module).Msg(strings.ToValidUTF8(l.Text, "\uFFFD"))
}

// openPlugins begins to load the plugins, collectors among them where telemetry is
// on.
func (h *Host) openPlugins(ctx context.Context, c config.Config, o Options, spaces workspace.Workspaces) error {
	if err := removeOldCache(c); err != nil {
		h.log.Warn().Err(err).Msg("the compiled plugins of an earlier version are not removed")
	}
	runtime, err := wasm.Open(h.runtimeOptions(c, o))
	if err != nil {
		return err
	}
	h.sandbox = runtime
	h.onClose("the runtime of plugins", runtime.Close)
	if err := h.usage.decide(c); err != nil {
		return err
	}
	h.plugins = plugin.NewSet(runtime, plugin.Options{FuelPerCall: int64(c.PluginFuel), Isolation: plugin.Isolation(c.PluginIsolation), Log: h.logStep, NoCollectors: h.usage.off != "", Applied: h.useCollectors})
	h.onClose("plugins", h.plugins.Close)
	h.metrics.Add(func() []metrics.Family { return figures.Plugins(h.plugins, h.locked.problem.Load() != nil) })
	return h.startPlugins(namedPlugins(ctx, c.Guards, spaces))
}

// maxNamed bounds the workspaces that are read for the order of loading plugins.
const maxNamed = 1000

// namedPlugins are those that the guards of the deployment and workspaces ask for. It is only about the
// order of things: what cannot be read is left out, and a request for it says why.
func namedPlugins(ctx context.Context, deployment []guard.Use, spaces workspace.Workspaces) (named []provider.Wish) {
	add := func(w provider.Wish) {
		if !slices.Contains(named, w) {
			named = append(named, w)
		}
	}
	guards := func(uses []guard.Use) {
		for i := range uses {
			add(provider.Wish{Plugin: uses[i].Plugin})
		}
	}
	guards(deployment)
	uids, _, _ := spaces.WorkspaceUIDs(ctx, 0, maxNamed)
	for _, uid := range uids {
		if w, err := spaces.Workspace(ctx, uid); err == nil {
			add(w.Wish())
			guards(w.Guards)
		}
	}
	return named
}

// CountsUsage reports whether telemetry is on, so that collectors run where there are some.
func (h *Host) CountsUsage() bool { return h.usage.engine != nil }

// CarryLater makes h run, beside the modules that it carries, those that load
// returns. It returns at once; call it before Run. What became of it is told to
// done, unless ctx or the host ended first: Close ends load by its context, and
// waits until nothing of it goes on.
func (h *Host) CarryLater(ctx context.Context, load func(context.Context) ([][]byte, error), done func(error)) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err := contain.Call(func() error {
			modules, err := load(ctx)
			if err != nil {
				return err
			}
			return h.carry(ctx, modules)
		})
		if ctx.Err() == nil {
			done(err)
		}
	}()
	h.onClose("modules that are being built", func() error {
		cancel()
		<-ended
		return nil
	})
}

// carry adds modules to what the program carries, and runs them.
func (h *Host) carry(ctx context.Context, modules [][]byte) error {
	before := h.setModules(append(slices.Clone(h.modules), modules...))
	applied, err := h.applyPlugins(ctx)
	if err != nil {
		h.setModules(before) // or no reload would succeed any more
		return err
	}
	for _, r := range applied.Refused {
		if r.From == deploy.Embedded {
			err = errors.Join(err, fmt.Errorf("load plugin %s %s: %w", r.Name, r.Version, r.Err))
		}
	}
	return err
}

func (h *Host) setModules(modules [][]byte) (before [][]byte) {
	h.applying.Lock()
	defer h.applying.Unlock()
	before, h.modules = h.modules, modules
	return before
}

func (h *Host) runtimeOptions(c config.Config, o Options) wasm.Options {
	return wasm.Options{CacheDir: PluginCacheDir(c), Aside: o.Compiler, Log: h.logGuest, CacheLost: h.logCacheLost}
}

func (h *Host) logCacheLost(err error) {
	h.log.Warn().Err(err).Msg("compiled plugins are not kept: each start compiles them anew; name a folder that can be written to with --plugin-cache-dir")
}

// PluginCacheDir returns the folder of compiled plugins; empty where the system has
// no cache folder and c names none: they are then compiled anew in each process.
func PluginCacheDir(c config.Config) string {
	if c.PluginCacheDir != "" {
		return c.PluginCacheDir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "parley", "compiled")
}

// removeOldCache removes the folder of compiled plugins that earlier versions had in
// the data directory.
func removeOldCache(c config.Config) error {
	old := filepath.Join(c.DBPath, "modules")
	info, err := os.Stat(old)
	if err != nil {
		return nil // mostly there is none
	}
	if used, err := os.Stat(PluginCacheDir(c)); err == nil && os.SameFile(info, used) {
		return nil // the operator wants it there
	}
	return os.RemoveAll(old)
}

// CompileModule is what a program does that [Options].Compiler names: it
// compiles the module that in brings, and ends. Call it in a process of its
// own, whose priority and memory it lowers; gone is called when the host that
// waits for it has gone, and should end the process. After an error the process is to end
// with that exit code, which tells the host whether the module was at fault.
func CompileModule(ctx context.Context, in io.Reader, gone func()) (exit int, err error) {
	err = wasm.CompileAside(ctx, in, map[string]func(string) error{pdf.Library: pdf.Compile}, gone)
	if _, ok := errors.AsType[wasm.CacheError](err); ok {
		return wasm.ExitCache, err
	}
	return 1, err
}

// pluginInstaller changes the plugin directory for clients; nil where the operator
// does not let them, or where no lock says what runs.
func (h *Host) pluginInstaller(o Options) pluginapi.Installer {
	if !h.config.PluginAPI || h.config.PluginLock == config.LockOff {
		return nil
	}
	return h.node.Installer(deploy.Remote{Installer: OpenInstaller(h.config, o)})
}

// OpenInstaller returns what changes the plugin directory of c. A host that runs on it need not be told:
// it looks. Of o it heeds Embedded, what the
// binary carries, and Compiler, which compiles what is to be installed.
func OpenInstaller(c config.Config, o Options) *deploy.Installer {
	try := func(ctx context.Context, module []byte) error { return tryPlugin(ctx, module, o.Compiler) }
	return &deploy.Installer{Dir: pluginDir(c), Embedded: o.Embedded, Try: try}
}

// tryPlugin makes sure that a host could run module, which compiler compiles.
func tryPlugin(ctx context.Context, module []byte, compiler []string) error {
	rt, err := wasm.Open(wasm.Options{Aside: compiler})
	if err != nil {
		return err
	}
	set := plugin.NewSet(rt, plugin.Options{})
	done, err := set.Apply(ctx, deploy.Trial(module))
	for _, r := range done.Refused {
		err = errors.Join(err, r.Err)
	}
	return errors.Join(err, set.Close(), rt.Close())
}

// pluginDir is the plugin directory of c.
func pluginDir(c config.Config) deploy.Dir {
	return deploy.Dir{
		Path: c.PluginDir, PublicKey: c.PluginPublicKey, Registry: c.PluginRegistry,
		Transport: upstream.NewTransport(upstream.Options{Private: c.PrivateNetworks}),
	}
}

// PlanPlugins says what is to run: what the lock pins or, without a lock,
// what the plugin directory holds; and what the binary carries of other names.
// An error says that nobody can tell what is to run.
func PlanPlugins(c config.Config, embedded [][]byte) (plugin.Plan, error) {
	if c.PluginLock == config.LockOff {
		return pluginDir(c).Unlocked(embedded)
	}
	return pluginDir(c).Locked(embedded)
}
