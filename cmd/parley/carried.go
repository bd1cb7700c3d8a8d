package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host"
)

//go:generate go run embed.go

// The folder has *.wasm, the modules that the program runs where no other version is
// pinned, and *.wasm.gz, those that it only brings along to be installed by name.
//
//go:embed all:embedded
var embedded embed.FS

// embeddedModules returns the modules that this binary runs.
func embeddedModules() (modules [][]byte, err error) {
	names, err := fs.Glob(embedded, "embedded/*.wasm")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		b, err := embedded.ReadFile(name)
		if err != nil {
			return nil, err
		}
		modules = append(modules, b)
	}
	return modules, nil
}

// eachCarried calls f for each module that this binary carries, whether it runs it or
// not, until f returns false.
func eachCarried(f func(module []byte, m *abi.Manifest) bool) error {
	names, err := fs.Glob(embedded, "embedded/*.wasm*")
	if err != nil {
		return err
	}
	for _, name := range names {
		module, err := embedded.ReadFile(name)
		if err == nil && path.Ext(name) == ".gz" {
			module, err = unpack(module)
		}
		if err != nil {
			return fmt.Errorf("read carried plugin %s: %w", path.Base(name), err)
		}
		if m := manifestOf(module); m != nil && !f(module, m) {
			return nil
		}
	}
	return nil
}

func unpack(b []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// writeCarried writes the plugin NAME[@CONSTRAINT] to dir and returns its file. Where
// none such is carried it returns "", and the names of all that are.
func writeCarried(reference, dir string) (file string, names []string, err error) {
	var wrong error
	err = eachCarried(func(module []byte, m *abi.Manifest) bool {
		names = append(names, m.Name)
		var allowed bool
		if allowed, wrong = host.PluginMeets(m.Name, m.Version, reference); allowed && wrong == nil {
			file = filepath.Join(dir, m.Name+"-"+m.Version+".wasm")
			wrong = os.WriteFile(file, module, 0o600)
		}
		return file == "" && wrong == nil
	})
	if err == nil {
		err = wrong
	}
	return file, names, err
}

// findModule returns the provider plugin of source: built from the sources at hand, or
// carried by this program; nil where neither has it.
func findModule(ctx context.Context, source string, progress io.Writer) ([]byte, error) {
	tree, err := findSourceTree(ctx)
	if err != nil {
		return nil, err
	}
	return tree.module(ctx, source, progress)
}

// module returns the provider plugin of source: built, or carried by this program; nil
// where neither has it.
func (t *sourceTree) module(ctx context.Context, source string, progress io.Writer) (found []byte, err error) {
	if found, err = t.buildSource(ctx, source, progress); found != nil || err != nil {
		return found, err
	}
	err = eachCarried(func(module []byte, m *abi.Manifest) bool {
		if m.Source == source {
			found = module
		}
		return found == nil
	})
	return found, err
}

// providers returns the manifests of the providers that module finds.
func (t *sourceTree) providers() ([]*abi.Manifest, error) {
	_, manifests, err := t.manifests("provider")
	if err != nil {
		return nil, err
	}
	err = eachCarried(func(_ []byte, m *abi.Manifest) bool {
		if m.Kind == abi.KindProvider {
			manifests = append(manifests, m)
		}
		return true
	})
	return manifests, err
}

// manifestOf is the manifest of a module, nil where it has none that is right.
func manifestOf(module []byte) *abi.Manifest {
	report, err := host.InspectPlugin(module)
	if err != nil {
		return nil
	}
	return report.Manifest
}

func isCollector(module []byte) bool {
	m := manifestOf(module)
	return m != nil && m.Kind == abi.KindCollector
}

// sourceOf is the source that a module answers, empty for one that is no
// provider plugin.
func sourceOf(module []byte) string {
	m := manifestOf(module)
	if m == nil {
		return ""
	}
	return m.Source
}
