package host

import (
	"github.com/parley-search/parley/host/internal/deploy"
	"github.com/parley-search/parley/host/internal/plugin"
)

// pluginDir is the plugin directory of c.
func pluginDir(c Config) deploy.Dir {
	return deploy.Dir{Path: c.PluginDir, PublicKey: c.PluginPublicKey}
}

// wantedPlugins says what is to run: what the lock pins or, without a lock,
// what the plugin directory holds; and what the binary carries of other names.
// An error says that nobody can tell what is to run.
func wantedPlugins(c Config, embedded [][]byte) (wanted []plugin.Wanted, refused []plugin.Refused, err error) {
	if c.PluginLock == LockOff {
		return pluginDir(c).Unlocked(embedded)
	}
	return pluginDir(c).Locked(embedded)
}
