package cli

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/parley-search/parley"
	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/cmd/parley/embedded"
	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/internal/plugin"
)

const modulePath = "github.com/parley-search/parley"

// A shippedPlugin is a plugin of this project. Every program has its sources, and
// builds it where `go generate` has put no module of it into the program.
type shippedPlugin struct {
	*abi.Manifest
	dir       string // its folder in the sources
	inProgram bool   // `go generate` made modules of these very sources
}

// shippedPlugins returns those of a kind, "provider", "collector" or "guard", or "*" for
// all.
func shippedPlugins(kind string) (plugins []shippedPlugin, err error) {
	inProgram, err := hasModules()
	if err != nil {
		return nil, err
	}
	files, err := fs.Glob(parley.Sources, "plugins/"+kind+"/*/manifest.json")
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		b, err := parley.Sources.ReadFile(name)
		if err != nil {
			return nil, err
		}
		m := &abi.Manifest{}
		if err := json.Unmarshal(b, m); err != nil {
			return nil, fmt.Errorf("read manifest %s: %w", name, err)
		}
		plugins = append(plugins, shippedPlugin{m, path.Dir(name), inProgram})
	}
	return plugins, nil
}

// hasModules reports whether this program has modules in it that `go generate` made of
// the very sources that it has.
func hasModules() (bool, error) {
	made, err := embedded.Files.ReadFile("sources")
	if err != nil {
		return false, nil
	}
	sum, err := parley.Sum()
	return string(made) == sum, err
}

// carriedPlugins are those that the program runs where no other version is pinned.
func carriedPlugins() ([]shippedPlugin, error) {
	plugins, err := shippedPlugins("*")
	return slices.DeleteFunc(plugins, func(p shippedPlugin) bool {
		return p.Kind != abi.KindCollector && !slices.Contains(parley.Carried, path.Base(p.dir))
	}), err
}

// file is the name of the plugin's module.
func (p shippedPlugin) file() string { return p.Name + "-" + p.Version + ".wasm" }

// module returns the plugin's module: what this program has in it, or else what was or
// is now built. Progress gets lines for a person; it may be nil.
func (p shippedPlugin) module(ctx context.Context, progress io.Writer) ([]byte, error) {
	if module, err := p.embedded(); module != nil || err != nil {
		return module, err
	}
	dir, err := unpackSources()
	if err != nil {
		return nil, fmt.Errorf("build plugin %s: %w", p.Name, err)
	}
	built := filepath.Join(dir, "built")
	if module, err := plugin.ReadBuilt(filepath.Join(built, p.file())); err == nil {
		return module, nil // the folder is that of these very sources
	}
	if sum, err := parley.SumIn(os.DirFS(dir)); err != nil || sum != filepath.Base(dir) {
		// So a full disk or a loss of power leaves them, and somebody who edits them.
		if err := os.RemoveAll(dir); err != nil {
			return nil, fmt.Errorf("unpack its sources anew: %w", err)
		}
		if dir, err = unpackSources(); err != nil {
			return nil, fmt.Errorf("build plugin %s: %w", p.Name, err)
		}
	}
	file, err := plugin.Build(ctx, filepath.Join(dir, filepath.FromSlash(p.dir)), built, progress)
	if err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

// embedded returns the module that this program has in it; nil: none.
func (p shippedPlugin) embedded() ([]byte, error) {
	if !p.inProgram {
		return nil, nil
	}
	if module, err := embedded.Files.ReadFile(p.file()); err == nil {
		return module, nil
	}
	packed, err := embedded.Files.ReadFile(p.file() + ".gz")
	if err != nil {
		return nil, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpack plugin %s: %w", p.Name, err)
	}
	return io.ReadAll(r)
}

// findModule returns the module of the provider of source; nil where none is shipped.
func findModule(ctx context.Context, source string, progress io.Writer) ([]byte, error) {
	plugins, err := shippedPlugins("provider")
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(plugins, func(p shippedPlugin) bool { return p.Source == source })
	if i < 0 {
		return nil, nil
	}
	return plugins[i].module(ctx, progress)
}

// carriedModules returns the modules that the program runs where no other version is
// pinned. A program without modules in it builds them at its first start.
func carriedModules(ctx context.Context, progress io.Writer) (modules [][]byte, err error) {
	plugins, err := carriedPlugins()
	if err != nil {
		return nil, err
	}
	for _, p := range plugins {
		module, err := p.module(ctx, progress)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			fmt.Fprintf(progress, "parley: only the plugins that plugins.lock pins run: this program has none in it, and cannot build them: %v\n", err)
			return nil, nil
		}
		modules = append(modules, module)
	}
	return modules, nil
}

// carryCollectors makes h run the collectors, which it builds once ready is closed;
// nil: at once. It does nothing where telemetry is off, or where modules, which h has,
// are collectors already.
func carryCollectors(ctx context.Context, h *host.Host, modules [][]byte, ready <-chan struct{}, say func(format string, args ...any)) {
	if !h.CountsUsage() || slices.ContainsFunc(modules, isCollector) {
		return
	}
	count := 0
	load := func(ctx context.Context) (modules [][]byte, err error) {
		if ready != nil {
			select {
			case <-ready:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		plugins, err := shippedPlugins("collector")
		say("building the collectors of telemetry; questions are answered in the meantime")
		for _, p := range plugins {
			module, err := p.module(ctx, nil)
			if err != nil {
				return nil, err
			}
			modules = append(modules, module)
		}
		count = len(modules)
		return modules, err
	}
	h.CarryLater(ctx, load, func(err error) {
		if err != nil {
			say("telemetry counts less than it could: %v", err)
			return
		}
		say("%d collectors count usage from now on: `parley telemetry show --url http://%s` shows what they count; it is kept here unless --telemetry-url is set", count, h.Addr())
	})
}

// keepSources is how long sources stay unpacked after a program last used them.
const keepSources = 14 * 24 * time.Hour

// unpackSources returns the folder with this program's sources of plugins, in the
// user's cache folder. What is built of them is kept in its folder built.
func unpackSources() (dir string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a folder for its sources: %w", err)
	}
	sum, err := parley.Sum()
	if err != nil {
		return "", err
	}
	all := filepath.Join(cache, "parley", "plugins")
	dir = filepath.Join(all, sum)
	if _, err := os.Stat(dir); err == nil {
		_ = os.Chtimes(dir, time.Time{}, time.Now()) // so that it is kept, where that can be written
		return dir, nil
	}
	if err := os.MkdirAll(all, 0o755); err != nil {
		return "", fmt.Errorf("make a folder for its sources in the user's cache: %w: set HOME, or XDG_CACHE_HOME on Linux, to a folder that you may write", err)
	}
	removeOldSources(all)
	tmp, err := os.MkdirTemp(all, "unpacking-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	root := filepath.Join(tmp, "sources")
	if err := os.CopyFS(root, parley.Sources); err != nil {
		return "", fmt.Errorf("unpack its sources: %w", err)
	}
	if err := os.Rename(root, dir); err != nil {
		if _, there := os.Stat(dir); there != nil { // no other program was quicker
			return "", fmt.Errorf("unpack its sources: %w", err)
		}
	}
	return dir, nil
}

// removeOldSources removes from the folder all what no program has used for long. What
// cannot be removed stays.
func removeOldSources(all string) {
	entries, _ := os.ReadDir(all)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > keepSources {
			_ = os.RemoveAll(filepath.Join(all, e.Name()))
		}
	}
}
