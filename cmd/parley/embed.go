//go:build ignore

// Command embed builds the plugins that the program carries and puts them where
// the compiler takes them from: the provider that needs no model, and all
// collectors. `go generate ./cmd/parley` runs it, before `go build`.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/parley-search/parley/host"
)

func main() {
	if err := embed(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "embed plugins:", err)
		os.Exit(1)
	}
}

func embed(ctx context.Context) error {
	plugins := filepath.Join("..", "..", "plugins")
	manifests, err := filepath.Glob(filepath.Join(plugins, "collector", "*", "manifest.json"))
	if err != nil {
		return err
	}
	manifests = append(manifests, filepath.Join(plugins, "provider", "extract", "manifest.json"))
	var built []string
	for _, m := range manifests {
		file, err := host.BuildPlugin(ctx, filepath.Dir(m), filepath.Join(plugins, "dist"), os.Stderr)
		if err != nil {
			return err
		}
		built = append(built, file)
	}
	old, err := filepath.Glob(filepath.Join("embedded", "*.wasm"))
	if err != nil {
		return err
	}
	for _, file := range old {
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	for _, file := range built {
		b, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join("embedded", filepath.Base(file)), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}
