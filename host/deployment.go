package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/plugin/deploy"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
	"github.com/parley-search/parley/host/internal/setup/config"
)

// What the commands on a deployment's plugins answer.
type (
	PluginChange  = deploy.Change
	PluginDiff    = deploy.Diff
	PluginItem    = deploy.Item
	PluginGrants  = deploy.Grants
	PluginWidened = deploy.WidenedError
	PluginTaken   = deploy.TakenError
	PluginBinding = deploy.Binding
	InstallWishes = deploy.InstallOptions
	PluginNewer   = deploy.Newer
	PluginSynced  = deploy.Synced

	PublishedPlugin = deploy.Published
)

// PluginPinned is the state of a [PluginItem] that is as it should be, and
// PluginUnlisted that of a file that the lock does not name.
const (
	PluginPinned   = deploy.StatePinned
	PluginUnlisted = deploy.StateUnlisted
)

// The states of a [PluginSynced].
const (
	PluginSyncKept   = deploy.SyncKept
	PluginSyncFailed = deploy.SyncFailed
)

// A Deployment is the plugin directory of a configuration, for commands that
// change it. A host that runs on the directory need not be told: it looks.
// [deploy.Installer] has what is not here.
type Deployment struct{ deploy.Installer }

// OpenDeployment returns the deployment of c. Of o it heeds Embedded, what the
// binary carries, and Compiler, which compiles what is to be installed.
func OpenDeployment(c config.Config, o Options) *Deployment {
	try := func(ctx context.Context, module []byte) error { return tryPlugin(ctx, module, o.Compiler) }
	return &Deployment{deploy.Installer{Dir: pluginDir(c), Embedded: o.Embedded, Try: try}}
}

// tryPlugin makes sure that a host could run module, which compiler compiles.
func tryPlugin(ctx context.Context, module []byte, compiler []string) error {
	rt, err := wasm.Open(wasm.Options{Aside: compiler})
	if err != nil {
		return err
	}
	set := plugin.NewSet(rt, plugin.Options{})
	done, err := set.Apply(ctx, deploy.Trial(module))
	for _, r := range done.Refused {
		err = errors.Join(err, r.Err)
	}
	return errors.Join(err, set.Close(), rt.Close())
}

// Install gets FILE-or-URL[@sha256], oci://… or oci-layout://…, keeps it and pins it. Where it asks for
// more than what was accepted, the error is a [PluginWidened], and where another
// plugin answers its source, a [PluginTaken]; then nothing has changed.
func (d *Deployment) Install(ctx context.Context, source string, o InstallWishes) (*PluginChange, error) {
	src, err := deploy.ParseSource(source)
	if err != nil {
		return nil, err
	}
	f, err := d.Dir.Fetch(ctx, src)
	if err != nil {
		return nil, err
	}
	return d.Installer.Install(ctx, f, o)
}

// Locate finds NAME[@CONSTRAINT] in the registry of the configuration.
func (d *Deployment) Locate(ctx context.Context, reference string) (string, error) {
	return d.Dir.Locate(ctx, reference)
}

// HasRegistry reports whether the configuration says where names are looked up.
func (d *Deployment) HasRegistry() bool { return d.Dir.Registry != "" }

// IsPluginReference reports whether s may be NAME[@CONSTRAINT] of a plugin.
func IsPluginReference(s string) bool {
	_, _, _, err := deploy.SplitReference(s)
	return err == nil
}

// PluginMeets reports whether the version of the plugin name is what
// NAME[@CONSTRAINT] allows.
func PluginMeets(name, version, reference string) (bool, error) {
	return deploy.Meets(name, version, reference)
}

// Push publishes what source names, as Install takes it, to the registry or layout
// of the reference to. The manifest notes created as its time.
func (d *Deployment) Push(ctx context.Context, source, to string, created time.Time) (*PublishedPlugin, error) {
	src, err := deploy.ParseSource(source)
	if err != nil {
		return nil, err
	}
	f, err := d.Dir.Fetch(ctx, src)
	if err != nil {
		return nil, err
	}
	return d.Dir.Publish(ctx, f, to, created)
}

// Update installs the version that n allows; its error may be as those of Install.
func (d *Deployment) Update(ctx context.Context, n PluginNewer, o InstallWishes) (*PluginChange, error) {
	f, err := d.Dir.FetchUpdate(ctx, n)
	if err != nil {
		return nil, err
	}
	return d.Installer.Install(ctx, f, o)
}

// List checks all that is pinned, or lies there unpinned.
func (d *Deployment) List() ([]PluginItem, error) { return d.Dir.List(d.Embedded) }

// Diff compares two plugins, each a pinned one (NAME, for the version in use,
// or NAME@VERSION) or FILE-or-URL[@sha256].
func (d *Deployment) Diff(ctx context.Context, before, after string) (*PluginDiff, error) {
	var modules [2][]byte
	for n, ref := range []string{before, after} {
		var err error
		if modules[n], err = d.Find(ctx, ref); err != nil {
			return nil, fmt.Errorf("compare plugins: %w", err)
		}
	}
	return deploy.Compare(modules[0], modules[1])
}
