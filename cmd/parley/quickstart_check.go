package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/cmd/parley/internal/cli"
	"github.com/parley-search/parley/host"
)

// check refuses arguments that make no workspace of which the printed command
// could ask something, where there are these providers.
func (d demo) check(ctx context.Context, providers []*abi.Manifest) error {
	i := slices.IndexFunc(providers, func(m *abi.Manifest) bool { return m.Source == d.source })
	if i < 0 && d.source == demoSource {
		return fmt.Errorf("this program carries no plugin, and there are no sources to build one from: run it in a checkout of %s, or take a release", modulePath)
	}
	if i >= 0 {
		if err := d.checkRequired(providers[i]); err != nil {
			return cli.UsageError{Err: err}
		}
	}
	if err := host.CheckSettings(ctx, demoWorkspace, d.settings(demoIndex), providers); err != nil {
		return cli.UsageError{Err: fmt.Errorf("--source, --base-url and --api-key-file make no workspace: %w", err)}
	}
	return nil
}

// checkRequired names what the provider requires and the arguments lack.
func (d demo) checkRequired(m *abi.Manifest) error {
	offered := map[string]struct{ flag, given string }{"baseUrl": {"--base-url", d.baseURL}, "apiKey": {"--api-key-file", d.apiKey}}
	var missing, beyond []string
	for _, name := range slices.Sorted(maps.Keys(m.Settings)) {
		o, ok := offered[name]
		switch s := m.Settings[name]; {
		case !s.Required || o.given != "":
		case !ok:
			beyond = append(beyond, name)
		default:
			missing = append(missing, fmt.Sprintf("%s (%s)", o.flag, strings.TrimSuffix(s.Description, ".")))
		}
	}
	switch {
	case beyond != nil:
		return fmt.Errorf("--source %s needs %s, for which quickstart has no options: run `parley serve` and set them by PATCH /chats/{uid}/settings", d.source, strings.Join(beyond, ", "))
	case missing != nil:
		return fmt.Errorf("--source %s needs %s", d.source, strings.Join(missing, ", "))
	}
	return nil
}
