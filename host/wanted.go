package host

import (
	"github.com/parley-search/parley/host/internal/config"
	"github.com/parley-search/parley/host/internal/deploy"
	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/upstream"
)

// pluginDir is the plugin directory of c.
func pluginDir(c config.Config) deploy.Dir {
	return deploy.Dir{
		Path: c.PluginDir, PublicKey: c.PluginPublicKey,
		Transport: upstream.NewTransport(upstream.Options{Private: c.PrivateNetworks}),
	}
}

// planPlugins says what is to run: what the lock pins or, without a lock,
// what the plugin directory holds; and what the binary carries of other names.
// An error says that nobody can tell what is to run.
func planPlugins(c config.Config, embedded [][]byte) (plugin.Plan, error) {
	if c.PluginLock == config.LockOff {
		return pluginDir(c).Unlocked(embedded)
	}
	return pluginDir(c).Locked(embedded)
}
