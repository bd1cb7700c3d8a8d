package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/parley-search/parley/host/internal/deploy"
	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/wasm"
)

// What the commands on a deployment's plugins answer.
type (
	PluginChange  = deploy.Change
	PluginDiff    = deploy.Diff
	PluginItem    = deploy.Item
	PluginGrants  = deploy.Grants
	PluginWidened = deploy.WidenedError
	InstallWishes = deploy.InstallOptions
)

// PluginPinned is the state of a [PluginItem] that is as it should be, and
// PluginUnlisted that of a file that the lock does not name.
const (
	PluginPinned   = deploy.StatePinned
	PluginUnlisted = deploy.StateUnlisted
)

// A Deployment is the plugin directory of a configuration, for commands that
// change it. A host that runs on the directory need not be told: it looks.
type Deployment struct{ installer deploy.Installer }

// OpenDeployment returns the deployment of c; embedded is what the binary
// carries.
func OpenDeployment(c Config, embedded [][]byte) *Deployment {
	return &Deployment{deploy.Installer{Dir: pluginDir(c), Embedded: embedded, Try: tryPlugin}}
}

// tryPlugin makes sure that a host could run module.
func tryPlugin(ctx context.Context, module []byte) error {
	rt, err := wasm.Open(wasm.Options{})
	if err != nil {
		return err
	}
	set := plugin.NewSet(rt, plugin.Options{})
	done, err := set.Apply(ctx, deploy.Trial(module), nil)
	for _, r := range done.Refused {
		err = errors.Join(err, r.Err)
	}
	return errors.Join(err, set.Close(), rt.Close())
}

// Install gets FILE-or-URL[@sha256], keeps it and pins it. Where it asks for
// more than what was accepted, the error is a [PluginWidened] and nothing has
// changed.
func (d *Deployment) Install(ctx context.Context, source string, o InstallWishes) (*PluginChange, error) {
	src, err := deploy.ParseSource(source)
	if err != nil {
		return nil, err
	}
	module, signature, err := d.installer.Dir.Fetch(ctx, src)
	if err != nil {
		return nil, err
	}
	return d.installer.Install(ctx, module, signature, src.String(), o)
}

// Pin takes in use the newest version in the directory that NAME[@CONSTRAINT]
// allows; its error may be a [PluginWidened], as that of Install.
func (d *Deployment) Pin(ctx context.Context, reference string, grant bool) (*PluginChange, error) {
	return d.installer.Pin(ctx, reference, grant)
}

// Rollback takes the version before in use again.
func (d *Deployment) Rollback(ctx context.Context, name string) (*PluginChange, error) {
	return d.installer.Rollback(ctx, name)
}

// Remove takes NAME, or NAME@VERSION, out of lock and directory.
func (d *Deployment) Remove(ctx context.Context, reference string) (*PluginChange, error) {
	return d.installer.Remove(ctx, reference)
}

// List checks all that is pinned, or lies there unpinned.
func (d *Deployment) List() ([]PluginItem, error) { return d.installer.Dir.List() }

// Diff compares two plugins, each a pinned one (NAME, for the version in use,
// or NAME@VERSION) or FILE-or-URL[@sha256].
func (d *Deployment) Diff(ctx context.Context, before, after string) (*PluginDiff, error) {
	var modules [2][]byte
	for n, ref := range []string{before, after} {
		var err error
		if modules[n], err = d.installer.Find(ctx, ref); err != nil {
			return nil, fmt.Errorf("compare plugins: %w", err)
		}
	}
	return deploy.Compare(modules[0], modules[1])
}
