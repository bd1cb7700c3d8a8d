package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/parley-search/parley/host/internal/api/httpapi/pluginapi"
	"github.com/parley-search/parley/host/internal/plugin/deploy"
	"github.com/parley-search/parley/host/internal/setup/config"
)

// errKeepsOwn is why a node does not run what the cluster shares.
var errKeepsOwn = errors.New("the cluster shares its plugins, and this node runs those of its own directory: start it with --plugin-api and --plugin-lock=on")

// sharesPlugins reports whether c has clients change the plugins of a cluster.
func sharesPlugins(c *config.Config) bool {
	return c.Cluster.Name != "" && c.PluginAPI && c.PluginLock != config.LockOff
}

// takePlugins makes the plugin directory of this node what the cluster shares, where
// it shares some. It reports whether anything changed.
func (m *member) takePlugins(ctx context.Context) (changed bool, err error) {
	m.plugging.Lock()
	defer m.plugging.Unlock()
	return m.takeShared(ctx)
}

// takeShared is takePlugins for who holds plugging.
func (m *member) takeShared(ctx context.Context) (changed bool, err error) {
	c := &m.Config
	lock, err := m.db.SharedLock()
	switch {
	case err != nil || lock == nil:
	case !sharesPlugins(c):
		err = errKeepsOwn
	default:
		changed, err = m.PluginDir.Take(ctx, c.Cluster.Name, lock, m.db.SharedModule)
		if err != nil {
			err = fmt.Errorf("take over the cluster's plugins: %w", err)
		}
	}
	text := ""
	if err != nil && ctx.Err() == nil {
		text = err.Error()
	}
	m.unplugged.Store(&text)
	return changed, err
}

// plugAgain is how long a node waits that could not take over the shared plugins,
// as where its disk is full.
const plugAgain = time.Minute

// followPlugins has this node run what the cluster shares, until ctx ends.
func (m *member) followPlugins(ctx context.Context) {
	var again <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.plugs:
		case <-again:
		}
		again = nil
		changed, err := m.takePlugins(ctx)
		if err != nil && ctx.Err() == nil {
			m.Log.Error().Err(err).Msg("this node does not run the plugins of the cluster")
			again = time.After(plugAgain)
		}
		if changed {
			_ = m.parts.Reload(ctx) // which logs its error
		}
	}
}

// Installer implements [Node].
func (m *member) Installer(r deploy.Remote) pluginapi.Installer {
	r.Dir.Node = true
	return &sharedInstaller{r, m}
}

// A sharedInstaller changes the plugins of all nodes of a cluster, on the leader.
type sharedInstaller struct {
	deploy.Remote
	member *member
}

var _ pluginapi.Installer = (*sharedInstaller)(nil)

// Install implements [pluginapi.Installer].
func (s *sharedInstaller) Install(ctx context.Context, f *deploy.Fetched, o deploy.InstallOptions) (*deploy.Change, error) {
	return s.change(ctx, false, func() (*deploy.Change, error) { return s.Remote.Install(ctx, f, o) })
}

// Pin implements [pluginapi.Installer].
func (s *sharedInstaller) Pin(ctx context.Context, reference string, o deploy.InstallOptions) (*deploy.Change, error) {
	return s.change(ctx, false, func() (*deploy.Change, error) { return s.Remote.Pin(ctx, reference, o) })
}

// Rollback implements [pluginapi.Installer].
func (s *sharedInstaller) Rollback(ctx context.Context, name string) (*deploy.Change, error) {
	return s.change(ctx, false, func() (*deploy.Change, error) { return s.Remote.Rollback(ctx, name) })
}

// Remove implements [pluginapi.Installer].
func (s *sharedInstaller) Remove(ctx context.Context, reference string) (*deploy.Change, error) {
	return s.change(ctx, true, func() (*deploy.Change, error) { return s.Remote.Remove(ctx, reference) })
}

// change has do change the directory of this node, the leader, and shares what came
// of it. Where that fails the directory is again what the cluster shares; where it
// shares nothing yet, what it was before, and still this node's own. removes says
// that do removes modules.
func (s *sharedInstaller) change(ctx context.Context, removes bool, do func() (*deploy.Change, error)) (*deploy.Change, error) {
	m := s.member
	m.plugging.Lock()
	defer m.plugging.Unlock()
	if _, err := m.takeShared(ctx); err != nil {
		return nil, err
	}
	was, err := s.remember(removes)
	if err != nil {
		return nil, err
	}
	c, err := do()
	if err != nil {
		return nil, err
	}
	if err := m.share(s.Dir, s.Embedded); err != nil {
		return nil, errors.Join(err, s.undo(context.WithoutCancel(ctx), was))
	}
	_, err = m.takeShared(ctx) // marks the directory as the cluster's
	return c, err
}

// A remembered directory is what one has to be made again, of which the cluster
// shares nothing.
type remembered struct {
	lock    []byte
	modules map[string][2][]byte // and signatures, by hash; only where some are to be removed
}

var errForgotten = errors.New("its file is gone")

func (r *remembered) get(sha256 string) (module, signature []byte, err error) {
	b, ok := r.modules[sha256]
	if !ok {
		return nil, nil, errForgotten
	}
	return b[0], b[1], nil
}

// remember returns what the directory is, with its modules where some go and the log
// does not have them.
func (s *sharedInstaller) remember(removes bool) (r remembered, err error) {
	r.modules = map[string][2][]byte{}
	r.lock, err = s.Dir.Shared(s.Embedded, func(m deploy.SharedModule) error {
		if !removes {
			return nil
		}
		if has, err := s.member.db.HasModule(m.SHA256); has || err != nil {
			return err
		}
		module, signature, err := m.Read()
		r.modules[m.SHA256] = [2][]byte{module, signature}
		return err
	})
	return r, err
}

// undo makes the directory what it was before a change.
func (s *sharedInstaller) undo(ctx context.Context, was remembered) error {
	db := s.member.db
	lock, err := db.SharedLock()
	switch {
	case err != nil:
		return err
	case lock == nil:
		return s.Dir.Restore(ctx, was.lock, was.get)
	}
	_, err = s.Dir.Take(ctx, s.member.Config.Cluster.Name, lock, db.SharedModule)
	return err
}

// share puts the lock of d and the modules that it pins into the log.
func (m *member) share(d deploy.Dir, embedded [][]byte) error {
	db := m.db
	keep := map[string]bool{}
	lock, err := d.Shared(embedded, func(s deploy.SharedModule) error {
		keep[s.SHA256] = true
		if has, err := db.HasModule(s.SHA256); has || err != nil {
			return err
		}
		module, signature, err := s.Read()
		if err != nil {
			return err
		}
		return db.ShareModule(s.SHA256, module, signature)
	})
	if err != nil {
		return err
	}
	return db.ShareLock(lock, keep)
}
