package node

import (
	"context"
	"errors"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/api/httpapi/pluginapi"
	"github.com/parley-search/parley/host/internal/base/contain"
	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/plugin/deploy"
	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/setup/masterkey"
	"github.com/parley-search/parley/host/internal/setup/metrics"
	"github.com/parley-search/parley/host/internal/task"
)

// alone is a host that takes all writes itself.
type alone struct {
	Options
	httpapi.Alone
	db     *store.Store
	sealer *store.Sealer
}

func openAlone(ctx context.Context, o Options) (*alone, error) {
	a := &alone{Options: o}
	var err error
	if a.db, err = store.Open(o.Config.DBPath); err != nil {
		return nil, err
	}
	o.OnClose("the database", a.db.Close)
	a.sealer, err = masterkey.OpenSealer(ctx, o.Config, a.db, o.Log)
	return a, err
}

func (a *alone) Database() (*store.Store, *store.Sealer) { return a.db, a.sealer }

func (a *alone) Notes() index.Notes { return nil }

func (a *alone) OpenTasks(ctx context.Context, p task.Processor, o task.Options) (*task.Queue, error) {
	return task.Open(ctx, a.db, p, o)
}

func (a *alone) OpenKeys(ctx context.Context, o auth.Options) (*auth.Service, error) {
	return auth.Open(ctx, a.db, o)
}

func (a *alone) Installer(r deploy.Remote) pluginapi.Installer { return r }

// Start applies tasks from now on.
func (a *alone) Start(p Parts) error {
	var err error
	stop := contain.Background(func(ctx context.Context) { err = p.Tasks.Run(ctx) }, a.failed)
	a.OnClose("the task under way", func() error { return errors.Join(stop(), err) })
	a.OnClose("the schedule of snapshots", a.scheduleSnapshots(p.Tasks))
	return nil
}

func (a *alone) Families() []metrics.Family { return nil }

func (a *alone) Resign(context.Context) {}
