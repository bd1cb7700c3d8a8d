package cli

import (
	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin"
)

// embeddedModules returns the modules that this binary has in it and runs.
func embeddedModules() (modules [][]byte, err error) {
	plugins, err := carriedPlugins()
	if err != nil {
		return nil, err
	}
	for _, p := range plugins {
		module, err := p.embedded()
		if err != nil {
			return nil, err
		}
		if module != nil {
			modules = append(modules, module)
		}
	}
	return modules, nil
}

// manifestOf is the manifest of a module, nil where it has none that is right.
func manifestOf(module []byte) *abi.Manifest {
	report, err := plugin.Inspect(module)
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
