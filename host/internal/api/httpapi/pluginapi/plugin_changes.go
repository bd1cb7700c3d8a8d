package pluginapi

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/cluster"
	"github.com/parley-search/parley/host/internal/plugin/deploy"
)

// A Installer changes which plugins the deployment runs.
type Installer interface {
	Get(ctx context.Context, source string) (*deploy.Fetched, error)
	Take(name string, module, signature []byte) (*deploy.Fetched, error)
	Install(ctx context.Context, f *deploy.Fetched, o deploy.InstallOptions) (*deploy.Change, error)
	Pin(ctx context.Context, reference string, o deploy.InstallOptions) (*deploy.Change, error)
	Rollback(ctx context.Context, name string) (*deploy.Change, error)
	Remove(ctx context.Context, reference string) (*deploy.Change, error)
	Preview(ctx context.Context, before, after string) (*deploy.Preview, error)
	PreviewFetched(f *deploy.Fetched) (*deploy.Preview, error)
}

// pluginInstall is the body of POST /plugins/install.
type pluginInstall struct {
	Source     string `json:"source"`
	SHA256     string `json:"sha256"` // of the module; empty: any
	Grant      bool   `json:"grant"`
	TakeSource bool   `json:"takeSource"`
	Beside     bool   `json:"beside"`
}

// pluginPin is the body of POST /plugins/pin.
type pluginPin struct {
	Plugin     string `json:"plugin"` // NAME[@CONSTRAINT]
	Grant      bool   `json:"grant"`
	TakeSource bool   `json:"takeSource"`
}

// pluginRollback is the body of POST /plugins/rollback.
type pluginRollback struct {
	Name string `json:"name"`
}

// pluginRemove is the body of POST /plugins/remove.
type pluginRemove struct {
	Plugin string `json:"plugin"` // NAME[@VERSION]
}

// pluginCompare is the body of POST /plugins/diff.
type pluginCompare struct {
	Old string `json:"old"` // empty: what New would take the place of
	New string `json:"new"`
}

// A Changed is what became of a change.
type Changed struct {
	Change   *deploy.Change `json:"change"`
	Reloaded Reloaded       `json:"reloaded"`
}

// installer is what changes plugins, where the operator lets clients do so.
func (s *Server) installer() (Installer, error) {
	if s.Installer == nil {
		return nil, apierr.Newf(apierr.PluginAPIDisabled, "This host changes no plugins by HTTP. Start it with `--plugin-api` and `--plugin-lock=on`, or use `parley plugin` on its machine.")
	}
	return s.Installer, nil
}

// changePlugins reads a body into b, has change do what that says, and makes the host
// run what came of it.
func changePlugins[T any](s *Server, r *request.Call, b *T, change func(context.Context, Installer) (*deploy.Change, error)) error {
	if err := r.Decode(b, nil); err != nil {
		return err
	}
	in, err := s.installer()
	if err != nil {
		return err
	}
	c, err := change(r.Base, in)
	return s.run(r, c, err)
}

// run makes the host run what came of the change c, which err may have prevented.
func (s *Server) run(r *request.Call, c *deploy.Change, err error) error {
	if err != nil {
		return notChanged(err)
	}
	c.File = "" // where it lies on the machine is nobody's business here
	done := Changed{c, Reloaded{[]Version{}, []Version{}, []Refused{}, 0}}
	if s.Reload != nil {
		if done.Reloaded, err = s.Reload(r.Base); err != nil {
			return &apierr.Error{Code: apierr.PluginsNotReloaded, Message: "The change is made, and the host does not run it: " + err.Error() + ".", Err: err}
		}
	}
	return r.OK(done)
}

// notChanged tells why nothing has changed: err says what is wrong in words for
// the command line, which also reaches files that clients must not.
func notChanged(err error) error {
	if widened, ok := errors.AsType[*deploy.WidenedError](err); ok {
		c := widened.Change
		return apierr.Newf(apierr.PluginNotAccepted, "Plugin %s %s asks for more than %s: %s. Nothing was changed. `POST /plugins/diff` shows all that differs; `\"grant\": true` accepts it.", c.Name, c.Version, widened.Than, c.Widened)
	}
	if taken, ok := errors.AsType[*deploy.TakenError](err); ok {
		c := taken.Change
		return apierr.Newf(apierr.PluginNotAccepted, "Plugin %s %s is for the source `%s`, which plugin %s answers. Nothing was changed. `\"takeSource\": true` gives it the requests and keys of that source, with %s more to reach; `\"beside\": true` installs it for workspaces that name it.",
			c.Name, c.Version, c.Source, c.Owner, c.Widened)
	}
	// Of the log: nothing was changed on any node, or nobody knows.
	for _, e := range []error{cluster.ErrUnknown, cluster.ErrNotLeader, cluster.ErrLost} {
		if errors.Is(err, e) {
			return err
		}
	}
	if full, ok := errors.AsType[*apierr.Error](err); ok { // of the disk
		return full
	}
	if errors.Is(err, context.Canceled) {
		return apierr.Newf(apierr.ShuttingDown, "The host is shutting down, and no plugin was changed. Try again.")
	}
	return &apierr.Error{Code: apierr.PluginNotChanged, Message: fmt.Sprintf("No plugin was changed: %s.", err), Err: err}
}

var formModuleHash = regexp.MustCompile(`^([0-9a-f]{64})?$`)

// checkHash checks what a client expects of a module; it may expect nothing.
func checkHash(sha256 string) error {
	if !formModuleHash.MatchString(sha256) {
		return errors.New("`sha256` must be 64 hexadecimal digits in lower case")
	}
	return nil
}

// expect refuses f where it is not what the client looked at.
func expect(f *deploy.Fetched, sha256 string) error {
	if found := f.SHA256(); sha256 != "" && found != sha256 {
		return fmt.Errorf("%s has sha256 %s, and %s was expected: it is no longer what was looked at", f.Place, found, sha256)
	}
	return nil
}

// InstallPlugin answers POST /plugins/install.
func (s *Server) InstallPlugin(r *request.Call) error {
	var b pluginInstall
	return changePlugins(s, r, &b, func(ctx context.Context, in Installer) (*deploy.Change, error) {
		if b.Source == "" {
			return nil, errors.New("`source` is missing: a URL, oci://…, or the name of a plugin in the registry of --plugin-registry")
		}
		if err := checkHash(b.SHA256); err != nil {
			return nil, err
		}
		f, err := in.Get(ctx, b.Source)
		if err != nil {
			return nil, err
		}
		if err := expect(f, b.SHA256); err != nil {
			return nil, err
		}
		o := deploy.InstallOptions{Grant: b.Grant, TakeSource: b.TakeSource, Beside: b.Beside}
		if _, _, _, err := deploy.SplitReference(b.Source); err == nil { // a name, as Get takes it
			o.Reference = b.Source
		}
		return in.Install(ctx, f, o)
	})
}

// PinPlugin answers POST /plugins/pin.
func (s *Server) PinPlugin(r *request.Call) error {
	var b pluginPin
	return changePlugins(s, r, &b, func(ctx context.Context, in Installer) (*deploy.Change, error) {
		return in.Pin(ctx, b.Plugin, deploy.InstallOptions{Grant: b.Grant, TakeSource: b.TakeSource})
	})
}

// RollbackPlugin answers POST /plugins/rollback.
func (s *Server) RollbackPlugin(r *request.Call) error {
	var b pluginRollback
	return changePlugins(s, r, &b, func(ctx context.Context, in Installer) (*deploy.Change, error) {
		return in.Rollback(ctx, b.Name)
	})
}

// RemovePlugin answers POST /plugins/remove.
func (s *Server) RemovePlugin(r *request.Call) error {
	var b pluginRemove
	return changePlugins(s, r, &b, func(ctx context.Context, in Installer) (*deploy.Change, error) {
		return in.Remove(ctx, b.Plugin)
	})
}

// ComparePlugins answers POST /plugins/diff. It changes nothing, but downloads what
// is named.
func (s *Server) ComparePlugins(r *request.Call) error {
	var b pluginCompare
	if err := r.Decode(&b, nil); err != nil {
		return err
	}
	in, err := s.installer()
	if err != nil {
		return err
	}
	p, err := in.Preview(r.Base, b.Old, b.New)
	if err != nil {
		return notChanged(err)
	}
	return r.OK(p)
}
