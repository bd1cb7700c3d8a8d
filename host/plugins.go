package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/parley-search/parley/host/internal/httpapi"
	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/wasm"
)

// BuildPlugin compiles the Go plugin in dir with the local toolchain and
// returns the path of the module that it wrote below outDir. Nothing is built
// where that file is up to date. Progress is told what happens.
func BuildPlugin(ctx context.Context, dir, outDir string, progress io.Writer) (file string, err error) {
	return plugin.Build(ctx, dir, outDir, progress)
}

// PackPlugin gives module a manifest, which is JSON, and returns it with the
// file name that it should have: <name>-<version>.wasm.
func PackPlugin(module, manifest []byte) (name string, packed []byte, err error) {
	if packed, err = plugin.Pack(module, manifest); err != nil {
		return "", nil, err
	}
	m, err := plugin.ReadManifest(packed)
	if err != nil {
		return "", nil, err
	}
	return m.Name + "-" + m.Version + ".wasm", packed, nil
}

// InspectPlugin tells what a module says of itself, without running it.
func InspectPlugin(module []byte) (*plugin.Report, error) { return plugin.Inspect(module) }

// loadPlugins loads what the binary carries and, unpinned, what the plugin
// directory holds. A file that cannot be loaded is logged and left out.
func (h *Host) loadPlugins(ctx context.Context, c Config, o Options) error {
	for i, module := range o.Embedded {
		if _, err := h.plugins.Add(ctx, module, "embedded"); err != nil {
			return fmt.Errorf("load embedded plugin %d: %w", i, err)
		}
	}
	if c.PluginLock == LockOn {
		return h.warnUnpinned(c.PluginDir)
	}
	bad, err := h.plugins.LoadDir(ctx, c.PluginDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("load plugins: %w", err)
	}
	for _, b := range bad {
		h.log.Error().Str("file", b.File).Err(b.Err).Str("more", "parley plugin inspect "+b.File).Msg("plugin left out")
	}
	return nil
}

// warnUnpinned says which files of dir were not loaded: none is pinned.
func (h *Host) warnUnpinned(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.wasm"))
	if err != nil {
		return fmt.Errorf("list plugins in %s: %w", dir, err)
	}
	if len(files) > 0 {
		h.log.Warn().Strs("files", files).Msg("plugins left out: the plugin lock is on; start with --plugin-lock=off to run whatever the directory holds")
	}
	return nil
}

// pluginStatus is what GET /plugins shows.
func (h *Host) pluginStatus() []httpapi.Plugin {
	var all []httpapi.Plugin
	for _, p := range h.plugins.Providers() {
		m, st := p.Manifest(), p.Stats()
		state := "ready"
		if st.Open {
			state = "open"
		}
		all = append(all, httpapi.Plugin{
			Name: m.Name, Kind: m.Kind, Version: m.Version, Source: m.Source,
			SHA256: p.SHA256(), ABI: m.ABI, From: p.From(), State: state,
			Grants: httpapi.PluginGrants{HTTP: list(m.Grants.HTTP), Secrets: list(m.Grants.Secrets)},
			Calls:  st.Calls, Faults: st.Faults, Instances: st.Instances, Memory: st.Memory,
			Fuel: st.Fuel, Limiter: st.Limiter, Unmetered: st.Refusal,
		})
	}
	return all
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
	e.Str("plugin", l.Module).Msg(strings.ToValidUTF8(l.Text, "\uFFFD"))
}

// runtimeOptions keeps compiled plugins below the data directory.
func (h *Host) runtimeOptions(c Config) wasm.Options {
	return wasm.Options{CacheDir: filepath.Join(c.DBPath, "modules"), Log: h.logGuest}
}
