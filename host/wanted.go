package host

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/parley-search/parley/host/internal/plugin"
)

// embedded says of a plugin that the binary carries where it came from.
const embedded = "embedded"

// wantedPlugins says what is to run: what the binary carries and, unpinned,
// what the plugin directory holds.
func (h *Host) wantedPlugins() (wanted []plugin.Wanted, refused []plugin.Refused, err error) {
	var files []string
	if h.config.PluginLock == LockOff {
		entries, err := os.ReadDir(h.config.PluginDir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, fmt.Errorf("load plugins: %w", err)
		}
		for _, e := range entries {
			if !e.IsDir() && filepath.Ext(e.Name()) == ".wasm" {
				files = append(files, filepath.Join(h.config.PluginDir, e.Name()))
			}
		}
	} else if err := h.warnUnpinned(h.config.PluginDir); err != nil {
		return nil, nil, err
	}
	add := func(module []byte, from string) error {
		m, err := plugin.ReadManifest(module)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(module)
		wanted = append(wanted, plugin.Wanted{
			Name: m.Name, Version: m.Version, SHA256: hex.EncodeToString(sum[:]), From: from,
			Read: func() ([]byte, error) { return module, nil },
		})
		return nil
	}
	for i, module := range h.modules {
		if err := add(module, embedded); err != nil {
			return nil, nil, fmt.Errorf("load embedded plugin %d: %w", i, err)
		}
	}
	for _, file := range files {
		module, err := plugin.ReadFile(file)
		if err == nil {
			err = add(module, file)
		}
		if err != nil {
			refused = append(refused, plugin.Refused{From: file, Err: err})
		}
	}
	slices.SortStableFunc(wanted, func(a, b plugin.Wanted) int { return plugin.Newer(a.Version, b.Version) })
	seen := map[string]bool{}
	for i := range wanted {
		wanted[i].Use = !seen[wanted[i].Name]
		seen[wanted[i].Name] = true
	}
	return wanted, refused, nil
}

// warnUnpinned says which files of dir were not loaded: none is pinned.
func (h *Host) warnUnpinned(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.wasm"))
	if err != nil {
		return fmt.Errorf("list plugins in %s: %w", dir, err)
	}
	if len(files) > 0 {
		h.log.Warn().Strs("files", files).Msg("plugins left out: the plugin lock is on; start with --plugin-lock=off to run whatever the directory holds")
	}
	return nil
}
