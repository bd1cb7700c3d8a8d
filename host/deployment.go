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
type Deployment struct{ installer deploy.Installer }

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
	f, err := d.installer.Dir.Fetch(ctx, src)
	if err != nil {
		return nil, err
	}
	return d.installer.Install(ctx, f, o)
}

// Locate finds NAME[@CONSTRAINT] in the registry of the configuration.
func (d *Deployment) Locate(ctx context.Context, reference string) (string, error) {
	return d.installer.Dir.Locate(ctx, reference)
}

// HasRegistry reports whether the configuration says where names are looked up.
func (d *Deployment) HasRegistry() bool { return d.installer.Dir.Registry != "" }

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
	f, err := d.installer.Dir.Fetch(ctx, src)
	if err != nil {
		return nil, err
	}
	return d.installer.Dir.Publish(ctx, f, to, created)
}

// Save writes NAME[@VERSION] of the plugin directory, with its signature, to an
// OCI image layout in folder.
func (d *Deployment) Save(ctx context.Context, reference, folder string, created time.Time) (*PublishedPlugin, error) {
	return d.installer.Save(ctx, reference, folder, created)
}

// Sync brings the files of the plugin directory to what its lock says; see
// [deploy.Installer.Sync].
func (d *Deployment) Sync(ctx context.Context, shipped func(name, version string) ([]byte, error)) ([]PluginSynced, error) {
	return d.installer.Sync(ctx, shipped)
}

// Outdated looks for newer versions of the plugin name, or of all where that is
// empty.
func (d *Deployment) Outdated(ctx context.Context, name string) ([]PluginNewer, error) {
	return d.installer.Outdated(ctx, name)
}

// Update installs the version that n allows; its error may be as those of Install.
func (d *Deployment) Update(ctx context.Context, n PluginNewer, o InstallWishes) (*PluginChange, error) {
	f, err := d.installer.Dir.FetchUpdate(ctx, n)
	if err != nil {
		return nil, err
	}
	return d.installer.Install(ctx, f, o)
}

// Pin takes in use the newest version in the directory that NAME[@CONSTRAINT]
// allows; its error may be as those of Install.
func (d *Deployment) Pin(ctx context.Context, reference string, o InstallWishes) (*PluginChange, error) {
	return d.installer.Pin(ctx, reference, o)
}

// Sources lists which plugin answers each source.
func (d *Deployment) Sources() ([]PluginBinding, error) { return d.installer.Sources() }

// Bind makes the plugin name answer source; its error may be a [PluginWidened].
func (d *Deployment) Bind(ctx context.Context, source, name string, grant bool) (*PluginChange, error) {
	return d.installer.Bind(ctx, source, name, grant)
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
func (d *Deployment) List() ([]PluginItem, error) { return d.installer.Dir.List(d.installer.Embedded) }

// CheckLock says that there is no lock, which is no lock that pins nothing; nil: there is
// one.
func (d *Deployment) CheckLock() error {
	_, err := d.installer.Dir.ReadLockText()
	return err
}

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
