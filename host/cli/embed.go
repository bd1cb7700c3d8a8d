//go:build ignore

// Command embed, run in cmd/parley, builds the shipped plugins and puts them where the compiler takes them
// from, with the hash of the sources that they are made of. The program runs some of
// them as they are, [parley.Carried] and all collectors. The other providers and the
// guards are packed, to be installed by name. `go generate ./cmd/parley` runs it, before `go build`.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/parley-search/parley"
	"github.com/parley-search/parley/host/internal/plugin"
)

func main() {
	if err := embed(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "embed plugins:", err)
		os.Exit(1)
	}
}

func embed(ctx context.Context) error {
	plugins := filepath.Join("..", "..", "plugins")
	manifests, err := filepath.Glob(filepath.Join(plugins, "*", "*", "manifest.json"))
	if err != nil {
		return err
	}
	sum, err := parley.Sum()
	if err != nil {
		return err
	}
	files := map[string][]byte{"sources": []byte(sum)} // by name
	for _, m := range manifests {
		dir := filepath.Dir(m)
		file, err := plugin.Build(ctx, dir, filepath.Join(plugins, "dist"), os.Stderr)
		if err != nil {
			return err
		}
		module, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name := filepath.Base(file)
		if filepath.Base(filepath.Dir(dir)) != "collector" && !slices.Contains(parley.Carried, filepath.Base(dir)) {
			name += ".gz"
			if module, err = pack(module); err != nil {
				return err
			}
		}
		files[name] = module
	}
	old, err := filepath.Glob(filepath.Join("embedded", "*.wasm*"))
	if err != nil {
		return err
	}
	for _, file := range old {
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join("embedded", name), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// pack returns the same bytes each time.
func pack(module []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(module); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}
