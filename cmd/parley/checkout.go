package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host"
)

const modulePath = "github.com/parley-search/parley"

// checkout is the root of the checkout around the working directory, or "".
func checkout() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	for {
		b, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(b, []byte("module "+modulePath+"\n")) {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// checkoutProviders returns the folders of the checkout's provider plugins, and
// the manifest of each; none without a checkout.
func checkoutProviders() (dirs []string, manifests []*abi.Manifest, err error) {
	root := checkout()
	if root == "" {
		return nil, nil, nil
	}
	files, err := filepath.Glob(filepath.Join(root, "plugins", "provider", "*", "manifest.json"))
	if err != nil {
		return nil, nil, err
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			return nil, nil, fmt.Errorf("read manifest: %w", err)
		}
		m := &abi.Manifest{}
		if err := json.Unmarshal(b, m); err != nil {
			return nil, nil, fmt.Errorf("read manifest %s: %w", name, err)
		}
		dirs, manifests = append(dirs, filepath.Dir(name)), append(manifests, m)
	}
	return dirs, manifests, nil
}

// buildSource compiles the plugin of source from the checkout. Without a
// checkout, or for a source that is not of ours, it returns nil: the plugin
// directory may hold it.
func buildSource(ctx context.Context, source string, progress io.Writer) ([]byte, error) {
	dirs, manifests, err := checkoutProviders()
	if err != nil {
		return nil, err
	}
	for i, m := range manifests {
		if m.Source != source {
			continue
		}
		file, err := host.BuildPlugin(ctx, dirs[i], filepath.Join(checkout(), distDir), progress)
		if err != nil {
			return nil, err
		}
		return os.ReadFile(file)
	}
	return nil, nil
}

// carryCollectors makes h run the checkout's collectors, which it builds once
// ready is closed; nil: at once. It does nothing where telemetry is off, or
// where the program carries collectors already.
func carryCollectors(ctx context.Context, h *host.Host, carried [][]byte, ready <-chan struct{}, say func(format string, args ...any)) {
	root := checkout()
	if root == "" || !h.CountsUsage() || slices.ContainsFunc(carried, isCollector) {
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
		say("building the collectors of telemetry; questions are answered meanwhile")
		modules, err := buildCollectors(ctx, root)
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

// buildCollectors compiles the collectors of the checkout at root.
func buildCollectors(ctx context.Context, root string) (modules [][]byte, err error) {
	files, err := filepath.Glob(filepath.Join(root, "plugins", "collector", "*", "manifest.json"))
	if err != nil {
		return nil, err
	}
	for _, manifest := range files {
		file, err := host.BuildPlugin(ctx, filepath.Dir(manifest), filepath.Join(root, distDir), nil)
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

func isCollector(module []byte) bool {
	report, err := host.InspectPlugin(module)
	return err == nil && report.Manifest != nil && report.Manifest.Kind == abi.KindCollector
}

// sourceOf is the source that a module answers, empty for one that is no
// provider plugin.
func sourceOf(module []byte) string {
	report, err := host.InspectPlugin(module)
	if err != nil || report.Manifest == nil {
		return ""
	}
	return report.Manifest.Source
}
