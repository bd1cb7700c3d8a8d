package cli

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/setup/config"
)

// check refuses arguments that make no workspace of which the printed command
// could ask something, where there are these providers.
func (d demo) check(ctx context.Context, providers []*abi.Manifest) error {
	i := slices.IndexFunc(providers, func(m *abi.Manifest) bool { return m.Source == d.source })
	if i >= 0 {
		if err := d.checkRequired(providers[i]); err != nil {
			return cmdutil.UsageError{Err: err}
		}
	}
	if err := checkSettings(ctx, demoWorkspace, d.settings(demoIndex), providers); err != nil {
		return cmdutil.UsageError{Err: fmt.Errorf("--source, --base-url and --api-key-file make no workspace: %w", err)}
	}
	return nil
}

// checkAlone refuses to run beside another quickstart that has the same data, and says
// where that one is and what it can be asked to do instead.
func (d demo) checkAlone(ctx context.Context, c config.Config) error {
	pid, url := cmdutil.RunningIn(ctx, c.DBPath)
	if url == "" {
		return nil
	}
	first := fmt.Sprintf("process %s serves the data of quickstart already, at %s: end it by Ctrl-C there", pid, url)
	var settings struct{ IndexUIDs []string }
	running := &cmdutil.Client{URL: url, Key: c.MasterKey.Reveal()}
	if err := running.Call(ctx, http.MethodGet, "/chats/"+demoWorkspace+"/settings", nil, &settings); err == nil && len(settings.IndexUIDs) == 1 && settings.IndexUIDs[0] != demoIndex {
		path := d.path
		if path == "" {
			path = "PATH"
		}
		return fmt.Errorf("%s, or add files to it: parley documents import %s --index %s --url %s", first, path, settings.IndexUIDs[0], url)
	}
	return fmt.Errorf("%s, or give this one another --db-path and --http-addr", first)
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
