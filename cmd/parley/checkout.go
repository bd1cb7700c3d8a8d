package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

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

// sourceOf is the source that a module answers, empty for one that is no
// provider plugin.
func sourceOf(module []byte) string {
	report, err := host.InspectPlugin(module)
	if err != nil || report.Manifest == nil {
		return ""
	}
	return report.Manifest.Source
}
