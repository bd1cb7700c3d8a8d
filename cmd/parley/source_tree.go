package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host"
)

const modulePath = "github.com/parley-search/parley"

// A sourceTree is a folder with the sources of this project, from which plugins are
// built. A nil tree has none.
type sourceTree struct {
	root string
	dist string // where built modules are kept
}

// findSourceTree returns the checkout around the working directory or, for a program
// of `go install …@VERSION`, the sources of that version in the module cache of go,
// which holds them already; nil where there is neither.
func findSourceTree(ctx context.Context) (*sourceTree, error) {
	if root := findCheckout(); root != "" {
		return &sourceTree{root, filepath.Join(root, distDir)}, nil
	}
	version := installedVersion()
	if _, err := exec.LookPath("go"); version == "" || err != nil {
		return nil, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("find a folder for plugins: %w", err)
	}
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", modulePath+"@"+version)
	cmd.Dir = os.TempDir() // in a module, its own requirements would count
	out, err := cmd.Output()
	var module struct{ Dir, Error string }
	if e := json.Unmarshal(out, &module); e != nil || module.Error != "" || module.Dir == "" {
		return nil, fmt.Errorf("find the sources of %s, to build plugins from: %s", version, cmp.Or(module.Error, fmt.Sprint(err)))
	}
	return &sourceTree{module.Dir, filepath.Join(cache, "parley", "plugins", version)}, nil
}

// findCheckout returns the root of the checkout around the working directory, or "".
func findCheckout() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	for {
		if isCheckout(dir) {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// installedVersion is the version that `go install` made this program of, or "".
func installedVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Path != modulePath || info.Main.Sum == "" {
		return ""
	}
	return info.Main.Version
}

// manifests reads those of the plugins of a kind, "provider" or "collector", or "*";
// dirs are their folders.
func (t *sourceTree) manifests(kind string) (dirs []string, manifests []*abi.Manifest, err error) {
	if t == nil {
		return nil, nil, nil
	}
	files, err := filepath.Glob(filepath.Join(t.root, "plugins", kind, "*", "manifest.json"))
	if err != nil {
		return nil, nil, err
	}
	for _, name := range files {
		m, err := readManifest(name)
		if err != nil {
			return nil, nil, err
		}
		dirs, manifests = append(dirs, filepath.Dir(name)), append(manifests, m)
	}
	return dirs, manifests, nil
}

// buildSource compiles the provider plugin of source. For a source that is not of
// ours, and without a tree, it returns nil: the plugin directory may hold it.
func (t *sourceTree) buildSource(ctx context.Context, source string, progress io.Writer) ([]byte, error) {
	dirs, manifests, err := t.manifests("provider")
	if err != nil {
		return nil, err
	}
	for i, m := range manifests {
		if m.Source == source {
			file, err := host.BuildPlugin(ctx, dirs[i], t.dist, progress)
			if err != nil {
				return nil, err
			}
			return os.ReadFile(file)
		}
	}
	return nil, nil
}

// buildNamed compiles the plugin NAME[@CONSTRAINT], of whatever kind, and returns its
// file; names are those of all plugins, where there is no such one.
func (t *sourceTree) buildNamed(ctx context.Context, reference string, progress io.Writer) (file string, names []string, err error) {
	dirs, manifests, err := t.manifests("*")
	if err != nil {
		return "", nil, err
	}
	for i, m := range manifests {
		if allowed, err := host.PluginMeets(m.Name, m.Version, reference); err == nil && allowed {
			file, err := host.BuildPlugin(ctx, dirs[i], t.dist, progress)
			return file, nil, err
		}
		names = append(names, m.Name)
	}
	return "", names, nil
}

// buildCollectors compiles all collectors.
func (t *sourceTree) buildCollectors(ctx context.Context) (modules [][]byte, err error) {
	dirs, _, err := t.manifests("collector")
	if err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		file, err := host.BuildPlugin(ctx, dir, t.dist, nil)
		if err != nil {
			return nil, err
		}
		module, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		modules = append(modules, module)
	}
	return modules, nil
}

// readManifest reads the manifest.json of a plugin.
func readManifest(file string) (*abi.Manifest, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	m := &abi.Manifest{}
	if err := json.Unmarshal(b, m); err != nil {
		return nil, fmt.Errorf("read manifest %s: %w", file, err)
	}
	return m, nil
}

// carryCollectors makes h run the collectors of the tree, which it builds once
// ready is closed; nil: at once. It does nothing where telemetry is off, or
// where the program carries collectors already.
func (t *sourceTree) carryCollectors(ctx context.Context, h *host.Host, carried [][]byte, ready <-chan struct{}, say func(format string, args ...any)) {
	if t == nil || !h.CountsUsage() || slices.ContainsFunc(carried, isCollector) {
		return
	}
	count := 0
	load := func(ctx context.Context) ([][]byte, error) {
		if ready != nil {
			select {
			case <-ready:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		say("building the collectors of telemetry; questions are answered in the meantime")
		modules, err := t.buildCollectors(ctx)
		count = len(modules)
		return modules, err
	}
	h.CarryLater(ctx, load, func(err error) {
		if err != nil {
			say("telemetry counts less than it could: %v", err)
			return
		}
		say("%d collectors count usage from now on: `parley telemetry view --url http://%s` shows what they count and where it goes", count, h.Addr())
	})
}
